#include "endpoint/tls_files.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdbool.h>

static FILE *open_file(const char *path, struct ipf_error *err)
{
	FILE *file = fopen(path, "re");
	if (!file)
		ipf_error_errno(err, errno, path, "cannot open");
	return file;
}

/* The first certificate of the file. */
static int read_certificate(const char *path, const char *option, X509 **certificate, struct ipf_error *err)
{
	FILE *file = open_file(path, err);
	if (!file)
		return -1;
	*certificate = PEM_read_X509_AUX(file, NULL, NULL, NULL);
	fclose(file);
	ERR_clear_error();
	return *certificate ? 0
	                    : ipf_error_at(err, IPF_USAGE, path, 0, "%s: the file contains no certificate (PEM)", option);
}

/* Without this callback OpenSSL would ask for the pass phrase on the terminal. */
static int refuse_pass_phrase(char *buffer, int size, int writing, void *asked)
{
	(void)buffer, (void)size, (void)writing;
	*(bool *)asked = true;
	return -1;
}

static int check_key(const char *path, const X509 *certificate, struct ipf_error *err)
{
	bool asked = false;
	FILE *file = open_file(path, err);
	if (!file)
		return -1;
	EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, refuse_pass_phrase, &asked);
	fclose(file);
	int result = 0;
	if (!key)
		result = ipf_error_at(err, IPF_USAGE, path, 0,
		                      asked ? "--key: the key has a pass phrase, which is not supported"
		                            : "--key: the file contains no private key (PEM)");
	else if (X509_check_private_key(certificate, key) != 1)
		result = ipf_error_at(err, IPF_USAGE, path, 0, "--key: the key does not belong to the certificate of --cert");
	ERR_clear_error();
	EVP_PKEY_free(key);
	return result;
}

int tls_files_check(const char *cacert, const char *cert, const char *key, struct ipf_error *err)
{
	X509 *trusted = NULL, *own = NULL;
	int result = 0;
	if (key && !cert)
		result = ipf_error_set(err, IPF_USAGE, "--key requires --cert");
	if (result == 0 && cacert)
		result = read_certificate(cacert, "--cacert", &trusted, err);
	if (result == 0 && cert)
		result = read_certificate(cert, "--cert", &own, err);
	if (result == 0 && cert)
		result = check_key(key ? key : cert, own, err);
	X509_free(trusted);
	X509_free(own);
	return result;
}

#include "http/tls_files.h"

#include "whole_file.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdbool.h>

#define FILE_MOST ((size_t)16 << 20)

/* OpenSSL itself reads without an end; NULL: err is set. */
static BIO *read_pem(const char *path, const char *expected, struct buffer *text, struct ipf_error *err)
{
	BIO *pem = NULL;
	if (whole_file_read(path, (struct whole_file){expected, FILE_MOST}, text, err) == 0 &&
	    !(pem = BIO_new_mem_buf(text->len ? text->data : "", (int)text->len)))
		ipf_error_memory(err);
	return pem;
}

/* The first certificate of the file. */
static int read_certificate(const char *path, const char *option, X509 **certificate, struct ipf_error *err)
{
	struct buffer text = {0};
	BIO *pem = read_pem(path, "certificates", &text, err);
	*certificate = pem ? PEM_read_bio_X509_AUX(pem, NULL, NULL, NULL) : NULL;
	BIO_free(pem);
	buffer_release(&text);
	ERR_clear_error();
	if (*certificate || !pem)
		return pem ? 0 : -1;
	return ipf_error_at(err, IPF_USAGE, path, 0, "%s: the file contains no certificate (PEM)", option);
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
	struct buffer text = {0};
	BIO *pem = read_pem(path, "a private key", &text, err);
	EVP_PKEY *key = pem ? PEM_read_bio_PrivateKey(pem, NULL, refuse_pass_phrase, &asked) : NULL;
	BIO_free(pem);
	buffer_release(&text);
	int result = 0;
	if (!pem)
		result = -1;
	else if (!key)
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

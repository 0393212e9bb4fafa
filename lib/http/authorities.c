#include "http/authorities.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const places[] = {
	"/etc/ssl/certs/ca-certificates.crt",                /* Debian, Arch, Alpine */
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, Red Hat */
	"/etc/pki/tls/certs/ca-bundle.crt",                  /* older ones, Amazon */
	"/var/lib/ca-certificates/ca-bundle.pem",            /* openSUSE */
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem", /* Alpine without ca-certificates */
};

const char *authorities_file(void)
{
	const char *file = getenv("SSL_CERT_FILE");
	if (file && *file)
		return file;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (access(places[i], R_OK) == 0)
			return places[i];
	return NULL;
}

void authorities_apply(CURL *easy, const char *cacert)
{
	const char *file = cacert ? cacert : authorities_file();
	if (!file)
		return;
	curl_easy_setopt(easy, CURLOPT_CAINFO, file);
	curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, file);
}

/* The certificate authorities that this system trusts. OpenSSL and libcurl look where the system they were built on
 * keeps them; a bundle of ipf runs on others. */
#ifndef IPF_AUTHORITIES_H
#define IPF_AUTHORITIES_H

#include <curl/curl.h>

/* The file SSL_CERT_FILE names, or else the first place of Debian, Fedora, openSUSE and Alpine with a file; NULL: there
 * is none. Not to be freed. */
const char *authorities_file(void);

/* Trust these: the certificates of the file CACERT, or NULL: those of the system. */
void authorities_apply(CURL *easy, const char *cacert);

#endif

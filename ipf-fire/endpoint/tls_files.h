/* The files that TLS needs, looked at before the run: libcurl opens them at each connection, and a name that was
 * mistyped would make every request of an hour fail.
 */
#ifndef IPF_TLS_FILES_H
#define IPF_TLS_FILES_H

#include "error.h"

/* Are there certificates to trust in `cacert`, a certificate of our own in `cert`, and the key to it in `key`, or in
 * `cert` where that is NULL? Each may be NULL. -1: IPF_SYSTEM where one cannot be opened, else IPF_USAGE. */
int tls_files_check(const char *cacert, const char *cert, const char *key, struct ipf_error *err);

#endif

/* Checks the TLS files before the run: an error is one line, and nothing is sent.
 */
#ifndef IPF_TLS_FILES_H
#define IPF_TLS_FILES_H

#include "error.h"

/* Checks that `cacert` contains certificates to trust, `cert` a client certificate, and `key` its private key; without
 * `key` the private key is in `cert`. Each may be NULL. -1: IPF_SYSTEM if a file cannot be read, IPF_INPUT if it has
 * more than 16 MiB, else IPF_USAGE. */
int tls_files_check(const char *cacert, const char *cert, const char *key, struct ipf_error *err);

#endif

/* Files holding a secret, such as an API key (--key-file).
 *
 *     char key[8192];
 *     size_t len;
 *     if (key_file_read(path, key, sizeof key, &len, &err) < 0) …
 *     explicit_bzero(key, sizeof key);
 */
#ifndef IPF_KEY_FILE_H
#define IPF_KEY_FILE_H

#include "error.h"

#include <stddef.h>

/* Reads the first size - 1 bytes of the file, and ends them with a NUL; *len is their number. The caller decides
 * whether a line is a key. -1: IPF_SYSTEM, it cannot be opened or read. */
int key_file_read(const char *path, char *key, size_t size, size_t *len, struct ipf_error *err);

#endif

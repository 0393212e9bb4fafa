/* Numbers sorted in a temporary file without a name, for name_set.c.
 *
 *     struct name_file *file = NULL;
 *     name_file_merge(&file, numbers, count, &err);      // ascending, none of them in the file
 *     if (name_file_has(file, number, &err) > 0) …
 *     name_file_free(file);
 */
#ifndef IPF_NAME_FILE_H
#define IPF_NAME_FILE_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>

struct name_file;

/* Replaces *file, which may be NULL, by one that has these numbers, too. On an error it stays as it was. */
int name_file_merge(struct name_file **file, const uint64_t *numbers, size_t count, struct ipf_error *err);
/* 1, 0, or -1. Takes one read. */
int name_file_has(const struct name_file *file, uint64_t number, struct ipf_error *err);
void name_file_free(struct name_file *file); /* NULL is fine */

#endif

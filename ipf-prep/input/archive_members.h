/* Files in archives (tar in any compression, zip, 7z): "corpus.tar.gz:dir/file.json". Read one after another, in the
 * archive's order, an archive is gone through once.
 */
#ifndef PREP_MEMBERS_H
#define PREP_MEMBERS_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much of the path is an archive's, where it names a file in one; 0 where it does not. */
size_t archive_member_split(const char *path);
/* Does the name look like that of an archive? */
bool is_archive(const char *path);
/* Calls found(data, "ARCHIVE:NAME") for each regular file in the archive. 0; -1 also where found() answers -1. */
int archive_members_list(const char *archive, int (*found)(void *data, const char *path, struct ipf_error *err),
                         void *data, struct ipf_error *err);

struct archive_members;

/* Goes to a file. *members may be NULL, or be what was opened before: where it is the same archive, it is gone on with.
 */
int archive_members_open(struct archive_members **members, const char *path, struct ipf_error *err);
/* Its bytes: how many, 0 at the end, -1. */
int64_t archive_members_read(struct archive_members *members, char *to, size_t cap, struct ipf_error *err);
void archive_members_close(struct archive_members *members); /* NULL is fine */

#endif

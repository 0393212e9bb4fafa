/* Files in archives (tar in any compression, zip, 7z), named as ARCHIVE:NAME: "corpus.tar.gz:dir/file.json". Files
 * opened in the archive's order are read in a single pass over it.
 */
#ifndef PREP_ARCHIVE_MEMBERS_H
#define PREP_ARCHIVE_MEMBERS_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of ARCHIVE in a path ARCHIVE:NAME; 0 if the path is not of this form, or names an existing file. */
size_t archive_member_split(const char *path);
/* Does the name end as an archive's? */
bool is_archive(const char *path);
/* Calls found(data, "ARCHIVE:NAME") for each regular file in the archive. 0, or -1, also if found() returns -1. */
int archive_members_list(const char *archive, int (*found)(void *data, const char *path, struct ipf_error *err),
                         void *data, struct ipf_error *err);

struct archive_members;

/* Goes to the file ARCHIVE:NAME. *members may be NULL or be open already; if it is open on the same archive, the search
 * continues from there. 0 or -1. */
int archive_members_open(struct archive_members **members, const char *path, struct ipf_error *err);
/* Reads bytes of the file: how many, 0 at its end, -1. */
int64_t archive_members_read(struct archive_members *members, char *to, size_t cap, struct ipf_error *err);
void archive_members_close(struct archive_members *members); /* NULL is fine */

#endif

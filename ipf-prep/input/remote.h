/* Files at addresses: https://…, and hf://datasets/OWNER/NAME[@REVISION]/PATH of the Hugging Face hub (hub/hub_file.h),
 * which are kept in the hub's cache. Others are downloaded to $XDG_CACHE_HOME/ipf/sources (default
 * ~/.cache/ipf/sources), and again only if they have changed:
 *
 *     KEY/NAME        the file; KEY is a hash of its address, NAME its name there
 *     KEY/.mark       its ETag
 *     KEY/.part       an incomplete download
 *     KEY/.part-mark  its ETag; the download is resumed if the server's file still has it
 *     KEY/.lock       locked by the process that downloads
 */
#ifndef PREP_REMOTE_H
#define PREP_REMOTE_H

#include "error.h"
#include "cli/progress.h"

#include <stdbool.h>
#include <stddef.h>

/* Does the path begin with https://, http:// or hf://? */
bool is_remote(const char *path);
/* The length of the address in ADDRESS:NAME, NAME being a file in an archive; the whole length if there is no :NAME. */
size_t remote_length(const char *path);
/* Downloads the file at the first `len` characters of `address`, if needed. *path is its path on this machine: free()
 * it. `quiet`: no warning if the cached file is used because the server cannot be reached. 0, or -1: IPF_USAGE if the
 * address is malformed, IPF_SYSTEM if the file is not available. */
int remote_fetch(const char *address, size_t len, struct progress *progress, bool quiet, char **path,
                 struct ipf_error *err);
/* The address, without its query, of a file fetched by this process, or of a file in such an archive; else NULL. */
const char *remote_origin(const char *path);
/* Prints a line on standard error, after the program's name. */
void remote_say(const char *line);
/* Forgets the fetched files. */
void remote_release(void);

#endif

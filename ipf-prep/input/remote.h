/* Files of other machines: https://…, and hf://datasets/OWNER/NAME[@REVISION]/PATH of the Hugging Face hub. Each is
 * kept under $XDG_CACHE_HOME/ipf/sources (else ~/.cache), and asked for again only where it has changed:
 *
 *     KEY/NAME      the file; KEY stands for its address, NAME is what it is called there
 *     KEY/.mark     its ETag
 *     KEY/.part     what has come of it so far, and .part-mark its ETag: gone on with where that still holds
 *     KEY/.lock     held by who loads it
 *
 * HF_ENDPOINT is the hub's address, HF_TOKEN a token for it, which goes to that host and to no other.
 */
#ifndef PREP_REMOTE_H
#define PREP_REMOTE_H

#include "error.h"
#include "cli/progress.h"

#include <stdbool.h>
#include <stddef.h>

/* Does it begin like an address? */
bool is_remote(const char *path);
/* How much of it is the address, where ":NAME" of a file in an archive may follow. */
size_t remote_length(const char *path);
/* The file's place on this machine, which it has been brought to: for the caller to free. `quiet`: no word where the
 * one that is kept is taken for want of a connection. IPF_USAGE: no proper address; IPF_SYSTEM: it cannot be had. */
int remote_fetch(const char *address, size_t len, struct progress *progress, bool quiet, char **path,
                 struct ipf_error *err);
/* The address, without what follows "?", of a file (or of one in an archive) that this process has
 * brought here; NULL. */
const char *remote_origin(const char *path);
void remote_release(void);

#endif

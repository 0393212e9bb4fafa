/* Compiled tokenizers on disk, in $XDG_CACHE_HOME/ipf (if not set, in ~/.cache/ipf).
 *
 *     SHA256.tok    the block of the file with that digest, mapped read-only; for rank files SHA256.cl100k.tok and the
 *                   like
 *     KEY.ref       the digest of the file with this device, inode, size and times (KEY is their digest), and the
 * digest of both, so an unchanged file is not read again
 *
 * Both appear by rename, complete or not at all. A block that cannot be used (of another version or machine, damaged,
 * with contents that are not consistent, not a regular file of ours) is compiled again. A folder to which others may
 * write is not used. It is not an error if the cache cannot be written. A file changing in the last seconds gets no
 * .ref: it could change again without a change of its times.
 */
#ifndef IPF_TOKENIZER_COMPILED_CACHE_H
#define IPF_TOKENIZER_COMPILED_CACHE_H

#include "tokenizer/compiled_block.h"

/* Opens the compiled form of a tokenizer.json or a rank file; compiles it if it is not in the cache, or if it has to be
 * written `anew`. */
int compiled_cache_open(struct compiled_block *out, const char *path, bool anew, struct ipf_error *err);
/* True if there is an unused cache, because others may write to it or it is not ours; sets its path. */
bool compiled_cache_refused(char *path, size_t size);

#endif

/* The BPE model: byte-level BPE, and BPE with byte fallback. Each file calls only those below it:
 *
 *     bpe.c          the model: settings, and which way a word takes
 *     bpe_long.c     long words, in windows
 *     bpe_merge.c, bpe_merge_heap.c    merging
 *     bpe_symbols.c  a word's symbols before merging
 *     bpe_tables.c   tables and look-ups
 */
#ifndef IPF_TOKENIZER_BPE_H
#define IPF_TOKENIZER_BPE_H

#include "tokenizer/model.h"

/* `config` is "model" of the configuration. The block and the vocabulary have to outlive the model. */
int bpe_new(struct model **model, const json_t *config, const struct compiled_block *block,
            const struct vocabulary *vocabulary, struct ipf_error *err);
/* Which characters are next to each other in a token (`neighbours` in bpe_tables.h): a word may be cut between two that
 * never are. NULL: it must not be cut. */
const uint64_t *bpe_neighbours(const struct model *model);
/* Fills SECTION_WHOLE of a block just built. */
int bpe_mark_whole(struct compiled_block *block, struct ipf_error *err);

#endif

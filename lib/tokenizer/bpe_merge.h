/* Merges symbols: the pair with the lowest rank first, of equals the leftmost, as the reference does.
 *
 * bpe_merge.c looks at all pairs for each merge, which is the fastest for few symbols; bpe_merge_heap.c uses a heap and
 * merges n symbols in n log n.
 */
#ifndef IPF_TOKENIZER_BPE_MERGE_H
#define IPF_TOKENIZER_BPE_MERGE_H

#include "tokenizer/bpe_symbols.h"

#define BPE_SHORT 96 /* symbols that all functions but bpe_merge_heap can take */

/* Merges ids in place. Returns how many are left. */
size_t bpe_merge(const struct bpe *b, uint32_t *ids, size_t count);
/* Encodes the bytes of a plain word into `ids`, which has room for `len`. Returns how many there are. */
size_t bpe_merge_bytes(const struct bpe *b, const char *word, size_t len, uint32_t *ids);
/* Merges a span, plain or with its symbols. */
void bpe_merge_span(const struct bpe *b, struct bpe_span *s);
/* Merges up to BPE_SIDE_BY_SIDE spans side by side, which is faster than one after the other. */
#define BPE_SIDE_BY_SIDE 6
void bpe_merge_spans(const struct bpe *b, struct bpe_span *const spans[], size_t count);
/* Merges any number of symbols in place. Returns how many are left; SIZE_MAX: out of memory. */
size_t bpe_merge_heap(const struct bpe *b, uint32_t *ids, uint32_t *starts, size_t count);

#endif

/* Scores of a Unigram vocabulary, as the reference reads them. Its JSON reader (serde_json) rounds twice, so that every
 * fifth score of 17 digits differs from the nearest double by the last bit; and where two ways to cut a word are
 * equally good, that bit decides.
 */
#ifndef IPF_TOKENIZER_UNIGRAM_SCORE_H
#define IPF_TOKENIZER_UNIGRAM_SCORE_H

#include "buffer.h"

#include <stdbool.h>

/* A number in JSON; false where it is too large for a double. */
bool unigram_score_read(struct slice number, double *score);

#endif

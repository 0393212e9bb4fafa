/* Scores of a Unigram vocabulary, rounded as by the reference. Its JSON reader (serde_json) rounds twice, so one in
 * five scores with 17 digits differs from the nearest double by the last bit. If two ways to cut a word are equally
 * good, that bit decides. */
#ifndef IPF_TOKENIZER_UNIGRAM_SCORE_H
#define IPF_TOKENIZER_UNIGRAM_SCORE_H

#include "buffer.h"

#include <stdbool.h>

/* Reads a number in JSON. False if it is too large for a double. */
bool unigram_score_read(struct slice number, double *score);

#endif

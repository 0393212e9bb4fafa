/* Log probabilities of an answer's tokens, as vLLM's chat and completions APIs have them. The first two candidates of a
 * near tie differ by a thousandth; others are far apart. Only the text and the position determine the values.
 */
#ifndef SIM_LOGPROBS_H
#define SIM_LOGPROBS_H

#include "answer.h"

/* Appends the value of "logprobs" for `count` tokens of the text from token `from` on: null unless they are requested.
 */
void logprobs_write(struct answer *a, int64_t from, int64_t count);

#endif

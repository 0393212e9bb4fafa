/* Marks: random codes that any text can be searched for without knowing them.
 *
 *     char mark[CANARY_MARK + 1];
 *     canary_mark(&rng, mark);                    // "7KQ2MXB4TA9C"
 *     for (size_t at = 0; (found = canary_mark_find(text, &at)).data;) …
 *
 * A mark has 12 symbols: capital letters and digits except I, O, 0 and 1. The last three are a checksum of
 * the first nine, which include a letter and a digit. Two marks differ in at least four symbols, so a mark with up to
 * three wrong symbols is no mark. At most one in 32,768 random words of these symbols is a mark.
 *
 * The checksum is that of a Reed-Solomon code over 32 elements, with an offset.
 */
#ifndef IPF_CANARY_MARK_H
#define IPF_CANARY_MARK_H

#include "buffer.h"
#include "stats/rng.h"

enum { CANARY_MARK = 12 }; /* bytes */

/* Draws a mark, and ends it with a NUL. */
void canary_mark(struct rng *rng, char mark[CANARY_MARK + 1]);
/* Draws a code that looks like a mark and is none: its checksum is wrong. */
void canary_decoy(struct rng *rng, char code[CANARY_MARK + 1]);
bool canary_is_mark(struct slice word);
/* Returns the next mark at *at or later that is a whole word, and moves *at behind it. Words consist of ASCII letters,
 * digits and "_". Absent: there is none, and *at is the text's length. */
struct slice canary_mark_find(struct slice text, size_t *at);

#endif

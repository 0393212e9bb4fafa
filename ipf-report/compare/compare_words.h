/* A comparison in words, the same in every format. Functions taking a buffer of characters return it. */
#ifndef COMPARE_COMPARE_WORDS_H
#define COMPARE_COMPARE_WORDS_H

#include "compare/comparison.h"

enum { COMPARE_WORDS = 1000 };

/* "new is slower: 3 of 14 figures differ by 2 % or more" */
const char *compare_outcome(const struct comparison *c, char text[COMPARE_WORDS]);
/* The source of the noise, and its unknown part. */
const char *compare_noise(const struct comparison *c, char text[COMPARE_WORDS]);
/* Whether both sides had the same requests. */
const char *compare_pairing(const struct comparison *c, char text[COMPARE_WORDS]);
/* Which side a twin predicted; NULL: neither. */
const char *compare_predicted(const struct comparison *c, char text[COMPARE_WORDS]);
/* "2 runs, 1,624 requests; verdict OK; http://localhost:8000/v1" */
/* How much longer or shorter the answers of new are, from COMPARE_LENGTHS on; NULL: about as long, or not known. */
#define COMPARE_LENGTHS 0.05
const char *compare_lengths(const struct comparison *c, char text[COMPARE_WORDS]);
/* That the sides had other loads, or other requests; NULL: the same, or not known. */
const char *compare_load(const struct comparison *c, char text[COMPARE_WORDS]);
const char *compare_trace(const struct comparison *c, char text[COMPARE_WORDS]);
/* The wrong canaries of both sides, and mixed-up answers; NULL: neither is known. */
const char *compare_answers_text(const struct comparison *c, char text[COMPARE_WORDS]);
/* The prefix caches' share of the input tokens, if it differs by COMPARE_CACHED; NULL: about the same, or not known. */
#define COMPARE_CACHED 0.05
const char *compare_cached(const struct comparison *c, char text[COMPARE_WORDS]);
/* How much of later turns of sessions was in the prefix cache, and how many of them went to the server that had
 * answered before, likewise: whether a router kept sessions on their servers. */
const char *compare_later_turns(const struct comparison *c, char text[COMPARE_WORDS]);
/* The accepted share of the drafts of speculative decoding, likewise; also if one side has no counts of drafts. */
#define COMPARE_ACCEPTED 0.02
const char *compare_accepted(const struct comparison *c, char text[COMPARE_WORDS]);
const char *compare_side(const struct comparison *c, enum compared_side side, char text[COMPARE_WORDS]);

/* "+5.1 %", "+0.30 pp" */
const char *compare_change(const struct difference *d, char text[40]);
/* "+4.2 to +5.9 %", "above -1.2 %" */
const char *compare_interval(const struct difference *d, char text[64]);
/* "<0.001", "0.04"; "-": not tested. */
const char *compare_p(double p, char text[40]);
/* A value of the figure: a number, or a share as percent. */
const char *compare_value(const struct compared_figure *figure, double value, char text[40]);
/* "2 %" */
const char *compare_percent(double share, char text[40]);

#endif

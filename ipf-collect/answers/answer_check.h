/* Are answers right, and the same alone and under load? Judges the canaries of a trace and compares the answers to its
 * repeated requests (stream/request_check.h). "Answers" in ipf-results(5) has the definitions.
 *
 *     struct answer_check *check = answer_check_new();
 *     answer_check_begin(check, &schedule);                 // before the records of each input
 *     answer_check_reads(check, &record, &options);         // before the answer is parsed
 *     answer_check_row(check, &record, &response, &row);    // sets row.answer_check, judged, compared, …
 *     answer_check_free(check);
 *
 * From the first checked request on the texts of all answers are read, since any of them may have the mark of a canary.
 */
#ifndef COLLECT_ANSWER_CHECK_H
#define COLLECT_ANSWER_CHECK_H

#include "api/response.h"
#include "stream/result.h"
#include "stream/schedule.h"

/* Log probabilities of the two most likely tokens that are at most so far apart: rounding may decide between them. */
#define ANSWER_NEAR_TIE 0.25
/* Longer texts are compared up to here, in bytes. */
#define ANSWER_BYTES_MOST 65536
/* Answers kept to compare later ones with, all together, in bytes. Later ones are not compared. */
#define ANSWERS_KEPT_MOST ((size_t)256 << 20)

struct answer_check;

struct answer_check *answer_check_new(void); /* NULL: out of memory */
void answer_check_begin(struct answer_check *c, const struct schedule *schedule);
/* Has the parts of this record's answer kept that are needed: its text, and of a repeated request token ids and log
 * probabilities. Call it with every record. */
void answer_check_reads(struct answer_check *c, const struct record *record, struct response_options *options);
/* The slices set are good until the next call. -1: out of memory. */
int answer_check_row(struct answer_check *c, const struct record *record, const struct response *r, struct result *row);
void answer_check_free(struct answer_check *c);

#endif

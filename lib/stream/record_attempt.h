/* An earlier attempt of a request sent again (ipf-fire --retry): a member of "attempts" of its record. See
 * ipf-records(5).
 */
#ifndef IPF_RECORD_ATTEMPT_H
#define IPF_RECORD_ATTEMPT_H

#include "stream/record.h"

/* As much of its body is kept. */
#define RECORD_ATTEMPT_BODY ((size_t)1024)

/* As in struct record. */
struct record_attempt {
	int64_t status, start_ns, first_byte_ns, end_ns;
	int64_t retry_after_ns; /* how long the server asked to wait after end_ns */
	int64_t wait_ns;        /* how long ipf-fire decided to */
	int64_t target, connection, body_bytes;
	enum record_error error;
	struct slice error_text; /* plain bytes, written only */
	struct slice body;       /* the same */
};

/* Appends it as an element of a list that holds `count` already, without brackets. */
void record_attempt_write(const struct record_attempt *attempt, int64_t count, struct buffer *list);

/* The answers to one request, by its record: those of the earlier attempts and the last one. */
struct record_attempts {
	int64_t count;     /* attempts, the last one included */
	int64_t refusals;  /* answers with status 429 or 503 */
	int64_t waited_ns; /* between the end of an attempt and the start of the next, or the end of the request */
	bool in_order;     /* each one ends before the next begins, within the times of the request */
	int64_t early;     /* attempts beginning before the time the server had asked for */
	int64_t asked, asked_sum_ns, asked_min_ns, asked_max_ns; /* Retry-After: how many answers had it, and its values */
};

/* Sums up the list of the record, and its own answer. -1: an element breaks the rules of ipf-records(5). */
int record_attempts_sum(const struct record *record, struct jdoc *doc, struct record_attempts *sums,
                        struct ipf_error *err);

#endif

/* --rate-limit: a token bucket. A request takes a token, of which `burst` fit in and `rate` come back a second; without
 * one it gets 429 and is told when the next one is there.
 */
#ifndef SIM_RATE_LIMIT_H
#define SIM_RATE_LIMIT_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>

/* How the 429 says when to come again. */
enum rate_limit_form {
	RATE_LIMIT_SECONDS, /* Retry-After in seconds, rounded up */
	RATE_LIMIT_DATE,    /* Retry-After as a date, rounded up */
	RATE_LIMIT_MS,      /* retry-after-ms, and the seconds beside it */
	RATE_LIMIT_OPENAI,  /* x-ratelimit-reset-requests */
	RATE_LIMIT_NOTHING,
};

struct rate_limit {
	double rate, burst; /* rate 0: no limit */
	int form;           /* enum rate_limit_form */
	double missing;     /* tokens that are not there */
	int64_t last_ns;
};

/* "10/s,burst=20,say=ms". */
int rate_limit_parse(const char *text, void *limit, struct ipf_error *err);
/* 0: the request may go on; otherwise the time until the next token. */
int64_t rate_limit_wait(struct rate_limit *limit, int64_t now_ns);
/* Appends header lines; returns the wait that they say, 0: none. offset_ns: of the clock of dates. */
int64_t rate_limit_say(const struct rate_limit *limit, int64_t wait_ns, int64_t offset_ns, struct buffer *out);

#endif

/* The server's own account of each request that generates: one line of JSON, so tests can hold a client's against
 * it. */
#ifndef SIM_REQLOG_H
#define SIM_REQLOG_H

#include "generate_request.h"

#include <stdio.h>

struct reqlog_line {
	int64_t n;  /* in the order of arrival, from 0 */
	int status; /* 0: nothing was answered */
	/* CLOCK_MONOTONIC; 0: it did not happen. */
	int64_t arrival_ns;             /* the request's last byte was read */
	int64_t head_ns;                /* just before the answer's first byte was sent */
	int64_t first_ns, last_ns;      /* just before the last byte of the first, the last event with text was sent */
	int64_t end_ns;                 /* all was sent, or the connection was gone */
	int64_t first_made_ns;          /* the engine had the first token */
	uint64_t last_at;               /* position of the event of last_ns */
	int64_t retry_after_ns;         /* --rate-limit: the 429's Retry-After; 0: none */
	int64_t output_tokens;          /* written for the client */
	int64_t generated_tokens;       /* a cancelled one's: the engine's tokens; 0: none */
	const char *id, *path, *finish; /* id, finish: may be NULL */
	struct slice text;              /* the answer's; absent */
	unsigned faults;                /* enum answer_fault */
	bool stream, cancelled;
	const struct generate_request *ask;
	const struct modes *modes;
	const struct sequence *sequence;
};

/* -1: it could not be written (errno). */
int reqlog_write(FILE *to, const struct reqlog_line *line);

#endif

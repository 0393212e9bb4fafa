/* A request of which nothing is left but lengths, times, and salted hashes. */
#ifndef PREP_ANONYMOUS_REQUEST_H
#define PREP_ANONYMOUS_REQUEST_H

#include "absent.h"
#include "buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct anonymous_request {
	int64_t at_ns;                             /* the arrival written; IPF_ABSENT: the input has none */
	int64_t recorded_ns;                       /* the same without jitter */
	int64_t wait_ns;                           /* from the end of the previous turn; IPF_ABSENT */
	int64_t hang_up_ns;                        /* from the start to when the client disconnected; IPF_ABSENT */
	int64_t recorded_ttft_ns, recorded_e2e_ns; /* in production; IPF_ABSENT */
	int64_t input_tokens, output_tokens;
	int64_t turn;           /* IPF_ABSENT: of no session */
	uint64_t session;       /* its keyed name */
	uint64_t number;        /* the request's: different for each */
	uint64_t id;            /* its keyed name */
	uint64_t model_key;     /* the keyed name of its model; 0: it has none */
	struct slice model;     /* its name, as JSON; absent: not to be written as it is */
	const uint64_t *hashes; /* for the blocks of its prompt */
	size_t hash_count;
	const uint64_t *parents; /* keyed names of its parents */
	size_t parent_count;
	bool lists_parents; /* it lists them, if only an empty list; else a turn waits for the one before */
	struct slice tags;  /* kept ones, as a JSON object; absent: none */
};

#endif

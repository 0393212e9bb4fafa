/* Does the server give a recorded answer, token by token, if it is asked to? --answers recorded, before the load.
 *
 *     if (answer_replay_check(&options, &err) < 0) …
 *
 * Looks through the trace: each request but canaries must have its answer. Then sends one short request to each target.
 * Its answer is the beginning of an answer of the trace, backwards: no model writes this by itself. Its prompt is
 * shorter than a block of a prefix cache, so that no prompt of the trace gets into the cache.
 */
#ifndef IPF_ANSWER_REPLAY_H
#define IPF_ANSWER_REPLAY_H

#include "aside/aside_client.h"

struct answer_replay_options {
	struct aside_client_options client; /* `rendering` has recorded_answers */
	const char *trace;
};

/* -1: IPF_INPUT with file and line, if a request lacks its answer; IPF_SYSTEM, if a target fails or gives another
 * answer; as for aside_client_open and aside_client_send. */
int answer_replay_check(const struct answer_replay_options *options, struct ipf_error *err);

#endif

#include "plain_modes.h"

#include "answer.h"
#include "stats/rng.h"

#include <strings.h>

/* The request's own modes go first; without any, the server's may strike. */
int plain_modes_choose(struct modes *modes, struct conn *c, struct ipf_error *err)
{
	const struct server_options *options = c->server->options;
	for (size_t i = 0; i < c->request.header_count; i++) {
		const struct http_header *h = &c->request.headers[i];
		if (h->name.len == 5 && strncasecmp(h->name.data, "x-sim", 5) == 0 &&
		    modes_parse_header(modes, h->value, err) < 0)
			return -1;
	}
	for (size_t i = 0; modes->count == 0 && i < options->fail_count; i++) {
		struct rng rng;
		rng_init(&rng, options->seed, mode_name(options->fails[i].kind), (uint64_t)c->server->totals.requests * 64 + i);
		if (rng_uniform(&rng) < options->fails[i].share)
			modes->list[modes->count++] = options->fails[i];
	}
	return 0;
}

/* Changes an answer by the modes. true: nothing is left to say. */
bool plain_modes_answer(const struct modes *modes, struct conn *c)
{
	const struct mode *status = modes_find(modes, MODE_STATUS);
	struct slice body = {0};
	if (status) {
		answer_error(&c->out, (int)status->code, NULL, "the server was told to fail", NULL, c->request.keep_alive);
		return true;
	}
	if (modes_find(modes, MODE_ERROR_INBAND))
		body = slice_of("{\"object\":\"error\",\"error\":\"the engine died\",\"message\":\"the engine died\"}");
	else if (modes_find(modes, MODE_GARBAGE))
		body = slice_of("{\"data\":[{\"ind");
	else if (!modes_find(modes, MODE_NOTHING))
		return false;
	answer_plain(&c->out, 200, "application/json", NULL, body, c->request.keep_alive);
	return true;
}

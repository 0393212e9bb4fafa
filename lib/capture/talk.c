#include "capture/talk.h"

struct captured *talk_begin(struct talk_context *context, struct talk_about *about, int64_t t_ns)
{
	struct captured *x = captured_new();
	if (!x)
		return NULL;
	x->number = context->exchanges++;
	x->reused = about->exchanges++ > 0 || about->began_before;
	x->connection = about->number;
	x->client = about->tcp->ends[TCP_CLIENT];
	x->server = about->tcp->ends[TCP_SERVER];
	x->start_ns = t_ns;
	return x;
}

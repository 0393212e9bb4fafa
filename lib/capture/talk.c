#include "capture/talk.h"

#include "absent.h"

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool has_hung_up(const struct talk_closing *c, const struct talk_end *end, int64_t last_ns)
{
	const bool left = c->left_ns != IPF_ABSENT, read_on = left && last_ns > c->left_ns;
	if (end->error == RECORD_HUNG_UP) /* it reset the connection */
		return left || !c->server_finished;
	return left && !read_on;
}

int64_t talk_end_exchange(struct captured *x, const struct talk_closing *c, const struct talk_end *end)
{
	const int64_t last_ns = x->reads_count ? x->reads[x->reads_count - 1].t_ns : later(x->start_ns, x->first_byte_ns);
	int64_t at_ns = end->t_ns;
	if (end->damage != DAMAGE_NONE) {
		captured_damaged(x, end->damage);
	} else if (has_hung_up(c, end, last_ns)) {
		x->error = RECORD_HUNG_UP;
		x->why = end->error == RECORD_HUNG_UP ? end->why : "the client closed the connection";
		at_ns = c->left_ns != IPF_ABSENT ? c->left_ns : at_ns;
	} else if (end->error != RECORD_OK && end->error != RECORD_HUNG_UP) {
		x->error = end->error;
		x->why = end->why;
	} else {
		x->error = x->first_byte_ns == IPF_ABSENT ? RECORD_RESET : RECORD_CUT;
		x->why = "the server closed the connection before the end of its answer";
	}
	return later(at_ns, last_ns);
}

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

/* synthetic: requests of drawn lengths, or of a model of recorded traffic, without any data.
 *
 * With --like each record is the next session or request of the model (model/traffic_draw.h). Otherwise each record is
 * a request, or with --turns a session of a drawn number of turns; --input-tokens and --output-tokens draw the lengths
 * of each turn. The last session is cut to exactly -n requests.
 */
#include "absent.h"
#include "draft/draft_rng.h"
#include "sources/source.h"

/* A session is held in memory. */
#define TURNS_MAX 10000

struct state {
	const struct distribution *input, *output, *turns;
	bool lone;
	int64_t left; /* requests still to make; IPF_ABSENT: not limited */
	uint64_t seed;
	const struct traffic_mix *mix; /* or NULL */
	struct traffic_draw *like;
};

static int open_state(void *made, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *s = made;
	*s = (struct state){.input = settings->input,
	                    .output = settings->output,
	                    .turns = settings->turns,
	                    .lone = settings->lone,
	                    .left = settings->n,
	                    .seed = settings->seed,
	                    .mix = settings->like};
	return s->mix ? traffic_draw_new(&s->like, s->mix, settings->like_scale, s->seed, err) : 0;
}

static void close_state(void *opened)
{
	struct state *s = opened;
	traffic_draw_free(s->like);
}

/* Sessions of a model have whole prompts in blocks, which begin like those of earlier turns. */
static unsigned traits_of(const void *opened)
{
	const struct state *s = opened;
	if (!s->mix)
		return HAS_TURNS | MAKES_TEXT;
	return MAKES_TEXT | HAS_SESSIONS | HAS_BLOCKS | (traffic_mix_has_arrivals(s->mix) ? HAS_TIMES : 0);
}

static int64_t draw(const struct state *s, const struct distribution *from, const char *decision, const struct draft *d,
                    size_t turn)
{
	struct rng rng = draft_rng(s->seed, decision, d, turn);
	return distribution_draw(from, &rng);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct draft *d = &sink->draft;
	if (s->like) {
		if (traffic_draw_next(s->like, d, s->left == IPF_ABSENT ? TURNS_MAX : s->left, err) < 0)
			return -1;
		s->left -= s->left == IPF_ABSENT ? 0 : (int64_t)d->count;
		return sink->take(sink, d, err);
	}
	int64_t turns = s->lone ? 1 : draw(s, s->turns, "turns", d, 0);
	(void)record;
	if (s->left != IPF_ABSENT && turns > s->left)
		turns = s->left;
	if (turns > TURNS_MAX)
		return ipf_error_set(err, IPF_USAGE, "--turns: expected at most %d turns, drew %lld; set max=", TURNS_MAX,
		                     (long long)turns);
	d->chain = !s->lone;
	for (int64_t i = 0; i < turns; i++) {
		struct draft_request *r = draft_request(d);
		if (!r)
			return 0;
		r->input_tokens = draw(s, s->input, "input-tokens", d, (size_t)i);
		r->output_tokens = draw(s, s->output, "output-tokens", d, (size_t)i);
	}
	if (s->left != IPF_ABSENT)
		s->left -= turns;
	return sink->take(sink, d, err);
}

const struct source_format source_synthetic = {
	.name = "synthetic",
	.about = "requests or sessions of drawn lengths, or like a recorded trace (--like), without any data",
	.kind = SOURCE_GENERATED,
	.unit = UNIT_NONE,
	.traits = HAS_TURNS | MAKES_TEXT,
	.filled = "prose of the drawn length, another for each request",
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_record,
	.traits_of = traits_of,
	.close = close_state,
};

/* prefix: requests whose prompts share beginnings, in a controlled way, without any data.
 *
 * Two forms:
 *
 *     --prefixes COUNTxTOKENS[=SHARE],…   each prompt is one of the prefixes and text of its own of --input-tokens, as
 *                                         in vLLM's prefix_repetition and SGLang's generated-shared-prefix
 *     --hit-rate SHARE --groups N         each prompt has --input-tokens, of which as much is shared as makes a prefix
 *                                         cache without a size limit find SHARE of the tokens of all prompts
 *
 * Prefixes are dealt out evenly (prefix_deck.h). Shared text is in blocks, so `ipf-prep stat` computes the rate exactly
 * and prompts share exactly these tokens.
 *
 * For a rate, each group has a text of its own, in blocks of as many tokens as servers cache at once. The first prompt
 * of a group finds nothing and is the text as a whole. The others make up for its misses in the same proportion, so the
 * rate is the same throughout the rest of the trace.
 */
#include "absent.h"
#include "draft/draft_rng.h"
#include "sources/prefix_deck.h"
#include "sources/source.h"

#include <math.h>
#include <stdlib.h>

#define BLOCK_TOKENS     16
#define DEFAULT_GROUPS   10 /* at most; a tenth of the requests if there are few */
#define DEFAULT_HIT_RATE 0.5
#define MILLION          1000000

/* A cache's hits so far, and the wanted ones. */
struct hits {
	int64_t wanted, of; /* tokens to find, of the tokens of all but the first prompts of each group */
	int64_t seen;       /* seen, out of `of` */
	int64_t found;
	int64_t *cached; /* the longest beginning of each group's text so far, in tokens */
};

struct state {
	const struct distribution *input, *output;
	uint64_t seed;
	int64_t template_tokens;
	int64_t requests; /* to be made */
	bool by_rate;
	struct share one_share; /* by rate: the only group of prefixes */
	struct prefix_group one;
	struct prefix_groups prefixes;
	const struct prefix_groups *dealt;
	struct prefix_deck deck;
	struct hits hits;
	int64_t blocks_max; /* a prompt's */
	struct slice scope; /* other seeds make other text */
	char scope_text[24];
};

static int64_t draw(const struct state *s, const struct distribution *from, const char *decision, int64_t number)
{
	struct draft d = {.number = number};
	struct rng rng = draft_rng(s->seed, decision, &d, 0);
	return distribution_draw(from, &rng);
}

/* How much of a prompt can be shared: whole blocks, and at least a token remains. */
static int64_t shareable(const struct state *s, int64_t tokens)
{
	int64_t room = tokens - s->template_tokens - 1;
	return room > 0 ? room / BLOCK_TOKENS * BLOCK_TOKENS : 0;
}

/* How many tokens a prompt of this length shares with those of its group, given the hits so far. */
static int64_t share_of(struct hits *h, size_t group, int64_t tokens, int64_t room)
{
	int64_t shared = room;
	if (h->cached[group] >= 0) {
		h->seen += tokens;
		int64_t missing = (int64_t)((__int128)h->wanted * h->seen / h->of) - h->found;
		shared = missing > 0 ? (missing + BLOCK_TOKENS / 2) / BLOCK_TOKENS * BLOCK_TOKENS : 0;
		shared = shared < room ? shared : room;
		h->found += shared < h->cached[group] ? shared : h->cached[group];
	}
	if (shared > h->cached[group])
		h->cached[group] = shared;
	return shared;
}

static void forget(struct hits *h, int64_t groups)
{
	h->seen = h->found = 0;
	for (int64_t i = 0; i < groups; i++)
		h->cached[i] = -1;
}

/* Sums up the future lengths, and tries whether the rate can be reached. */
static int plan_hits(struct state *s, double rate, struct ipf_error *err)
{
	struct hits *h = &s->hits;
	int64_t all = 0, longest = 0, groups = s->one.count;
	for (int64_t i = 1; i <= s->requests; i++) {
		int64_t tokens = draw(s, s->input, "input-tokens", i);
		if (__builtin_add_overflow(all, tokens, &all))
			return ipf_error_set(err, IPF_USAGE, "-n: %lld prompts have more tokens than can be counted",
			                     (long long)s->requests);
		h->of += i > groups ? tokens : 0;
		longest = tokens > longest ? tokens : longest;
	}
	h->wanted = (int64_t)((__int128)all * (int64_t)(rate * MILLION + 0.5) / MILLION);
	s->blocks_max = shareable(s, longest) / BLOCK_TOKENS;
	forget(h, groups);
	for (int64_t i = 1; i <= s->requests && h->of > 0; i++) {
		const struct prefix_group *group;
		int64_t tokens = draw(s, s->input, "input-tokens", i);
		share_of(h, prefix_deck_next(&s->deck, &group), tokens, shareable(s, tokens));
	}
	int64_t slack = all / 500 > BLOCK_TOKENS ? all / 500 : BLOCK_TOKENS;
	if (h->wanted - h->found > slack)
		return ipf_error_set(
			err, IPF_USAGE,
			"--hit-rate: cannot be %.4g with %lld requests, %lld groups and prompts of this length, but "
			"at most %.4g; raise -n or --input-tokens, or lower --groups",
			rate, (long long)s->requests, (long long)groups, (double)h->found / (double)all);
	forget(h, groups);
	return 0;
}

static int open_rate(struct state *s, const struct source_settings *settings, struct ipf_error *err)
{
	int64_t tenth = s->requests >= 10 ? s->requests / 10 : 1, fewer = tenth < DEFAULT_GROUPS ? tenth : DEFAULT_GROUPS;
	int64_t groups = settings->groups != IPF_ABSENT ? settings->groups : fewer;
	double rate = isnan(settings->hit_rate) ? DEFAULT_HIT_RATE : settings->hit_rate;
	s->by_rate = true;
	s->one_share = (struct share){.name = "", .cumulative = 2};
	s->one = (struct prefix_group){.count = groups < s->requests ? groups : s->requests};
	s->prefixes = (struct prefix_groups){
		.shares = {.items = &s->one_share, .count = 1}, .groups = &s->one, .count = s->one.count};
	s->dealt = &s->prefixes;
	s->hits.cached = calloc((size_t)s->one.count, sizeof *s->hits.cached);
	if (!s->hits.cached)
		return ipf_error_memory(err);
	if (prefix_deck_init(&s->deck, s->dealt, s->requests, s->seed, err) < 0 || plan_hits(s, rate, err) < 0)
		return -1;
	prefix_deck_release(&s->deck);
	return 0;
}

static int open_state(void *made, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *s = made;
	s->input = settings->input;
	s->output = settings->output;
	s->seed = settings->seed;
	s->template_tokens = settings->template_tokens;
	s->requests = settings->n;
	if (s->requests == IPF_ABSENT || (settings->sessions != IPF_ABSENT && settings->sessions < s->requests))
		s->requests = settings->sessions;
	snprintf(s->scope_text, sizeof s->scope_text, "%llu", (unsigned long long)s->seed);
	s->scope = slice_of(s->scope_text);
	s->dealt = settings->prefixes;
	if (settings->prefixes->count && (settings->groups != IPF_ABSENT || !isnan(settings->hit_rate)))
		return ipf_error_set(err, IPF_USAGE,
		                     "--prefixes: cannot be combined with %s, which sets the length of prefixes",
		                     isnan(settings->hit_rate) ? "--groups" : "--hit-rate");
	if (!settings->prefixes->count && open_rate(s, settings, err) < 0)
		return -1;
	return prefix_deck_init(&s->deck, s->dealt, s->requests, s->seed, err);
}

/* The blocks of a prompt: those of its group's text, or its prefix as a single block. */
static void set_blocks(const struct state *s, struct draft *d, size_t prefix, int64_t shared)
{
	struct draft_request *r = &d->requests[0];
	int64_t block = s->by_rate ? BLOCK_TOKENS : shared;
	size_t count = block > 0 ? (size_t)(shared / block) : 0;
	uint64_t *ids = count ? draft_ids(d, count) : NULL;
	for (size_t i = 0; ids && i < count; i++)
		ids[i] = s->by_rate ? (uint64_t)prefix * (uint64_t)s->blocks_max + i + 1 : prefix + 1;
	if (ids)
		r->blocks = (struct draft_blocks){.ids = ids, .count = count, .tokens = block, .scope = s->scope};
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct draft *d = &sink->draft;
	const struct prefix_group *group;
	size_t prefix = prefix_deck_next(&s->deck, &group);
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	int64_t tokens = draw(s, s->input, "input-tokens", record->number);
	int64_t shared = s->by_rate ? share_of(&s->hits, prefix, tokens, shareable(s, tokens)) : group->tokens;
	r->input_tokens = s->by_rate ? tokens : shared + tokens;
	r->output_tokens = draw(s, s->output, "output-tokens", record->number);
	set_blocks(s, d, prefix, shared);
	return sink->take(sink, d, err);
}

static void close_state(void *opened)
{
	struct state *s = opened;
	prefix_deck_release(&s->deck);
	free(s->hits.cached);
}

const struct source_format source_prefix = {
	.name = "prefix",
	.about = "requests with a controlled hit rate of prefix caches, without any data",
	.kind = SOURCE_GENERATED,
	.unit = UNIT_NONE,
	.traits = MAKES_TEXT | HAS_BLOCKS | DEALS_PREFIXES,
	.filled = "each block is prose made from its id; the rest is another prose for each request",
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_record,
	.close = close_state,
};

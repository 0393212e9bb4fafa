#include "workload/cache_truth.h"

#include "absent.h"
#include "array.h"
#include "clock.h"
#include "verdict/verdict.h"
#include "workload/prefix_use.h"

#include <math.h>
#include <stdlib.h>

/* A chat template adds no more tokens than this; beyond, the server counts otherwise than we do. */
#define TEMPLATE_MOST 128
/* Where it does, fewer tokens than this are no sign of anything. */
#define NOTICED 64

const char *const cache_tiers[CACHE_TIERS] = {"device", "host", "disk", "remote"};

/* ---- a request ---- */

int64_t cache_truth_found(const struct run_data *run, const struct row *row)
{
	int64_t found = row_get(row, ROW_CACHED_TOKENS);
	if (found != IPF_ABSENT || !column_exists(&run->columns.list[ROW_CACHED_TOKENS]))
		return found;
	return row_get(row, ROW_INPUT_USAGE) == IPF_ABSENT ? IPF_ABSENT : 0;
}

static bool is_measured(const struct run_data *run, const struct row *row)
{
	return row->stage < 0 || (size_t)row->stage >= run->schedule.count || run->schedule.stages[row->stage].measured;
}

/* A request whose prompt a server has computed before the time `now_ns`, at the latest. */
static int64_t first_token_ns(const struct run_data *run, const struct row *row)
{
	int64_t ttft = row_get(row, METRIC_TTFT);
	int64_t at = ttft != IPF_ABSENT ? row->start_ns + ttft : row->end_ns != IPF_ABSENT ? row->end_ns : row->start_ns;
	return workload_time(run, row, at);
}

/* Our tokens in the server's: the same if it counts as we do, apart from a template. */
static int64_t in_server_tokens(const struct cache_bounds *b, int64_t ours, int64_t tokens)
{
	return b->exact ? tokens : llround((double)tokens * (double)b->prompt / (double)ours);
}

/* The text a chat template puts before a prompt is found with the first block of it. */
static int64_t with_template(const struct cache_bounds *b, int64_t ours, int64_t found)
{
	int64_t all = b->exact && found > 0 ? found + b->prompt - ours : found;
	return all >= b->prompt && b->prompt > 0 ? b->prompt - 1 : all;
}

/* The tokens the server finds, of which `found` are ours: the chat template's text before them is found with the first
 * block; whole blocks of the server's, if their length is known. They may end within the block of ours after the found
 * ones. */
static int64_t found_by_server(const struct cache_truth *t, const struct cache_bounds *b, int64_t ours, int64_t found)
{
	int64_t all = with_template(b, ours, in_server_tokens(b, ours, found)), block = t->server_block;
	if (!block || found == 0)
		return all;
	all += in_server_tokens(b, ours, t->block_tokens - 1);
	return (all < b->prompt ? all : b->prompt - 1) / block * block;
}

/* Our part of those. */
static int64_t in_our_tokens(const struct cache_bounds *b, int64_t ours, int64_t found)
{
	if (b->exact)
		return found > b->prompt - ours ? found - (b->prompt - ours) : 0;
	return llround((double)found * (double)ours / (double)(b->prompt > 0 ? b->prompt : 1));
}

static struct cache_bounds bounds_of(const struct cache_truth *t, const struct row *row,
                                     const struct workload_request *r)
{
	struct cache_bounds b = {.prompt = row_get(row, ROW_INPUT_USAGE)};
	int64_t ours = r->tokens;
	if (b.prompt == IPF_ABSENT)
		b.prompt = ours;
	b.exact = ours == 0 || (b.prompt >= ours && b.prompt - ours <= TEMPLATE_MOST);
	b.slack = b.exact ? b.prompt - ours + PROMPT_BLOCK - 1 : in_server_tokens(&b, ours, PROMPT_BLOCK) + NOTICED;
	if (t->server_block > PROMPT_BLOCK)
		b.slack += t->server_block - PROMPT_BLOCK;
	return b;
}

/* ---- the requests in the order of time ---- */

struct moment {
	int64_t t_ns;
	int64_t request; /* in workload.started */
	bool first_token;
};

/* At one time, starts come first: who started then can have been served before. */
static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;
	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	if (x->first_token != y->first_token)
		return x->first_token ? 1 : -1;
	return (x->request > y->request) - (x->request < y->request);
}

/* The state following the requests through the run. */
struct follower {
	struct cache_truth *t;
	const struct workload *w;
	const struct run_data *run;
	struct prefix_use use;
	struct lru_curve curve;
	uint32_t *path;
	size_t path_cap;
};

/* The node, or the last one before it whose block ends within so many tokens. */
static uint32_t node_within(const struct prefix_tree *tree, uint32_t node, int64_t tokens)
{
	while (node != PREFIX_ROOT && tree->nodes[node].tokens > tokens)
		node = tree->nodes[node].parent;
	return node;
}

/* The last block of which a server has the keys and values when the answer has ended: not those of its last token. */
static uint32_t last_block(const struct follower *f, const struct row *row, const struct workload_request *r,
                           int64_t *tokens)
{
	int64_t answer = row_get(row, ROW_OUTPUT_TOKENS);
	*tokens = (int64_t)r->tokens + (answer > 0 && answer <= UINT32_MAX ? answer - 1 : 0);
	return node_within(&f->w->tree, r->answer, *tokens);
}

static int use_blocks(struct follower *f, uint32_t last, uint32_t within, int64_t tokens)
{
	const struct prefix_node *nodes = f->w->tree.nodes;
	const int64_t block = f->t->block_tokens;
	size_t depth = 0, most = 0;
	for (uint32_t node = last; node != PREFIX_ROOT; node = nodes[node].parent)
		depth++;
	if (!array_room(f->path, f->path_cap, depth))
		return -1;
	uint32_t node = last;
	for (size_t i = depth; i > 0; node = nodes[node].parent)
		f->path[--i] = node;
	while (within != PREFIX_ROOT && most < depth && nodes[f->path[most]].tokens <= nodes[within].tokens)
		most++;
	int64_t own = (tokens + block - 1) / block - (int64_t)depth;
	lru_curve_use(&f->curve, f->path, depth, most, own > 0 ? own : 0);
	return 0;
}

static bool is_counted(const struct run_data *run, const struct row *row)
{
	return row->ok && is_measured(run, row);
}

static int begin_request(struct follower *f, int64_t i)
{
	const struct row *row = f->w->started[i];
	const struct workload_request *r = workload_request_of(f->w, row);
	struct cache_bounds *b = &f->t->bounds[i];
	if (!r)
		return 0;
	int64_t tokens;
	uint32_t within = node_within(&f->w->tree, r->node, (int64_t)r->tokens - 1);
	uint32_t last = last_block(f, row, r, &tokens);
	*b = bounds_of(f->t, row, r);
	b->ideal = found_by_server(f->t, b, r->tokens, prefix_use_found(&f->use, within));
	b->least = in_server_tokens(b, r->tokens, prefix_use_computed(&f->use, within));
	b->least_here = in_server_tokens(b, r->tokens, prefix_use_computed_by(&f->use, within, row->group[BY_REPLICA]));
	prefix_use_start(&f->use, last, (uint32_t)i + 1);
	if (f->t->server_block)
		within = node_within(&f->w->tree, within, in_our_tokens(b, r->tokens, b->ideal));
	return use_blocks(f, last, is_counted(f->run, row) ? within : PREFIX_ROOT, tokens);
}

static void end_prompt(struct follower *f, int64_t i)
{
	const struct workload_request *r = workload_request_of(f->w, f->w->started[i]);
	struct cache_bounds *b = &f->t->bounds[i];
	if (!r)
		return;
	b->most = in_server_tokens(b, r->tokens, prefix_use_by_others(&f->use, r->node, (uint32_t)i + 1));
	if (f->w->started[i]->ok)
		prefix_use_done(&f->use, r->node, f->w->started[i]->group[BY_REPLICA]);
}

static int follow(struct follower *f, const struct moment *moments, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (moments[i].first_token)
			end_prompt(f, moments[i].request);
		else if (begin_request(f, moments[i].request) < 0)
			return -1;
	return 0;
}

static int follow_all(struct follower *f, int64_t size_blocks)
{
	int64_t count = f->w->started_count;
	struct moment *moments = calloc(2 * (size_t)count + 1, sizeof *moments);
	int bad = -1;
	if (moments && prefix_use_init(&f->use, &f->w->tree, f->run->groups[BY_REPLICA].count) == 0 &&
	    lru_curve_init(&f->curve, &f->w->tree, count, size_blocks) == 0) {
		for (int64_t i = 0; i < count; i++) {
			const struct row *row = f->w->started[i];
			moments[2 * i] = (struct moment){workload_time(f->run, row, row->start_ns), i, false};
			moments[2 * i + 1] = (struct moment){first_token_ns(f->run, row), i, true};
		}
		qsort(moments, 2 * (size_t)count, sizeof *moments, by_time);
		bad = follow(f, moments, 2 * count);
	}
	free(moments);
	return bad;
}

/* ---- sums ---- */

static void add(struct cache_sums *all, struct cache_sums *reported, const struct cache_bounds *b, int64_t found)
{
	struct cache_sums *const both[] = {all, found == IPF_ABSENT ? NULL : reported};
	for (int i = 0; i < 2; i++) {
		if (!both[i])
			continue;
		both[i]->requests++;
		both[i]->prompt += b->prompt;
		both[i]->ideal += b->ideal;
		both[i]->found += found == IPF_ABSENT ? 0 : found;
	}
}

static void add_tiers(struct cache_truth *t, const struct row *row)
{
	for (int i = 0; i < CACHE_TIERS; i++) {
		int64_t tokens = row_get(row, ROW_CACHED_DEVICE + i);
		if (tokens != IPF_ABSENT)
			t->tiers[i] = t->tiers[i] == IPF_ABSENT ? tokens : t->tiers[i] + tokens;
	}
}

/* A run cannot tell the server's other cached tokens if some of its own requests are not known. */
static void find_no_warm(struct cache_truth *t, const struct run_data *run)
{
	for (int i = 0; i < run->part_count; i++) {
		if (run->parts[i].incomplete[0] || !run->parts[i].trailer || run->parts[i].stopped_ns != IPF_ABSENT)
			t->no_warm = "part of the run is missing";
	}
	if (shard_set_missing(&run->shard_set) > 0)
		t->no_warm = "shards are missing";
	if (!run->shards && run->part_count > 1)
		t->no_warm = "the run has repeats";
}

static void add_warmth(struct cache_truth *t, const struct cache_bounds *b, int64_t found)
{
	int64_t known = b->most + b->slack;
	if (!b->exact && b->most > 0)
		return; /* shares of differently counted tokens are too rough */
	t->warm_of += b->prompt > known ? b->prompt - known : 0;
	t->warm += found > known ? found - known : 0;
}

static struct cache_interval *interval_at(struct cache_truth *t, int64_t t_ns)
{
	int64_t i = t->every_ns ? (t_ns - t->first_ns) / t->every_ns : 0;
	if (i < 0 || i >= CACHE_INTERVALS_MOST)
		return NULL;
	t->interval_count = i >= t->interval_count ? (int)i + 1 : t->interval_count;
	return &t->intervals[i];
}

/* Whole seconds, so no more intervals are needed than there are. */
static void choose_intervals(struct cache_truth *t, const struct follower *f)
{
	int64_t first = IPF_ABSENT, last = IPF_ABSENT;
	for (int64_t i = 0; i < f->w->started_count; i++) {
		const struct row *row = f->w->started[i];
		if (!is_counted(f->run, row))
			continue;
		last = workload_time(f->run, row, row->start_ns);
		first = first == IPF_ABSENT ? last : first;
	}
	if (first == IPF_ABSENT)
		return;
	t->first_ns = first;
	t->every_ns = ((last - first) / CACHE_INTERVALS_MOST / NS_PER_S + 1) * NS_PER_S;
}

static void sum_up(struct cache_truth *t, const struct follower *f)
{
	choose_intervals(t, f);
	for (int i = 0; i < CACHE_TIERS; i++)
		t->tiers[i] = IPF_ABSENT;
	for (int64_t i = 0; i < f->w->started_count; i++) {
		const struct row *row = f->w->started[i];
		const struct cache_bounds *b = &t->bounds[i];
		if (!is_counted(f->run, row) || !workload_request_of(f->w, row))
			continue;
		int64_t found = cache_truth_found(f->run, row);
		struct cache_interval *at = interval_at(t, workload_time(f->run, row, row->start_ns));
		add(&t->all, &t->reported, b, found);
		if (at)
			add(&at->all, &at->reported, b, found);
		add_tiers(t, row);
		if (found != IPF_ABSENT)
			add_warmth(t, b, found);
	}
}

/* The curve begins with a size with room for each prompt, and ends where it does not rise any more. */
static struct cache_point point_at(const struct cache_truth *t, int64_t tokens, int64_t hits, int64_t most,
                                   int64_t prompts)
{
	if (!t->server_block || most <= 0)
		return (struct cache_point){tokens, hits, (double)hits / (double)prompts};
	/* with the ends of the server's blocks and the template, which our tokens do not have */
	double part = (double)hits / (double)most;
	return (struct cache_point){tokens, llround(part * (double)t->all.ideal),
	                            part * (double)t->all.ideal / (double)t->all.prompt};
}

static void take_curve(struct cache_truth *t, const struct lru_curve *curve, int64_t size_tokens, int64_t prompts)
{
	int64_t most = lru_curve_hits(curve, LRU_SIZES - 1);
	t->size.share = NAN;
	if (prompts <= 0)
		return;
	for (int k = 0; k < LRU_SIZES && most > 0; k++) {
		int64_t hits = lru_curve_hits(curve, k);
		bool doubled = k > 0 && lru_size(k) == lru_size(k - 1);
		if (lru_size(k) < curve->largest || doubled)
			continue;
		if (hits > 0)
			t->curve[t->curve_count++] = point_at(t, lru_size(k) * t->block_tokens, hits, most, prompts);
		if (hits == most)
			break;
	}
	if (size_tokens > 0)
		t->size = point_at(t, size_tokens, curve->size_hits, most, prompts);
}

/* ---- sessions ---- */

struct session_sums {
	int64_t part, session;
	struct cache_sums all, reported;
};

static int by_session(const void *a, const void *b)
{
	const struct session_sums *x = a, *y = b;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return (x->session > y->session) - (x->session < y->session);
}

static int64_t missed(const struct cache_sums *s)
{
	return s->ideal - s->found;
}

static void note_worst(struct cache_truth *t, const char *name, const struct cache_sums *sums)
{
	int at = t->worst_count;
	while (at > 0 && missed(&t->worst[at - 1].sums) < missed(sums))
		at--;
	if (missed(sums) <= 0 || at == CACHE_SESSIONS_SHOWN)
		return;
	if (t->worst_count < CACHE_SESSIONS_SHOWN)
		t->worst_count++;
	for (int i = t->worst_count - 1; i > at; i--)
		t->worst[i] = t->worst[i - 1];
	t->worst[at] = (struct cache_session){name, *sums};
}

static int64_t list_sessions(const struct cache_truth *t, const struct follower *f, struct session_sums *list)
{
	int64_t count = 0;
	for (int64_t i = 0; i < f->w->started_count; i++) {
		const struct row *row = f->w->started[i];
		if (!is_counted(f->run, row) || !workload_request_of(f->w, row) || row->group[BY_SESSION] < 0)
			continue;
		list[count] = (struct session_sums){.part = f->run->shards ? 0 : row->part, .session = row->group[BY_SESSION]};
		add(&list[count].all, &list[count].reported, &t->bounds[i], cache_truth_found(f->run, row));
		count++;
	}
	qsort(list, (size_t)count, sizeof *list, by_session);
	return count;
}

static int sum_sessions(struct cache_truth *t, const struct follower *f, const struct percentiles *percentiles)
{
	struct session_sums *list = calloc((size_t)f->w->started_count + 1, sizeof *list);
	struct samples ideal = {0}, found = {0};
	int64_t count = list ? list_sessions(t, f, list) : 0;
	for (int64_t i = 0, next; i < count; i = next) {
		struct cache_sums sums = {0};
		for (next = i; next < count && by_session(&list[i], &list[next]) == 0; next++) {
			sums.requests += list[next].reported.requests;
			sums.prompt += list[next].reported.prompt;
			sums.ideal += list[next].reported.ideal;
			sums.found += list[next].reported.found;
		}
		if (sums.requests < 2 || sums.prompt <= 0)
			continue;
		t->sessions++;
		samples_add(&ideal, (double)sums.ideal / (double)sums.prompt);
		samples_add(&found, (double)sums.found / (double)sums.prompt);
		note_worst(t, f->run->groups[BY_SESSION].list[list[i].session], &sums);
	}
	metric_summary_of_samples(&t->ideal_share, &ideal, 0, 1, percentiles);
	metric_summary_of_samples(&t->found_share, &found, 0, 1, percentiles);
	struct metric_summary *const shares[] = {&t->ideal_share, &t->found_share};
	for (int i = 0; i < 2; i++)
		shares[i]->high = shares[i]->high > 1 ? 1 : shares[i]->high; /* the end of an interval */
	int bad = !list || ideal.failed || found.failed ? -1 : 0;
	samples_release(&ideal);
	samples_release(&found);
	free(list);
	return bad;
}

/* ---- all of it ---- */

static int64_t our_tokens(const struct follower *f)
{
	int64_t sum = 0;
	for (int64_t i = 0; i < f->w->started_count; i++) {
		const struct workload_request *r = workload_request_of(f->w, f->w->started[i]);
		sum += r && is_counted(f->run, f->w->started[i]) ? r->tokens : 0;
	}
	return sum;
}

/* As the servers say; of several, the shortest. */
static int64_t stated_block(const struct run_data *run)
{
	double least = INFINITY;
	for (int i = 0; run->samples && i < sample_store_sources(run->samples); i++)
		least = fmin(least, sample_store_gauge_figures(run->samples, i, "cache_block_tokens", &sample_range_all).p50);
	return least >= 1 && least <= CACHE_BLOCK_MOST ? llround(least) : 0;
}

static void choose_block(struct cache_truth *t, const struct run_data *run, int64_t given)
{
	int64_t block = given ? given : stated_block(run);
	t->block_from = block < t->block_tokens ? "assumed" : given ? "option" : "metrics";
	t->server_block = block > t->block_tokens ? block : 0;
}

int cache_truth_find(struct cache_truth *t, const struct workload *w, const struct run_data *run,
                     const struct cache_options *options, struct ipf_error *err)
{
	*t = (struct cache_truth){.absent = w->no_blocks, .size = {.share = NAN}};
	t->block_tokens = (int64_t)PROMPT_BLOCK << w->tree.joined;
	choose_block(t, run, options->block_tokens);
	t->bounds = calloc((size_t)w->started_count + 1, sizeof *t->bounds);
	struct follower f = {.t = t, .w = w, .run = run};
	if (!t->bounds)
		return ipf_error_memory(err);
	if (t->absent)
		return 0;
	int bad = follow_all(&f, options->size_tokens / t->block_tokens);
	if (bad == 0) {
		sum_up(t, &f);
		take_curve(t, &f.curve, options->size_tokens, our_tokens(&f));
		find_no_warm(t, run);
		bad = sum_sessions(t, &f, options->percentiles);
	}
	if (bad == 0 && t->all.prompt == 0)
		t->absent = "no successful request has a prompt in the trace";
	prefix_use_release(&f.use);
	lru_curve_release(&f.curve);
	free(f.path);
	return bad < 0 ? ipf_error_memory(err) : 0;
}

void cache_truth_judge(const struct cache_truth *t, const struct run_data *run)
{
	char share[32];
	if (t->absent || t->no_warm || t->warm_of <= 0 || run_data_cache_filled(run))
		return;
	verdict_cache_known(run->verdict, (double)t->all.ideal / (double)t->all.prompt);
	double warm = (double)t->warm / (double)t->warm_of;
	if (warm > VERDICT_WARM_DOUBTFUL)
		verdict_note(run->verdict, VERDICT_SAMPLES, VERDICT_DOUBTFUL,
		             "the prefix cache was warm: it had %s of the prompt tokens sent for the first time in this run",
		             verdict_percent(warm, share));
}

void cache_truth_release(struct cache_truth *t)
{
	free(t->bounds);
}

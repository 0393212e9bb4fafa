#include "figures/server_figures.h"

#include "absent.h"
#include "loopback.h"
#include "stats/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- targets ---- */

/* "host:port" of a URL, borrowed from it. */
static struct slice authority(const char *url)
{
	const char *begin = strstr(url, "://");
	begin = begin ? begin + 3 : url;
	struct slice found = {begin, strcspn(begin, "/?#")};
	const char *at = memchr(found.data, '@', found.len);
	if (at)
		found = (struct slice){at + 1, found.len - (size_t)(at + 1 - begin)};
	return found;
}

/* The entry of a target in the trailer of its part; NULL. */
static json_t *described(const struct run_part *part, const char *name)
{
	json_t *list = json_object_get(json_object_get(part->trailer, "server"), "targets"), *entry;
	size_t i;
	json_array_foreach(list, i, entry)
	{
		const char *own = json_string_value(json_object_get(entry, "target"));
		if (own && strcmp(own, name) == 0)
			return entry;
	}
	return NULL;
}

static int client_target(const struct run_data *run, const char *url)
{
	for (int i = 0; url && i < run->groups[BY_TARGET].count; i++)
		if (slice_equal(authority(run->groups[BY_TARGET].list[i]), authority(url)))
			return i;
	return -1;
}

static const char *host_of(const struct run_part *part)
{
	const char *name = json_string_value(json_object_get(json_object_get(part->records, "host"), "name"));
	return name ? name : "";
}

/* Did two shards scrape the same server? An address of the machine itself is another server on another machine. */
static bool same_target(const struct run_data *run, const struct server_target_figures *a,
                        const struct server_target_figures *b)
{
	if (strcmp(a->name, b->name) != 0 || (a->url && b->url && strcmp(a->url, b->url) != 0))
		return false;
	return !a->url || !url_is_loopback(a->url) ||
	       strcmp(host_of(&run->parts[a->part]), host_of(&run->parts[b->part])) == 0;
}

static int list_targets(struct server_figures *f, const struct run_data *run)
{
	f->count = run->servers.count;
	f->targets = calloc((size_t)f->count + 1, sizeof *f->targets);
	f->sources = calloc((size_t)f->count + 1, sizeof *f->sources);
	if (!f->targets || !f->sources)
		return -1;
	for (int i = 0; i < f->count; i++) {
		const struct server_target *from = &run->servers.targets[i];
		struct server_target_figures *to = &f->targets[i];
		const char *name = sample_store_source_name(run->samples, from->source);
		json_t *entry = described(&run->parts[from->part], name);
		*to = (struct server_target_figures){.name = name,
		                                     .server = from->server,
		                                     .last_error = from->last_error,
		                                     .url = json_string_value(json_object_get(entry, "url")),
		                                     .source = from->source,
		                                     .part = from->part,
		                                     .readings = from->readings,
		                                     .failed = from->failed,
		                                     .restarts = from->restarts,
		                                     .restarted_ns = from->restarted_ns,
		                                     .counts = true,
		                                     .missing = json_object_get(entry, "missing")};
		to->client = client_target(run, to->url);
		for (int k = 0; run->shards && k < i; k++) {
			struct server_target_figures *other = &f->targets[k];
			if (!other->counts || !same_target(run, to, other))
				continue;
			if (to->readings - to->failed > other->readings - other->failed)
				other->counts = false;
			else
				to->counts = false;
		}
	}
	for (int i = 0; i < f->count; i++)
		if (f->targets[i].counts)
			f->sources[f->sources_count++] = f->targets[i].source;
	return 0;
}

/* The first of ipf-fire's URLs whose server is not scraped, if the others' are. */
static const char *find_not_scraped(const struct server_figures *f, const struct run_data *run)
{
	const struct string_table *urls = &run->groups[BY_TARGET];
	const char *missing = NULL;
	bool any = false;
	for (int i = 0; i < urls->count; i++) {
		bool found = false;
		for (int k = 0; k < f->count; k++)
			found |= f->targets[k].client == i && f->targets[k].readings > f->targets[k].failed;
		any |= found;
		if (!found && !missing)
			missing = urls->list[i];
	}
	return any ? missing : NULL;
}

/* ---- the client's requests ---- */

struct client_sums {
	struct samples latency[COMPARED_LATENCIES];
	struct samples more_input; /* input tokens by the usage - those of the trace */
	double gaps, gaps_ns, wait_ns, ttfb_ns, cached, cached_input, connect_min;
	int64_t started, with_ttfb, tokens_known, by_usage;
	bool several_tokens; /* an event brings more than one token */
};

static double known(int64_t value)
{
	return value == IPF_ABSENT ? 0 : (double)value;
}

static void add_latency(struct samples *s, int64_t value)
{
	if (value != IPF_ABSENT)
		samples_add(s, (double)value);
}

static void add_success(struct client_sums *sums, const struct row *row)
{
	add_latency(&sums->latency[COMPARED_TTFT], row_get(row, METRIC_TTFT));
	add_latency(&sums->latency[COMPARED_TPOT], row_get(row, METRIC_TPOT));
	add_latency(&sums->latency[COMPARED_E2E], row_get(row, METRIC_E2E));
	if (row_get(row, METRIC_TTFT) != IPF_ABSENT && row_get(row, METRIC_E2E) != IPF_ABSENT &&
	    row_get(row, ROW_EVENTS) > 1) {
		sums->gaps += (double)(row_get(row, ROW_EVENTS) - 1);
		sums->gaps_ns += (double)(row_get(row, METRIC_E2E) - row_get(row, METRIC_TTFT));
		sums->several_tokens |= known(row_get(row, ROW_OUTPUT_TOKENS)) > 1.02 * (double)row_get(row, ROW_EVENTS) + 1;
	}
	if (row_get(row, METRIC_TTFB) != IPF_ABSENT) {
		sums->ttfb_ns += (double)row_get(row, METRIC_TTFB);
		sums->with_ttfb++;
	}
	if (row_get(row, ROW_CACHED_TOKENS) != IPF_ABSENT && row_get(row, ROW_INPUT_TOKENS) != IPF_ABSENT) {
		sums->cached += (double)row_get(row, ROW_CACHED_TOKENS);
		sums->cached_input += (double)row_get(row, ROW_INPUT_TOKENS);
	}
	if (row_get(row, ROW_INPUT_USAGE) != IPF_ABSENT && row_get(row, ROW_ASKED_INPUT) != IPF_ABSENT)
		samples_add(&sums->more_input, (double)(row_get(row, ROW_INPUT_USAGE) - row_get(row, ROW_ASKED_INPUT)));
	sums->tokens_known += row_get(row, ROW_OUTPUT_TOKENS) != IPF_ABSENT;
	sums->by_usage += row->source == 0;
}

/* Did the client end the request, so the server may have gone on with it? */
static bool is_given_up(const struct row *row)
{
	return row->error >= 0 && (strcmp(verdict_kinds[row->error], "timeout") == 0 || row->error == VERDICT_HUNG_UP ||
	                           row->error == VERDICT_CANCELLED || row->error == VERDICT_TOO_LARGE);
}

static void add_given_up(struct client_facts *c, const struct row *row)
{
	if (row_get(row, ROW_INPUT_TOKENS) == IPF_ABSENT)
		c->unknown_input += known(row_get(row, ROW_ASKED_INPUT));
	if (!is_given_up(row))
		return;
	c->given_up++;
	c->given_up_early += known(row_get(row, ROW_EVENTS)) < 1;
	c->given_up_input += known(row_get(row, ROW_INPUT_TOKENS));
	c->given_up_output += known(row_get(row, ROW_OUTPUT_TOKENS));
}

/* Adds a request at the server within the range; `inside`: only then. */
static void add_row(struct client_facts *c, struct client_sums *sums, const struct row *row, bool inside, bool ended)
{
	if (!inside) {
		c->edges++;
		c->edge_input += known(row_get(row, ROW_INPUT_TOKENS));
		c->edge_output += known(row_get(row, ROW_OUTPUT_TOKENS));
	}
	if (!ended)
		return;
	c->ended++;
	c->ok += row->ok;
	add_given_up(c, row);
	c->input_tokens += known(row_get(row, ROW_INPUT_TOKENS));
	c->output_tokens += known(row_get(row, ROW_OUTPUT_TOKENS));
	if (!row->ok && row_get(row, ROW_ASKED_OUTPUT) != IPF_ABSENT &&
	    known(row_get(row, ROW_OUTPUT_TOKENS)) < (double)row_get(row, ROW_ASKED_OUTPUT))
		c->unknown_output += (double)row_get(row, ROW_ASKED_OUTPUT) - known(row_get(row, ROW_OUTPUT_TOKENS));
	sums->wait_ns += known(row_get(row, METRIC_SLOT_WAIT)) + known(row_get(row, ROW_POOL_WAIT_NS));
	sums->started++;
	if (row->ok)
		add_success(sums, row);
}

/* Each answer has the same few input tokens more than its prompt: the server's additions. An approximate count of the
 * prompt differs by another number each time. */
static double template_tokens(struct samples *more)
{
	if (more->count < 2)
		return NAN;
	double least = samples_percentile(more, 0), most = samples_percentile(more, 100);
	return least >= 1 && most - least <= fmax(0, 0.1 * least) ? samples_mean(more) : NAN;
}

static void finish_client(struct client_facts *c, struct client_sums *sums)
{
	for (int i = 0; i < COMPARED_LATENCIES; i++) {
		struct samples *s = &sums->latency[i];
		c->latency[i] = (struct client_latency){.n = (int64_t)s->count,
		                                        .mean = samples_mean(s),
		                                        .p50 = samples_percentile(s, 50),
		                                        .p90 = samples_percentile(s, 90),
		                                        .p99 = samples_percentile(s, 99)};
	}
	if (sums->gaps > 0 && !sums->several_tokens)
		c->latency[COMPARED_ITL] = (struct client_latency){
			.n = (int64_t)sums->gaps, .mean = sums->gaps_ns / sums->gaps, .p50 = NAN, .p90 = NAN, .p99 = NAN};
	c->usage = sums->tokens_known > 0 && (double)sums->by_usage >= 0.99 * (double)sums->tokens_known;
	c->cached_share = sums->cached_input > 0 ? sums->cached / sums->cached_input : NAN;
	c->wait_mean = sums->started > 0 ? sums->wait_ns / (double)sums->started : NAN;
	c->connect_min = sums->connect_min;
	c->ttfb_mean = sums->with_ttfb > 0 ? sums->ttfb_ns / (double)sums->with_ttfb : NAN;
	c->template_tokens = template_tokens(&sums->more_input);
}

/* The gaps of the whole run, if all of it is in the range. A gap between events that bring several tokens is no
 * inter-token latency. -1: out of memory. */
static int read_gaps(struct client_facts *c, const struct client_sums *sums, const struct run_data *run)
{
	const char *itl = run_data_itl(run, 0);
	if (c->edges || !(sums->gaps > 0) || (strcmp(itl, "token") && (strcmp(itl, "gap") || sums->several_tokens)))
		return 0;
	struct histogram *all = histogram_new();
	if (!all)
		return -1;
	for (size_t stage = 0; stage < run->schedule.count; stage++) {
		const struct histogram *gaps = run_data_gaps(run, (int32_t)stage, -1);
		if (gaps)
			histogram_merge(all, gaps);
	}
	if (histogram_count(all) > 0)
		c->latency[COMPARED_ITL] = (struct client_latency){.n = histogram_count(all),
		                                                   .mean = histogram_mean(all),
		                                                   .p50 = histogram_percentile(all, 50),
		                                                   .p90 = histogram_percentile(all, 90),
		                                                   .p99 = histogram_percentile(all, 99)};
	histogram_free(all);
	return 0;
}

static bool is_stopped(const struct run_data *run)
{
	bool stopped = false;
	for (int i = 0; i < run->part_count; i++)
		stopped |= run->parts[i].stopped_ns != IPF_ABSENT;
	return stopped;
}

/* The requests of the range, all stages, of one target or (-1) of all. -1: out of memory. */
static int read_client(struct client_facts *c, const struct run_data *run, const struct sample_range *range, int target)
{
	struct client_sums sums = {.connect_min = NAN};
	bool whole = target < 0;
	*c = (struct client_facts){.stopped = is_stopped(run)};
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		int64_t shift = run->parts[row->part].shift_ns;
		if (row->start_ns == IPF_ABSENT || (target >= 0 && row->group[BY_TARGET] != target))
			continue;
		int64_t begin = row->start_ns + shift, end = row->end_ns == IPF_ABSENT ? INT64_MAX : row->end_ns + shift;
		if (row_get(row, ROW_CONNECT_NS) != IPF_ABSENT)
			sums.connect_min = fmin(sums.connect_min, (double)row_get(row, ROW_CONNECT_NS));
		if (end < range->begin_ns || begin > range->end_ns) {
			whole = false;
			continue;
		}
		add_row(c, &sums, row, begin >= range->begin_ns && end <= range->end_ns, end <= range->end_ns);
	}
	finish_client(c, &sums);
	bool failed = sums.more_input.failed || (whole && read_gaps(c, &sums, run) < 0);
	for (int i = 0; i < COMPARED_LATENCIES; i++) {
		failed |= sums.latency[i].failed;
		samples_release(&sums.latency[i]);
	}
	samples_release(&sums.more_input);
	return failed ? -1 : 0;
}

/* ---- all of it ---- */

struct sample_range run_extent(const struct run_data *run)
{
	struct sample_range all = {INT64_MAX, INT64_MIN};
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		int64_t shift = run->parts[row->part].shift_ns;
		if (row->start_ns == IPF_ABSENT || row->end_ns == IPF_ABSENT)
			continue;
		if (row->start_ns + shift < all.begin_ns)
			all.begin_ns = row->start_ns + shift;
		if (row->end_ns + shift > all.end_ns)
			all.end_ns = row->end_ns + shift;
	}
	return all.end_ns > all.begin_ns ? all : sample_range_all;
}

/* The range covered by the increases of all targets; false: there is no such time. */
static bool find_range(struct server_figures *f, const struct run_data *run)
{
	f->range = sample_range_all;
	for (int i = 0; i < f->sources_count; i++) {
		struct sample_range one;
		if (!sample_store_increases(run->samples, f->sources[i], &one))
			continue;
		f->range.begin_ns = one.begin_ns > f->range.begin_ns ? one.begin_ns : f->range.begin_ns;
		f->range.end_ns = one.end_ns < f->range.end_ns ? one.end_ns : f->range.end_ns;
	}
	return f->range.begin_ns > INT64_MIN && f->range.end_ns > f->range.begin_ns;
}

static struct gauge_figures gauge(const struct server_figures *f, const struct run_data *run, const char *name,
                                  bool mean)
{
	return sample_store_gauge_total(run->samples, f->sources, f->sources_count, name, &f->run, mean);
}

static struct counter_figures counter(const struct server_figures *f, const struct run_data *run, const char *name)
{
	struct counter_figures sum = {NAN, 0, 0};
	for (int i = 0; i < f->sources_count; i++) {
		struct counter_figures one = sample_store_counter_figures(run->samples, f->sources[i], name, &sample_range_all);
		if (isnan(one.sum))
			continue;
		sum.sum = (isnan(sum.sum) ? 0 : sum.sum) + one.sum;
		sum.seconds = fmax(sum.seconds, one.seconds);
	}
	return sum;
}

static double share(const struct server_figures *f, const struct run_data *run, const char *part, const char *whole)
{
	double all = counter(f, run, whole).sum;
	return all > 0 ? counter(f, run, part).sum / all : NAN;
}

/* ---- the work of each target ---- */

/* Prefill workers hand a request over after its first token. */
#define PREFILL_TOKENS_MOST 1.5 /* output tokens of a request, on average */

const char *const target_role_names[] = {NULL, "prefill", "decode"};

static double increase(const struct run_data *run, int source, const char *name)
{
	return sample_store_counter_figures(run->samples, source, name, &sample_range_all).sum;
}

static double rate_of(const struct run_data *run, int source, const char *name)
{
	struct counter_figures c = sample_store_counter_figures(run->samples, source, name, &sample_range_all);
	return c.seconds > 0 ? c.sum / c.seconds : NAN;
}

static double share_of(const struct run_data *run, int source, const char *part, const char *whole)
{
	double all = increase(run, source, whole);
	return all > 0 ? increase(run, source, part) / all : NAN;
}

/* Takes the targets with it by position. */
static struct draft_positions find_positions(const struct server_figures *f, const struct run_data *run)
{
	struct draft_positions p = {.count = 0};
	double drafts = 0, accepted[DRAFT_POSITIONS] = {0};
	for (int i = 0; i < f->sources_count; i++) {
		const double of_source = increase(run, f->sources[i], "spec_drafts");
		char name[24];
		for (int k = 0; k < DRAFT_POSITIONS && of_source > 0; k++) {
			snprintf(name, sizeof name, "spec_accepted_%d", k + 1);
			const double here = increase(run, f->sources[i], name);
			if (isnan(here))
				break;
			drafts += k == 0 ? of_source : 0;
			accepted[k] += here;
			p.count = k + 1 > p.count ? k + 1 : p.count;
		}
	}
	for (int k = 0; k < p.count; k++)
		p.share[k] = accepted[k] / drafts;
	return p;
}

static struct target_work work_of(const struct run_data *run, int source)
{
	return (struct target_work){
		.requests = increase(run, source, "requests_ok"),
		.input_per_s = rate_of(run, source, "input_tokens"),
		.output_per_s = rate_of(run, source, "output_tokens"),
		.preemptions = increase(run, source, "preemptions"),
		.hit_rate = share_of(run, source, "cache_hit_tokens", "cache_query_tokens"),
		.acceptance = share_of(run, source, "spec_accepted_tokens", "spec_draft_tokens"),
	};
}

/* Output tokens of a request of the target; NAN: not known, or it had none. */
static double tokens_each(const struct run_data *run, const struct server_target_figures *t)
{
	return t->work.requests > 0 ? increase(run, t->source, "output_tokens") / t->work.requests : NAN;
}

/* There are roles if some targets stop after the first token and others do not. */
static void find_roles(struct server_figures *f, const struct run_data *run)
{
	int prefill = 0, decode = 0;
	for (int i = 0; i < f->count; i++) {
		double each = f->targets[i].counts ? tokens_each(run, &f->targets[i]) : NAN;
		prefill += each <= PREFILL_TOKENS_MOST;
		decode += each > PREFILL_TOKENS_MOST;
	}
	for (int i = 0; prefill && decode && i < f->count; i++) {
		double each = f->targets[i].counts ? tokens_each(run, &f->targets[i]) : NAN;
		f->targets[i].work.role = isnan(each) ? ROLE_UNKNOWN : each <= PREFILL_TOKENS_MOST ? ROLE_PREFILL : ROLE_DECODE;
	}
}

/* The largest of the values, divided by their mean; NAN: fewer than two are known. */
static double busiest(const struct server_figures *f, enum target_role role, size_t offset)
{
	double sum = 0, most = 0;
	int known = 0;
	for (int i = 0; i < f->count; i++) {
		const struct server_target_figures *t = &f->targets[i];
		double value = *(const double *)(const void *)((const char *)&t->work + offset);
		if (!t->counts || t->work.role != role || isnan(value))
			continue;
		sum += value;
		most = fmax(most, value);
		known++;
	}
	return known > 1 && sum > 0 ? most * known / sum : NAN;
}

static void measure_work(struct server_figures *f, const struct run_data *run)
{
	for (int i = 0; i < f->count; i++)
		f->targets[i].work = work_of(run, f->targets[i].source);
	find_roles(f, run);
	for (enum target_role r = ROLE_UNKNOWN; r <= ROLE_DECODE; r++) {
		f->balance[r] = (struct target_balance){
			.requests = busiest(f, r, offsetof(struct target_work, requests)),
			.input_tokens = busiest(f, r, offsetof(struct target_work, input_per_s)),
			.output_tokens = busiest(f, r, offsetof(struct target_work, output_per_s))};
		for (int i = 0; i < f->count; i++)
			f->balance[r].count += f->targets[i].counts && f->targets[i].work.role == r;
	}
}

/* For a target with the requests to it, or all (NULL) with all requests. */
static int compare(struct compared_figures *c, const struct server_figures *f, const struct run_data *run,
                   const struct server_target_figures *of)
{
	server_facts_read(&c->facts, run->samples, of ? &of->source : f->sources, of ? 1 : f->sources_count, &f->range);
	if (read_client(&c->client, run, &f->range, of ? of->client : -1) < 0)
		return -1;
	c->client.direct = true;
	for (int i = 0; i < f->count; i++)
		c->facts.restarts += f->targets[i].counts && (!of || of == &f->targets[i]) ? f->targets[i].restarts : 0;
	for (int i = 0; i < f->count; i++)
		c->client.direct &= (of && of != &f->targets[i]) || !f->targets[i].counts || f->targets[i].client >= 0;
	server_comparison_make(&c->comparison, &c->client, &c->facts);
	return 0;
}

/* Each target alone, with the requests to its host and port. For a host that several targets are on, none is. */
static int compare_targets(struct server_figures *f, const struct run_data *run)
{
	int working = 0;
	for (int i = 0; i < f->count; i++)
		working += f->targets[i].counts && f->targets[i].readings > f->targets[i].failed;
	if (working < 2 && run->groups[BY_TARGET].count < 2)
		return 0;
	for (int i = 0; i < f->count; i++) {
		struct server_target_figures *t = &f->targets[i];
		bool alone = t->counts && t->client >= 0 && t->readings > t->failed;
		for (int k = 0; k < f->count; k++)
			alone &= k == i || !f->targets[k].counts || f->targets[k].client != t->client;
		if (!alone)
			continue;
		if (!(t->compared = calloc(1, sizeof *t->compared)) || compare(t->compared, f, run, t) < 0)
			return -1;
	}
	return 0;
}

int server_figures_build(struct server_figures *f, const struct run_data *run, struct ipf_error *err)
{
	*f = (struct server_figures){0};
	if (list_targets(f, run) < 0)
		return ipf_error_memory(err);
	if (f->count == 0)
		return 0;
	f->run = run_extent(run);
	measure_work(f, run);
	f->running = gauge(f, run, "running", false);
	f->waiting = gauge(f, run, "waiting", false);
	f->kv_cache = gauge(f, run, "kv_cache_usage", true);
	f->replicas = gauge(f, run, "replicas_ready", false);
	f->input = counter(f, run, "input_tokens");
	f->output = counter(f, run, "output_tokens");
	f->preemptions = counter(f, run, "preemptions");
	f->hit_rate = share(f, run, "cache_hit_tokens", "cache_query_tokens");
	f->acceptance = share(f, run, "spec_accepted_tokens", "spec_draft_tokens");
	f->positions = find_positions(f, run);
	if (!find_range(f, run) || (run->part_count > 1 && !run->shards))
		return 0;
	if (compare(&f->all, f, run, NULL) < 0 || compare_targets(f, run) < 0)
		return ipf_error_memory(err);
	f->not_scraped = find_not_scraped(f, run);
	f->compared = true;
	return 0;
}

int server_draft_acceptance(double *acceptance, const struct run_data *run, struct ipf_error *err)
{
	struct server_figures f = {0};
	const bool listed = list_targets(&f, run) == 0;
	*acceptance = listed && f.count > 0 ? share(&f, run, "spec_accepted_tokens", "spec_draft_tokens") : NAN;
	server_figures_release(&f);
	return listed ? 0 : ipf_error_memory(err);
}

void server_figures_release(struct server_figures *f)
{
	server_facts_release(&f->all.facts);
	for (int i = 0; f->targets && i < f->count; i++) {
		if (f->targets[i].compared)
			server_facts_release(&f->targets[i].compared->facts);
		free(f->targets[i].compared);
	}
	free(f->targets);
	free(f->sources);
	*f = (struct server_figures){0};
}

static bool is_text(json_t *object, const char *key, const char *text)
{
	const char *own = json_string_value(json_object_get(object, key));
	return strcmp(own ? own : "", text) == 0;
}

static json_t *energy_entry(const struct run_part *part, const struct gpu_device *d)
{
	json_t *entry;
	size_t i;
	json_array_foreach(json_object_get(part->trailer, "accelerators"), i, entry)
	{
		if (is_text(entry, "source", d->from) && is_text(entry, "host", d->host) && is_text(entry, "device", d->device))
			return entry;
	}
	return NULL;
}

struct accelerator_figures accelerator_figures_of(const struct run_data *run, int device)
{
	const struct gpu_device *d = &run->accelerators.devices[device];
	struct accelerator_figures f = {.device = d};
	struct sample_range range = run_extent(run);
	struct {
		struct gauge_figures *to;
		const char *name;
	} gauges[] = {{&f.utilization, "utilization"},
	              {&f.bandwidth, "memory_bandwidth"},
	              {&f.memory_used, "memory_used_bytes"},
	              {&f.memory_total, "memory_total_bytes"},
	              {&f.power, "power_w"},
	              {&f.sm_clock, "sm_clock_hz"},
	              {&f.temperature, "temperature_c"}};
	for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++)
		*gauges[i].to = sample_store_gauge_figures(run->samples, d->source, gauges[i].name, &range);
	f.energy = energy_entry(&run->parts[d->part], d);
	return f;
}

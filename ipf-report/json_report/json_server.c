#include "figures/server_figures.h"
#include "json_report/json_figures.h"
#include "json_report/json_report.h"

#include <math.h>

static json_t *gauge_json(const struct gauge_figures *f)
{
	json_t *json = json_object();
	json_put(json, "mean", f->mean);
	json_put(json, "p50", f->p50);
	json_put(json, "p90", f->p90);
	json_put(json, "max", f->max);
	return json;
}

static json_t *rate_json(const struct counter_figures *f)
{
	json_t *json = json_object();
	json_put(json, "sum", f->sum);
	if (f->seconds > 0)
		json_put(json, "per_s", f->sum / f->seconds);
	return json;
}

/* The server's quantiles as [interpolated, lowest, highest]: the last two are certain. */
static void put_quantile(json_t *to, const char *name, const struct bucket_histogram *h, double p)
{
	struct bucket_quantile q = bucket_histogram_quantile(h, p);
	if (!isnan(q.value))
		json_object_set_new(
			to, name,
			json_pack("[o, o, o]", json_figure(q.value / 1e6), json_figure(q.low / 1e6), json_figure(q.high / 1e6)));
}

static json_t *latency_json(const struct compared_figures *f, enum compared_latency which)
{
	const struct client_latency *a = &f->client.latency[which];
	const struct bucket_histogram *b = &f->facts.latency[which];
	json_t *json = json_object(), *client = json_object(), *server = json_object();
	if (a->n > 0 && b->n > 0) {
		json_put_count(client, "n", a->n);
		json_put(client, "mean", a->mean / 1e6);
		json_put(client, "p50", a->p50 / 1e6);
		json_put(client, "p90", a->p90 / 1e6);
		json_put(client, "p99", a->p99 / 1e6);
	}
	if (b->n > 0) {
		json_put(server, "n", b->n);
		json_put(server, "mean", bucket_histogram_mean(b) / 1e6);
		put_quantile(server, "p50", b, 50);
		put_quantile(server, "p90", b, 90);
		put_quantile(server, "p99", b, 99);
	}
	json_put_object(json, "client", client);
	json_put_object(json, "server", server);
	return json;
}

static void put_pair(json_t *to, const char *name, double client, double server)
{
	json_t *json = json_object();
	if (!isnan(server)) {
		json_put(json, "client", client);
		json_put(json, "server", server);
	}
	json_put_object(to, name, json);
}

/* The server's tokens for requests the client gave up, beyond those the client got: its counter less the tokens of all
 * answers. Tokens at the edges of the range make it uncertain. */
static json_t *unreceived_json(const struct compared_figures *c)
{
	double more = c->facts.output_tokens - c->client.output_tokens;
	if (c->client.given_up == 0 || !(more >= 0) || !(c->facts.output_tokens > 0) || c->client.stopped)
		return NULL;
	return json_pack("{s:I, s:f, s:f, s:f, s:f}", "requests", (json_int_t)c->client.given_up, "tokens", more, "share",
	                 more / c->facts.output_tokens, "received", c->client.given_up_output, "edge_tokens",
	                 c->client.edge_output);
}

static json_t *comparison_json(const struct server_figures *f, const struct compared_figures *c)
{
	json_t *json = json_object(), *notes = json_array();
	char name[16];
	json_put(json, "begin_s", (double)f->range.begin_ns / 1e9);
	json_put(json, "end_s", (double)f->range.end_ns / 1e9);
	put_pair(json, "requests", (double)c->client.ended, c->facts.requests);
	put_pair(json, "input_tokens", c->client.input_tokens, c->facts.input_tokens);
	put_pair(json, "output_tokens", c->client.output_tokens, c->facts.output_tokens);
	json_t *unreceived = unreceived_json(c);
	if (unreceived)
		json_object_set_new(json, "unreceived", unreceived);
	put_pair(json, "hit_rate", c->client.cached_share, c->facts.hit_rate);
	put_pair(json, "queue_ms", c->client.wait_mean / 1e6, c->facts.queue_mean / 1e6);
	json_put(json, "connect_ms", c->client.connect_min / 1e6);
	for (enum compared_latency i = 0; i < COMPARED_LATENCIES; i++) {
		snprintf(name, sizeof name, "%s_ms", compared_latency_names[i]);
		json_put_object(json, name, latency_json(c, i));
	}
	for (int i = 0; i < c->comparison.count; i++) {
		const struct comparison_note *n = &c->comparison.notes[i];
		json_array_append_new(notes, json_pack("{s:s, s:s}", "kind", comparison_kind_names[n->kind], "text", n->text));
	}
	json_put_object(json, "differences", notes);
	return json;
}

static json_t *target_json(const struct server_figures *figures, const struct server_target_figures *t,
                           const struct sample_store *samples)
{
	json_t *json = json_object();
	json_put_text(json, "target", t->name);
	json_put_text(json, "url", t->url);
	json_put_text(json, "server", t->server);
	json_put_count(json, "scrapes", t->readings);
	json_put_count(json, "failed", t->failed);
	json_put_text(json, "last_error", t->last_error);
	if (t->restarts > 0) {
		json_put_count(json, "restarts", t->restarts);
		json_put(json, "restarted_s", (double)t->restarted_ns / 1e9);
	}
	json_put_object(json, "missing", json_incref(t->missing));
	if (!t->counts)
		json_object_set_new(json, "counts", json_false());
	static const char *const gauges[] = {"running", "waiting", "kv_cache_usage", "replicas_ready"};
	for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++) {
		struct gauge_figures f = sample_store_gauge_figures(samples, t->source, gauges[i], &figures->run);
		json_put_object(json, gauges[i], gauge_json(&f));
	}
	json_put_text(json, "role", target_role_names[t->work.role]);
	json_put(json, "requests", t->work.requests);
	json_put(json, "input_tokens_per_s", t->work.input_per_s);
	json_put(json, "output_tokens_per_s", t->work.output_per_s);
	json_put(json, "preemptions", t->work.preemptions);
	json_put(json, "hit_rate", t->work.hit_rate);
	json_put(json, "acceptance", t->work.acceptance);
	if (t->compared)
		json_object_set_new(json, "comparison", comparison_json(figures, t->compared));
	return json;
}

static json_t *balance_json(const struct server_figures *f)
{
	json_t *list = json_array();
	for (enum target_role r = ROLE_UNKNOWN; r <= ROLE_DECODE; r++) {
		const struct target_balance *b = &f->balance[r];
		if (isnan(b->requests) && isnan(b->input_tokens) && isnan(b->output_tokens))
			continue;
		json_t *json = json_object();
		json_put_text(json, "role", target_role_names[r]);
		json_put_count(json, "targets", b->count);
		json_put(json, "requests", b->requests);
		json_put(json, "input_tokens", b->input_tokens);
		json_put(json, "output_tokens", b->output_tokens);
		json_array_append_new(list, json);
	}
	return list;
}

/* The trailers' members about the queries to a Prometheus. */
static json_t *prometheus_json(const struct run_data *run)
{
	json_t *list = json_array();
	for (int i = 0; i < run->part_count; i++)
		if (run_part_prometheus(&run->parts[i]))
			json_array_append(list, run_part_prometheus(&run->parts[i]));
	return list;
}

/* For each position, the drafts accepted up to it. */
static json_t *positions_json(const struct draft_positions *p)
{
	json_t *json = json_object();
	char name[12];
	for (int k = 0; k < p->count; k++) {
		snprintf(name, sizeof name, "%d", k + 1);
		json_put(json, name, p->share[k]);
	}
	return json;
}

/* For each number of tokens, the drafts with so many accepted, and no more. */
static json_t *accepted_json(const struct draft_positions *p)
{
	json_t *json = json_object();
	char name[12];
	for (int k = 0; k <= p->count && p->count; k++) {
		const double here = k ? p->share[k - 1] : 1, further = k < p->count ? p->share[k] : 0;
		snprintf(name, sizeof name, "%d%s", k, k == DRAFT_POSITIONS ? "+" : "");
		json_put(json, name, here > further ? here - further : 0);
	}
	return json;
}

json_t *json_server(const struct report *report)
{
	const struct server_figures *f = report->servers;
	json_t *json = json_object(), *targets = json_array();
	for (int i = 0; i < f->count; i++)
		json_array_append_new(targets, target_json(f, &f->targets[i], report->run->samples));
	json_put_object(json, "targets", targets);
	if (f->count > 0) {
		json_put_object(json, "running", gauge_json(&f->running));
		json_put_object(json, "waiting", gauge_json(&f->waiting));
		json_put_object(json, "kv_cache_usage", gauge_json(&f->kv_cache));
		json_put_object(json, "replicas_ready", gauge_json(&f->replicas));
		json_put_object(json, "input_tokens", rate_json(&f->input));
		json_put_object(json, "output_tokens", rate_json(&f->output));
		json_put(json, "preemptions", f->preemptions.sum);
		json_put(json, "hit_rate", f->hit_rate);
		json_put(json, "acceptance", f->acceptance);
		json_put_object(json, "accepted_at", positions_json(&f->positions));
		json_put_object(json, "drafts_by_accepted", accepted_json(&f->positions));
		json_put_object(json, "balance", balance_json(f));
		if (f->compared) {
			json_t *all = comparison_json(f, &f->all);
			json_put_text(all, "not_scraped", f->not_scraped);
			json_object_set_new(json, "comparison", all);
		}
	}
	json_put_object(json, "prometheus", prometheus_json(report->run));
	return json;
}

/* A row of the results, as figures of a report. */
static json_t *energy_json(const json_t *row)
{
	json_t *json = json_object(), *value;
	const char *name;
	json_object_foreach((json_t *)row, name, value) if (json_is_real(value))
		json_put(json, name, json_real_value(value));
	else json_object_set(json, name, value);
	return json;
}

json_t *json_accelerators(const struct report *report)
{
	json_t *list = json_array();
	for (int i = 0; i < report->run->accelerators.count; i++) {
		struct accelerator_figures f = accelerator_figures_of(report->run, i);
		json_t *json = json_object();
		json_put_text(json, "device", f.device->device);
		json_put_text(json, "host", f.device->host);
		json_put_text(json, "model", f.device->model);
		json_put_text(json, "source", f.device->from);
		json_put_count(json, "index", f.device->index);
		json_put_object(json, "utilization", gauge_json(&f.utilization));
		json_put_object(json, "memory_bandwidth", gauge_json(&f.bandwidth));
		json_put_object(json, "memory_used_bytes", gauge_json(&f.memory_used));
		json_put(json, "memory_total_bytes", f.memory_total.max);
		json_put_object(json, "power_w", gauge_json(&f.power));
		json_put_object(json, "sm_clock_hz", gauge_json(&f.sm_clock));
		json_put_object(json, "temperature_c", gauge_json(&f.temperature));
		json_put_object(json, "energy", energy_json(f.energy));
		json_array_append_new(list, json);
	}
	return list;
}

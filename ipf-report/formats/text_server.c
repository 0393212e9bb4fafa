#include "formats/text_server.h"

#include "absent.h"
#include "safe_text.h"
#include "series/energy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TARGETS_MOST  8  /* that failed, of which each has a line */
#define DEVICES_MOST  16 /* one more rather than "1 more" */
#define COMPARED_MOST 16

/* ---- the server ---- */

/* Counts have no decimals. */
static const char *show_value(double value, bool percent, char text[40])
{
	bool whole = fabs(value - round(value)) < 1e-9 && fabs(value) < 1e15;
	return percent ? show_percent(value, text) : whole ? show_count((int64_t)value, text) : show_number(value, text);
}

static void show_gauge(struct layout *l, const char *label, const struct gauge_figures *f, bool percent)
{
	char text[160], mean[40], p90[40], most[40];
	if (isnan(f->mean))
		return;
	snprintf(text, sizeof text, "%s in the mean, p90 %s, at most %s", show_value(f->mean, percent, mean),
	         show_value(f->p90, percent, p90), show_value(f->max, percent, most));
	layout_entry(l, label, text);
}

static void show_share(struct layout *l, const char *label, double share, const char *of)
{
	char text[120], number[40];
	if (isnan(share))
		return;
	snprintf(text, sizeof text, "%s %s", show_percent(share, number), of);
	layout_entry(l, label, text);
}

static void show_preemptions(struct layout *l, const struct server_figures *f)
{
	char number[40];
	if (f->preemptions.sum > 0)
		layout_entry(l, "preemptions", show_number(f->preemptions.sum, number));
}

/* A quantile of the server's: where it is for certain, unless the bucket has no end. */
static void show_quantile(struct layout *l, int column, const struct bucket_histogram *h, double p)
{
	struct bucket_quantile q = bucket_histogram_quantile(h, p);
	char text[90], low[40], high[40];
	if (isnan(q.value))
		snprintf(text, sizeof text, "-");
	else if (isinf(q.high))
		snprintf(text, sizeof text, "over %s", show_narrow_number(q.low / 1e6, 8, low));
	else
		snprintf(text, sizeof text, "%s to %s", show_narrow_number(q.low / 1e6, 8, low),
		         show_narrow_number(q.high / 1e6, 8, high));
	layout_right(l, column, PLAIN, text);
}

enum { MEAN_END = 34, P50_END = 49, P90_END = 64, P99_END = WIDTH };

static void show_compared(struct layout *l, const struct compared_figures *f, enum compared_latency which)
{
	static const char *const labels[COMPARED_LATENCIES] = {"TTFT", "TPOT", "ITL", "E2E"};
	const struct client_latency *a = &f->client.latency[which];
	const struct bucket_histogram *b = &f->facts.latency[which];
	char text[40];
	if (a->n == 0 || !(b->n > 0))
		return;
	layout_to(l, 2);
	layout_text(l, PLAIN, labels[which]);
	layout_to(l, 14);
	layout_text(l, FAINT, "client");
	layout_right(l, MEAN_END, PLAIN, show_number(a->mean / 1e6, text));
	layout_right(l, P50_END, PLAIN, show_number(a->p50 / 1e6, text));
	layout_right(l, P90_END, PLAIN, show_number(a->p90 / 1e6, text));
	layout_right(l, P99_END, PLAIN, show_number(a->p99 / 1e6, text));
	layout_end_line(l);
	layout_to(l, 14);
	layout_text(l, FAINT, "server");
	layout_right(l, MEAN_END, PLAIN, show_number(bucket_histogram_mean(b) / 1e6, text));
	show_quantile(l, P50_END, b, 50);
	show_quantile(l, P90_END, b, 90);
	show_quantile(l, P99_END, b, 99);
	layout_end_line(l);
}

static void show_differences(struct layout *l, const struct server_comparison *c, const char *target)
{
	for (int i = 0; i < c->count; i++) {
		layout_to(l, 2);
		layout_text(l, WARN, "differs");
		layout_to(l, 14);
		char text[600];
		snprintf(text, sizeof text, "%s%s%s", target ? shown(target).text : "", target ? ": " : "", c->notes[i].text);
		layout_wrapped(l, 14, PLAIN, text);
	}
}

static void show_table(struct layout *l, const struct compared_figures *f)
{
	bool any = false;
	for (int i = 0; i < COMPARED_LATENCIES; i++)
		any |= f->client.latency[i].n > 0 && f->facts.latency[i].n > 0;
	if (any) {
		layout_heading(l, "Client and server, ms");
		layout_right(l, MEAN_END, FAINT, "mean");
		layout_right(l, P50_END, FAINT, "p50");
		layout_right(l, P90_END, FAINT, "p90");
		layout_right(l, P99_END, FAINT, "p99");
		layout_end_line(l);
	}
	for (int i = 0; i < COMPARED_LATENCIES; i++)
		show_compared(l, f, (enum compared_latency)i);
}

static void show_comparison(struct layout *l, const struct server_figures *f)
{
	char text[400], client[40], server[40];
	const struct compared_figures *all = &f->all;
	show_table(l, all);
	if (!isnan(all->facts.queue_mean)) {
		snprintf(text, sizeof text, "%s ms in the server's queue, %s ms for a slot or connection of the client (means)",
		         show_number(all->facts.queue_mean / 1e6, server), show_number(all->client.wait_mean / 1e6, client));
		layout_entry(l, "queueing", text);
	}
	if (!isnan(all->client.connect_min)) {
		snprintf(text, sizeof text, "%s ms at least to open a connection: about one round trip",
		         show_number(all->client.connect_min / 1e6, client));
		layout_entry(l, "network", text);
	}
	show_differences(l, &all->comparison, NULL);
	if (f->not_scraped) {
		snprintf(text, sizeof text, "%s", shown(f->not_scraped).text);
		layout_entry(l, "not scraped", text);
	}
}

/* ---- targets alone ---- */

enum { REQUESTS_END = 46, TTFT_END = 63, TPOT_END = WIDTH };

/* "CLIENT / SERVER" */
static void show_pair(struct layout *l, int column, double client, double server)
{
	char text[90], a[40], b[40];
	snprintf(text, sizeof text, "%s / %s", isnan(client) ? "-" : show_value(client, false, a),
	         isnan(server) ? "-" : show_value(server, false, b));
	layout_right(l, column, PLAIN, text);
}

static void show_target_pairs(struct layout *l, const struct server_target_figures *t)
{
	const struct compared_figures *c = t->compared;
	const enum compared_latency list[] = {COMPARED_TTFT, COMPARED_TPOT};
	const int ends[] = {TTFT_END, TPOT_END};
	layout_to(l, 2);
	layout_clipped(l, 28, PLAIN, t->name);
	show_pair(l, REQUESTS_END, (double)c->client.ended, round(c->facts.requests));
	for (int i = 0; i < 2; i++) {
		const struct client_latency *client = &c->client.latency[list[i]];
		show_pair(l, ends[i], client->n ? client->mean / 1e6 : NAN,
		          bucket_histogram_mean(&c->facts.latency[list[i]]) / 1e6);
	}
	layout_end_line(l);
}

static void show_compared_targets(struct layout *l, const struct server_figures *f)
{
	int lines = 0, more = 0;
	for (int i = 0; i < f->count; i++) {
		if (!f->targets[i].compared)
			continue;
		if (lines == 0) {
			layout_heading(l, "Client / server, means");
			layout_right(l, REQUESTS_END, FAINT, "requests");
			layout_right(l, TTFT_END, FAINT, "TTFT, ms");
			layout_right(l, TPOT_END, FAINT, "TPOT, ms");
			layout_end_line(l);
		}
		if (lines++ < COMPARED_MOST)
			show_target_pairs(l, &f->targets[i]);
		else
			more++;
	}
	if (more > 0) {
		layout_to(l, 2);
		layout_format(l, FAINT, "%d target%s more", more, plural(more));
		layout_end_line(l);
	}
	for (int i = 0, left = COMPARED_MOST; i < f->count && left > 0; i++)
		if (f->targets[i].compared) {
			show_differences(l, &f->targets[i].compared->comparison, f->targets[i].name);
			left--;
		}
}

/* Targets of which readings failed or, if verbose, that lack figures. */
static void show_targets(struct layout *l, const struct report *report)
{
	const struct server_figures *f = report->servers;
	char text[600], failed[40], all[40];
	int more = 0, lines = 0;
	for (int i = 0; i < f->count; i++) {
		const struct server_target_figures *t = &f->targets[i];
		if (t->failed == 0)
			continue;
		if (lines++ >= TARGETS_MOST) {
			more++;
			continue;
		}
		snprintf(text, sizeof text, "%s: %s of %s scrapes failed: %s", shown(t->name).text,
		         show_count(t->failed, failed), show_count(t->readings, all), t->last_error);
		layout_entry(l, lines == 1 ? "not reached" : "", text);
	}
	if (more > 0) {
		snprintf(text, sizeof text, "%d target%s more", more, plural(more));
		layout_entry(l, "", text);
	}
	for (int i = 0; report->verbose && i < f->count; i++) {
		json_t *name;
		size_t k;
		text[0] = 0;
		json_array_foreach(f->targets[i].missing, k, name) join(text, sizeof text, ", ", json_string_value(name), "");
		if (text[0])
			layout_entry(l, "missing", text);
	}
}

/* What went wrong when a Prometheus was asked; an error of an expression has a line of its own. */
static int show_prometheus_errors(struct layout *l, json_t *prometheus, int lines)
{
	const char *error = json_string_value(json_object_get(prometheus, "error")), *own;
	const char *url = json_string_value(json_object_get(prometheus, "url"));
	json_t *query;
	char text[900];
	size_t i;
	int before = lines;
	json_array_foreach(json_object_get(prometheus, "queries"), i, query)
	{
		if (!(own = json_string_value(json_object_get(query, "error"))) || lines >= TARGETS_MOST)
			continue;
		const char *name = json_string_value(json_object_get(query, "name"));
		snprintf(text, sizeof text, "%s: %s", shown(name ? name : "").text, shown(own).text);
		layout_entry(l, lines++ ? "" : "prometheus", text);
	}
	if (!error || lines > before || lines >= TARGETS_MOST)
		return lines;
	snprintf(text, sizeof text, "%s: %s", shown(url ? url : "").text, shown(error).text);
	layout_entry(l, lines++ ? "" : "prometheus", text);
	return lines;
}

static bool has_prometheus_errors(const struct run_data *run)
{
	bool any = false;
	for (int i = 0; i < run->part_count; i++)
		any |= json_is_string(json_object_get(run_part_prometheus(&run->parts[i]), "error"));
	return any;
}

static void show_prometheus(struct layout *l, const struct run_data *run)
{
	int lines = 0;
	for (int i = 0; i < run->part_count; i++)
		lines = show_prometheus_errors(l, run_part_prometheus(&run->parts[i]), lines);
}

void text_server(struct layout *l, const struct report *report)
{
	const struct server_figures *f = report->servers;
	char number[40];
	int64_t scrapes = 0;
	if (f->count == 0) {
		if (has_prometheus_errors(report->run)) {
			layout_heading(l, "Server");
			layout_end_line(l);
			show_prometheus(l, report->run);
		}
		return;
	}
	for (int i = 0; i < f->count; i++)
		scrapes += f->targets[i].readings;
	layout_heading(l, "Server");
	layout_to(l, 14);
	if (f->targets[0].server[0])
		layout_format(l, FAINT, "%s, ", f->targets[0].server);
	layout_format(l, FAINT, "%d target%s, ", f->sources_count, plural(f->sources_count));
	layout_format(l, FAINT, "%s scrape%s", show_count(scrapes, number), plural(scrapes));
	layout_end_line(l);
	show_gauge(l, "running", &f->running, false);
	show_gauge(l, "waiting", &f->waiting, false);
	show_gauge(l, "KV cache", &f->kv_cache, true);
	show_gauge(l, "replicas", &f->replicas, false);
	show_share(l, "hit rate", f->hit_rate, "of the prompt tokens that it looked up");
	show_share(l, "speculation", f->acceptance, "of the draft tokens accepted");
	show_preemptions(l, f);
	show_targets(l, report);
	show_prometheus(l, report->run);
	if (f->compared) {
		show_comparison(l, f);
		show_compared_targets(l, f);
	}
}

/* ---- accelerators ---- */

static double figure_of(json_t *entry, const char *key)
{
	json_t *value = json_object_get(entry, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool is_valid(const struct accelerator_figures *f)
{
	return json_is_true(json_object_get(f->energy, "valid"));
}

static void name_device(const struct accelerator_figures *f, char *label, size_t size)
{
	char model[80], index[32] = "";
	safe_text(model, sizeof model, slice_of(f->device->model[0] ? f->device->model : "device"));
	if (f->device->index != IPF_ABSENT)
		snprintf(index, sizeof index, " %lld", (long long)f->device->index);
	snprintf(label, size, "%.64s%s%s%s", f->device->host, index, f->device->host[0] || index[0] ? ": " : "", model);
}

/* The lowest power of a device that was never seen without load: it can idle with less. */
static const char *show_idle(const struct accelerator_figures *f, char text[41])
{
	const char *from = json_string_value(json_object_get(f->energy, "idle_from"));
	double idle_w = figure_of(f->energy, "idle_power_w");
	bool bound = from && !strcmp(from, "lowest") && !isnan(idle_w);
	text[0] = '<';
	show_narrow_number(idle_w, 6, text + bound);
	return text;
}

/* Energy that is not valid is no figure: the reasons follow below the table. */
static void show_device(struct layout *l, const struct accelerator_figures *f)
{
	char text[41], label[200];
	name_device(f, label, sizeof label);
	layout_to(l, 2);
	layout_clipped(l, 26, PLAIN, label);
	layout_right(l, 37, PLAIN, show_percent(f->utilization.mean, text));
	layout_right(l, 46, PLAIN, show_percent(f->bandwidth.mean, text));
	layout_right(l, 55, PLAIN, show_narrow_number(f->memory_used.max / 1073741824, 7, text));
	layout_right(l, 63, PLAIN, show_narrow_number(f->power.mean, 7, text));
	layout_right(l, 71, PLAIN, show_idle(f, text));
	layout_right(l, WIDTH, PLAIN,
	             show_narrow_number(is_valid(f) ? figure_of(f->energy, "energy_j") / 1e3 : NAN, 8, text));
	layout_end_line(l);
}

static void show_reasons(struct layout *l, const struct accelerator_figures *f)
{
	char text[500] = "", words[64], label[200], line[800];
	json_t *reason;
	size_t i;
	if (!f->energy || is_valid(f))
		return;
	json_array_foreach(json_object_get(f->energy, "reasons"), i, reason)
		join(text, sizeof text, ", ", shown(energy_reason_words(json_string_value(reason), words)).text, "");
	name_device(f, label, sizeof label);
	snprintf(line, sizeof line, "(%s: the energy is not valid: %s)", label, text[0] ? text : "no reason given");
	layout_to(l, 2);
	layout_wrapped(l, 3, FAINT, line);
}

static void show_device_heads(struct layout *l)
{
	layout_heading(l, "Accelerators");
	layout_right(l, 37, FAINT, "busy");
	layout_right(l, 46, FAINT, "memory");
	layout_right(l, 55, FAINT, "memory");
	layout_right(l, 71, FAINT, "power, W");
	layout_right(l, WIDTH, FAINT, "energy");
	layout_end_line(l);
	layout_right(l, 37, FAINT, "mean");
	layout_right(l, 46, FAINT, "busy");
	layout_right(l, 55, FAINT, "max GiB");
	layout_right(l, 63, FAINT, "mean");
	layout_right(l, 71, FAINT, "idle");
	layout_right(l, WIDTH, FAINT, "kJ");
	layout_end_line(l);
}

void text_accelerators(struct layout *l, const struct report *report)
{
	int count = report->run->accelerators.count, most = count <= DEVICES_MOST + 1 ? count : DEVICES_MOST;
	if (count == 0)
		return;
	show_device_heads(l);
	for (int i = 0; i < most; i++) {
		struct accelerator_figures f = accelerator_figures_of(report->run, i);
		show_device(l, &f);
	}
	if (count > most) {
		layout_to(l, 2);
		layout_format(l, FAINT, "%d more", count - most);
		layout_end_line(l);
	}
	for (int i = 0; i < most; i++) {
		struct accelerator_figures f = accelerator_figures_of(report->run, i);
		show_reasons(l, &f);
	}
}

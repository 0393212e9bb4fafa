/* The figures the servers published of themselves, beside the client's; accelerators. */
#include "sections/distribution_table.h"
#include "sections/sentence.h"

#include "document/shown_numbers.h"
#include "series/energy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- gauges ---- */

static void gauge_row(const struct telling *t, struct doc_table *table, const char *name, json_t *gauge, bool percent)
{
	static const char *const keys[] = {"mean", "p50", "p90", "max"};
	char text[40];
	if (!gauge)
		return;
	doc_row(t->d, table, name, NULL);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		double value = figure_at(gauge, keys[i]);
		if (percent)
			doc_cell_said(t->d, table, value, show_percent(value, text), TONE_PLAIN);
		else
			doc_cell_figure(t->d, table, value, CELL_COUNT);
	}
}

static void tell_gauges(const struct telling *t, json_t *server)
{
	static const struct doc_column columns[] = {{.name = "mean"}, {.name = "p50"}, {.name = "p90"}, {.name = "max"}};
	struct doc_table *table = doc_table(
		t->d, &(struct doc_table_spec){
				  .id = "gauges", .caption = "Server", .rows = "all targets", .columns = columns, .count = 4});
	gauge_row(t, table, "requests running", json_at(server, "running"), false);
	gauge_row(t, table, "requests waiting", json_at(server, "waiting"), false);
	gauge_row(t, table, "KV cache in use", json_at(server, "kv_cache_usage"), true);
	gauge_row(t, table, "replicas ready", json_at(server, "replicas_ready"), false);
}

/* Its replicas are all that is known, and nothing was scraped. */
static bool is_twin(const struct telling *t)
{
	return json_at(t->report, "run/predicted") != NULL;
}

static void tell_facts(const struct telling *t, json_t *server)
{
	json_t *targets = json_at(server, "targets"), *target;
	const char *name = text_at(targets, "0/server");
	double scrapes = 0;
	char a[40];
	size_t i;
	json_array_foreach(targets, i, target) scrapes += figure_at(target, "scrapes");
	if (json_array_size(targets) && !is_twin(t))
		doc_fact(t->d, "scraped", "%s%s%zu target%s, %s scrape%s", name ? name : "", name ? ", " : "",
		         json_array_size(targets), plural((double)json_array_size(targets)), show_whole(scrapes, a),
		         plural(scrapes));
	tell(t, "hit rate", server, "{hit_rate%} of the prompt tokens that were looked up in the prefix cache");
	if (figure_at(server, "preemptions") > 0)
		tell(t, "preemptions", server, "{preemptions}");
	tell(
		t, "queueing", server,
		"{comparison/queue_ms/server} ms in the server's queue, {comparison/queue_ms/client} ms for a slot or connection of "
		"the client (means)");
	tell(t, "network", server, "{comparison/connect_ms} ms at least to open a connection: about one round trip");
	tell(
		t, "given up", json_at(server, "comparison/unreceived"),
		"{requests#} request{s:requests}, of which {received#} output tokens came; the server generated {tokens#} tokens more "
		"than were received, {share%} of all that it generated");
	tell(t, "not scraped", server, "{comparison/not_scraped!}");
}

/* Errors of an asked Prometheus: of its queries or, if these have none, of all. */
static void tell_prometheus(const struct telling *t, json_t *list)
{
	json_t *one, *query;
	size_t i, k;
	json_array_foreach(list, i, one)
	{
		bool told = false;
		json_array_foreach(json_at(one, "queries"), k, query)
		{
			tell(t, "prometheus", query, "[{name!}: ]{error!}")->tone = TONE_WARN;
			told |= text_at(query, "error") != NULL;
		}
		if (!told)
			tell(t, "prometheus", one, "[{url!}: ]{error!}")->tone = TONE_WARN;
	}
}

/* ---- client and server ---- */

static void tell_comparison(const struct telling *t, json_t *comparison)
{
	static const struct doc_column columns[] = {{NULL, "n", NULL, "n", CELL_COUNT, KEEP_ROOM},
	                                            {NULL, "mean", NULL, "mean", CELL_NUMBER, KEEP},
	                                            {NULL, "p50", NULL, "p50", CELL_RANGE, KEEP},
	                                            {NULL, "p90", NULL, "p90", CELL_RANGE, KEEP},
	                                            {NULL, "p99", NULL, "p99", CELL_RANGE, KEEP}};
	static const char *const keys[] = {"ttft_ms", "tpot_ms", "itl_ms", "e2e_ms"};
	struct doc_table *table = doc_table(
		t->d,
		&(struct doc_table_spec){
			.id = "compared", .caption = "Client and server, ms", .rows = "latency", .columns = columns, .count = 5});
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		json_t *both = json_at(comparison, keys[i]);
		if (!json_at(both, "client"))
			continue;
		doc_row_of(t->d, table, latency_name(keys[i]).label, "client", json_at(both, "client"));
		doc_row_of(t->d, table, latency_name(keys[i]).label, "server", json_at(both, "server"));
	}
}

/* Differences between client and server; `target` NULL: all together. */
static void tell_differences(const struct telling *t, json_t *comparison, const char *target)
{
	json_t *one;
	size_t i;
	json_array_foreach(json_at(comparison, "differences"), i, one)
		doc_fact(t->d, "differs", "%s%s%s", target ? target : "", target ? ": " : "", words_at(one, "text"))
			->tone = TONE_WARN;
}

/* ---- targets ---- */

static void add_pair(const struct telling *t, struct doc_table *table, json_t *pair, const char *path)
{
	json_t *client = json_at(pair, "client"), *server = json_at(pair, "server");
	double ours = *path ? figure_at(client, path) : json_is_number(client) ? json_number_value(client) : NAN;
	double theirs = *path ? figure_at(server, path) : json_is_number(server) ? round(json_number_value(server)) : NAN;
	char a[40], b[40];
	if (isnan(ours) && isnan(theirs)) {
		doc_cell_figure(t->d, table, NAN, CELL_NUMBER);
		return;
	}
	doc_cell_said(t->d, table, isnan(ours) ? theirs : ours,
	              doc_say(t->d, "%s / %s", show_whole(ours, a), show_whole(theirs, b)), TONE_PLAIN);
}

/* Targets reporting figures of their own, the client's beside them. */
static void tell_each(const struct telling *t, json_t *targets)
{
	static const struct doc_column columns[] = {{.name = "requests", .kind = CELL_RANGE},
	                                            {.name = "TTFT, ms", .kind = CELL_RANGE},
	                                            {.name = "TPOT, ms", .kind = CELL_RANGE}};
	json_t *target;
	size_t i;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "compared-targets",
	                                                                   .caption = "Client / server, means",
	                                                                   .rows = "target",
	                                                                   .columns = columns,
	                                                                   .count = 3});
	json_array_foreach(targets, i, target)
	{
		json_t *c = json_at(target, "comparison");
		if (!c || json_array_size(targets) < 2)
			continue;
		doc_row(t->d, table, text_at(target, "target"), NULL);
		add_pair(t, table, json_at(c, "requests"), "");
		add_pair(t, table, json_at(c, "ttft_ms"), "mean");
		add_pair(t, table, json_at(c, "tpot_ms"), "mean");
	}
	json_array_foreach(targets, i, target)
	{
		if (json_array_size(targets) > 1)
			tell_differences(t, json_at(target, "comparison"), text_at(target, "target"));
	}
}

/* The work of each of several targets, by its own counters: prefill and decode workers side by side, hit rates. */
static void tell_work(const struct telling *t, json_t *server, json_t *targets)
{
	static const struct doc_column columns[] = {{NULL, "role", NULL, "role", CELL_WORDS, KEEP},
	                                            {NULL, "requests", NULL, "requests", CELL_COUNT, KEEP},
	                                            {"tokens/s", "input", NULL, "input_tokens_per_s", CELL_RANGE, KEEP},
	                                            {"tokens/s", "output", NULL, "output_tokens_per_s", CELL_RANGE, KEEP},
	                                            {NULL, "hit rate", NULL, "hit_rate", CELL_PERCENT, KEEP},
	                                            {NULL, "preempted", NULL, "preemptions", CELL_COUNT, KEEP}};
	json_t *target, *balance;
	size_t i, several = 0;
	json_array_foreach(targets, i, target)
		several += json_at(target, "requests") || json_at(target, "hit_rate") || json_at(target, "input_tokens_per_s");
	if (several < 2)
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "work",
	                                                                   .caption = "Work of the targets",
	                                                                   .rows = "target",
	                                                                   .columns = columns,
	                                                                   .count = 6,
	                                                                   .sortable = true});
	json_array_foreach(targets, i, target) if (!json_is_false(json_at(target, "counts")))
		doc_row_of(t->d, table, text_at(target, "target"), NULL, target);
	json_array_foreach(json_at(server, "balance"), i, balance) tell(
		t, "balance", balance,
		"the busiest of {targets#}[ {role!}] targets has[ {requests} times the mean of requests][, {input_tokens} of "
		"input][, {output_tokens} of output tokens]");
}

static void tell_targets(const struct telling *t, json_t *targets)
{
	static const struct doc_column columns[] = {{NULL, "server", NULL, "server", CELL_WORDS, KEEP},
	                                            {"scrapes", "all", NULL, "scrapes", CELL_COUNT, KEEP},
	                                            {"scrapes", "failed", NULL, "failed", CELL_COUNT, KEEP},
	                                            {"mean", "running", NULL, "running/mean", CELL_NUMBER, KEEP},
	                                            {"mean", "waiting", NULL, "waiting/mean", CELL_NUMBER, KEEP},
	                                            {"mean", "KV cache", NULL, "kv_cache_usage/mean", CELL_PERCENT, KEEP},
	                                            {NULL, "last error", NULL, "last_error", CELL_WORDS, KEEP}};
	json_t *target, *name;
	size_t i, k;
	struct doc_table *table = doc_table(
		t->d,
		&(struct doc_table_spec){
			.id = "targets", .caption = "Targets", .rows = "target", .columns = columns, .count = 7, .sortable = true});
	json_array_foreach(targets, i, target)
		doc_row_of(t->d, table, text_at(target, "target"),
	               json_is_false(json_at(target, "counts")) ? "another client's" : NULL, target);
	json_array_foreach(targets, i, target)
	{
		struct buffer text = {0};
		json_array_foreach(json_at(target, "missing"), k, name)
			buffer_format(&text, "%s%s", text.len ? ", " : "", words_of(name));
		if (text.len)
			doc_fact(t->d, "missing", "%s", text.data)->media = IN_PAGE | IN_MARKDOWN;
		t->d->failed |= text.failed;
		buffer_release(&text);
	}
}

/* Unreadable targets. */
static void tell_unreached(const struct telling *t, json_t *targets)
{
	json_t *target;
	size_t i;
	json_array_foreach(targets, i, target)
	{
		if (figure_at(target, "failed") > 0)
			tell(t, "not reached", target, "{target!}: {failed#} of {scrapes#} scrapes failed[: {last_error!}]")->tone =
				TONE_WARN;
	}
}

/* Targets whose counters fell. */
static void tell_restarts(const struct telling *t, json_t *targets)
{
	json_t *target;
	size_t i;
	json_array_foreach(targets, i, target)
	{
		if (figure_at(target, "restarts") > 0)
			tell(t, "restarted", target,
			     figure_at(target, "restarts") > 1
			         ? "{target!}: the server restarted {restarts#} times during the run: its counters fell, the first "
			           "time at {restarted_s} s"
			         : "{target!}: the server restarted during the run: its counters fell at {restarted_s} s")
				->tone = TONE_WARN;
	}
}

/* A brief report has the explanations: differences, and unreadable metrics. */
void section_server(const struct telling *t)
{
	json_t *server = json_at(t->report, "server"), *targets = json_at(server, "targets");
	if (!server)
		return;
	if (!t->brief) {
		tell_gauges(t, server);
		tell_facts(t, server);
	}
	tell_unreached(t, targets);
	tell_restarts(t, targets);
	tell_prometheus(t, json_at(server, "prometheus"));
	if (!t->brief)
		tell_comparison(t, json_at(server, "comparison"));
	tell_differences(t, json_at(server, "comparison"), NULL);
	if (t->brief)
		return;
	tell_each(t, targets);
	tell_work(t, server, targets);
	if (!is_twin(t))
		tell_targets(t, targets);
}

/* ---- accelerators ---- */

static const char *device_name(const struct telling *t, json_t *device)
{
	const char *host = text_at(device, "host"), *model = text_at(device, "model");
	double index = figure_at(device, "index");
	const char *number = isnan(index) ? "" : doc_say(t->d, "%s%.0f", host ? " " : "", index);
	return doc_say(t->d, "%s%s%s%s", host ? host : "", number, host || *number ? ": " : "", model ? model : "device");
}

/* Invalid energy is no figure: the reasons follow. */
static void device_row(const struct telling *t, struct doc_table *table, json_t *device)
{
	const bool valid = json_is_true(json_at(device, "energy/valid"));
	double idle = figure_at(device, "energy/idle_power_w"), energy = figure_at(device, "energy/energy_j") / 1e3;
	const char *from = text_at(device, "energy/idle_from");
	struct buffer reasons = {0};
	char text[40], words[64];
	json_t *reason;
	size_t i;
	json_array_foreach(json_at(device, "energy/reasons"), i, reason)
		buffer_format(&reasons, "%s%s", i ? ", " : "", energy_reason_words(words_of(reason), words));
	doc_row(t->d, table, device_name(t, device), NULL);
	doc_cell_figure(t->d, table, figure_at(device, "utilization/mean"), CELL_PERCENT);
	doc_cell_figure(t->d, table, figure_at(device, "memory_bandwidth/mean"), CELL_PERCENT);
	doc_cell_figure(t->d, table, figure_at(device, "memory_used_bytes/max") / 1073741824, CELL_NUMBER);
	doc_cell_figure(t->d, table, figure_at(device, "power_w/mean"), CELL_NUMBER);
	/* a device never seen without load has its lowest power as a bound */
	doc_cell_said(t->d, table, idle,
	              doc_say(t->d, "%s%s", from && strcmp(from, "lowest") == 0 ? "<" : "", show_number(idle, text)),
	              TONE_PLAIN);
	doc_cell_figure(t->d, table, valid ? energy : NAN, CELL_NUMBER);
	doc_cell_text(t->d, table,
	              valid || !json_at(device, "energy")
	                  ? NULL
	                  : doc_say(t->d, "the energy is not valid: %s", reasons.len ? reasons.data : "no reason given"),
	              TONE_PLAIN);
	t->d->failed |= reasons.failed;
	buffer_release(&reasons);
}

void section_accelerators(const struct telling *t)
{
	static const struct doc_column columns[] = {{"busy, mean", "compute", NULL, NULL, CELL_PERCENT, KEEP},
	                                            {"busy, mean", "memory", NULL, NULL, CELL_PERCENT, KEEP},
	                                            {"memory", "max", "GiB", NULL, CELL_NUMBER, KEEP},
	                                            {"power, W", "mean", NULL, NULL, CELL_NUMBER, KEEP},
	                                            {"power, W", "idle", NULL, NULL, CELL_NUMBER, KEEP},
	                                            {"energy", "kJ", NULL, NULL, CELL_NUMBER, KEEP},
	                                            {NULL, "why there is no energy", NULL, NULL, CELL_WORDS, KEEP}};
	json_t *device;
	size_t i;
	if (json_array_size(json_at(t->report, "accelerators")) == 0)
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "devices",
	                                                                   .caption = "Accelerators",
	                                                                   .rows = "device",
	                                                                   .columns = columns,
	                                                                   .count = 7,
	                                                                   .sortable = true});
	json_array_foreach(json_at(t->report, "accelerators"), i, device) device_row(t, table, device);
}

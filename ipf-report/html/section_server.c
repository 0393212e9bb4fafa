/* What the whole run shows of the server: its capacity, what it said of itself, its accelerators. */
#include "html/sections.h"

#include "analysis/saturation.h"
#include "formats/text_layout.h"
#include "html/html_table.h"
#include "html/html_text.h"
#include "html/json_path.h"
#include "series/energy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- saturation ---- */

static void show_points(const struct page *page, json_t *points)
{
	static const struct html_column columns[] = {
		{NULL, "stage", NULL, true},         {NULL, "begins after", "s", false},
		{NULL, "users", NULL, false},        {NULL, "offered", "per s", false},
		{NULL, "completed", "per s", false}, {NULL, "within objectives", NULL, false},
		{NULL, "left out", NULL, true}};
	json_t *point;
	size_t i;
	struct html_table t = {.out = page->out, .name = "points", .columns = columns, .count = 7, .sortable = true};
	html_table_begin(&t, "Points of the curve");
	json_array_foreach(points, i, point)
	{
		html_row(&t, text_at(point, "stage"), NULL);
		html_number(&t, figure_at(point, "begin_s"));
		html_count(&t, figure_at(point, "users"));
		html_number(&t, figure_at(point, "offered"));
		html_number(&t, figure_at(point, "completed"));
		html_percent(&t, figure_at(point, "good_share"));
		html_words(&t, text_at(point, "left_out"));
		html_row_end(&t);
	}
	html_table_end(&t);
}

/* Users are whole numbers. */
static const char *show_load(json_t *s, const char *path, bool users, char text[40])
{
	if (!users)
		return show_number(figure_at(s, path), text);
	snprintf(text, 40, "%.0f", figure_at(s, path));
	return text;
}

static void show_within(const struct page *page, json_t *s)
{
	char text[200], a[40], b[40] = "";
	if (!json_at(s, "all_within"))
		return;
	bool users = json_at(json_array_get(json_at(s, "points"), 0), "users") != NULL;
	if (!json_at(s, "within")) {
		fact(page, "objectives", users ? "missed by the fewest users" : "missed at the lowest rate");
		return;
	}
	show_percent(figure_at(s, "headroom"), b);
	bool headroom = figure_at(s, "headroom") >= 0;
	snprintf(text, sizeof text, "met up to %s %s%s%s%s%s",
	         show_load(s, users ? "within/users" : "within/offered", users, a), users ? "users" : "requests/s",
	         !json_is_true(json_at(s, "all_within")) ? ""
	         : users                                 ? ", the most"
	                                                 : ", the highest rate",
	         headroom ? ", " : "", headroom ? b : "", headroom ? " below the capacity" : "");
	fact(page, "objectives", text);
}

void section_saturation(const struct page *page)
{
	json_t *s = json_at(page->json, "saturation");
	const char *reason = text_at(s, "reason");
	char text[500], a[40], b[40], c[40];
	if (!s)
		return;
	facts_begin(page);
	if (!isnan(figure_at(s, "requests_per_s")))
		snprintf(text, sizeof text, "%s requests/s (95 %% interval: %s to %s)",
		         show_number(figure_at(s, "requests_per_s"), a),
		         show_number(json_number_value(json_array_get(json_at(s, "ci95"), 0)), b),
		         show_number(json_number_value(json_array_get(json_at(s, "ci95"), 1)), c));
	else if (reason)
		snprintf(text, sizeof text, "%s: %.320s", text_at(s, "status"), reason);
	else if (!isnan(figure_at(s, "highest_users")))
		snprintf(text, sizeof text, "not saturated: %s users, the most, complete %s requests/s",
		         show_load(s, "highest_users", true, a), show_number(figure_at(s, "highest_completed"), b));
	else
		snprintf(text, sizeof text, "not saturated: of %s requests/s offered, %s/s were completed%s",
		         show_number(figure_at(s, "highest_offered"), a), show_number(figure_at(s, "highest_completed"), b),
		         saturation_excuse(figure_at(s, "highest_offered"), figure_at(s, "highest_completed")));
	fact(page, "capacity", text);
	if (!isnan(figure_at(s, "users"))) {
		snprintf(text, sizeof text, "from %s users on (95 %% interval: %s to %s)%s",
		         show_number(figure_at(s, "users"), a),
		         show_number(json_number_value(json_array_get(json_at(s, "users_ci95"), 0)), b),
		         show_number(json_number_value(json_array_get(json_at(s, "users_ci95"), 1)), c),
		         json_is_true(json_at(s, "falls_beyond")) ? "; the throughput falls beyond it" : "");
		fact(page, "reached", text);
	}
	if (json_at(s, "exceeded_by")) {
		bool users = json_at(s, "exceeded_by/users") != NULL;
		snprintf(text, sizeof text, "%s%s, in %.200s",
		         show_load(s, users ? "exceeded_by/users" : "exceeded_by/offered", users, a), users ? " users" : "/s",
		         text_at(s, "exceeded_by/stage"));
		fact(page, "first exceeded by", text);
	}
	show_within(page, s);
	facts_end(page);
	show_points(page, json_at(s, "points"));
}

/* ---- the servers' own figures ---- */

static const struct html_column gauge_columns[] = {{NULL, "over time", NULL, true},
                                                   {NULL, "mean", NULL, false},
                                                   {NULL, "p50", NULL, false},
                                                   {NULL, "p90", NULL, false},
                                                   {NULL, "max", NULL, false}};

static void gauge_row(struct html_table *t, const char *name, json_t *gauge, bool percent)
{
	static const char *const keys[] = {"mean", "p50", "p90", "max"};
	if (!gauge)
		return;
	html_row(t, name, NULL);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (percent)
			html_percent(t, figure_at(gauge, keys[i]));
		else
			html_count(t, figure_at(gauge, keys[i]));
	html_row_end(t);
}

static void show_gauges(const struct page *page, json_t *server)
{
	struct html_table t = {.out = page->out, .name = "gauges", .columns = gauge_columns, .count = 5};
	if (!json_at(server, "running") && !json_at(server, "waiting") && !json_at(server, "kv_cache_usage") &&
	    !json_at(server, "replicas_ready"))
		return;
	html_table_begin(&t, "All targets");
	gauge_row(&t, "requests running", json_at(server, "running"), false);
	gauge_row(&t, "requests waiting", json_at(server, "waiting"), false);
	gauge_row(&t, "KV cache in use", json_at(server, "kv_cache_usage"), true);
	gauge_row(&t, "replicas ready", json_at(server, "replicas_ready"), false);
	html_table_end(&t);
}

static void show_targets(const struct page *page, json_t *targets)
{
	static const struct html_column columns[] = {{NULL, "target", NULL, true},      {NULL, "server", NULL, true},
	                                             {"scrapes", "all", NULL, false},   {"scrapes", "failed", NULL, false},
	                                             {"mean", "running", NULL, false},  {"mean", "waiting", NULL, false},
	                                             {"mean", "KV cache", NULL, false}, {NULL, "last error", NULL, true}};
	json_t *target;
	size_t i;
	struct html_table t = {.out = page->out, .name = "targets", .columns = columns, .count = 8, .sortable = true};
	if (json_array_size(targets) == 0)
		return;
	html_table_begin(&t, "Targets");
	json_array_foreach(targets, i, target)
	{
		if (i >= HTML_ROWS_MOST)
			break;
		html_row(&t, text_at(target, "target"), json_is_false(json_at(target, "counts")) ? "another client's" : NULL);
		html_words(&t, text_at(target, "server"));
		html_count(&t, figure_at(target, "scrapes"));
		html_count(&t, figure_at(target, "failed"));
		html_number(&t, figure_at(target, "running/mean"));
		html_number(&t, figure_at(target, "waiting/mean"));
		html_percent(&t, figure_at(target, "kv_cache_usage/mean"));
		html_words(&t, text_at(target, "last_error"));
		html_row_end(&t);
	}
	html_table_end(&t);
	html_left_out(page->out, json_array_size(targets), HTML_ROWS_MOST);
}

/* The server's quantiles are known as buckets: [interpolated, lowest, highest]. */
static void bucket_cell(struct html_table *t, json_t *quantile)
{
	char low[40], high[40];
	double from = json_number_value(json_array_get(quantile, 1));
	json_t *to = json_array_get(quantile, 2);
	if (!quantile) {
		html_number(t, NAN);
		return;
	}
	buffer_format(t->out, "<td class=\"number\" data-v=\"%.15g\">", json_number_value(json_array_get(quantile, 0)));
	if (json_is_number(to))
		buffer_format(t->out, "%s to %s</td>", show_number(from, low), show_number(json_number_value(to), high));
	else
		buffer_format(t->out, "over %s</td>", show_number(from, low));
}

static void show_comparison(const struct page *page, json_t *comparison)
{
	static const struct html_column columns[] = {{NULL, "", NULL, true},      {NULL, "n", NULL, false},
	                                             {NULL, "mean", "ms", false}, {NULL, "p50", "ms", false},
	                                             {NULL, "p90", "ms", false},  {NULL, "p99", "ms", false}};
	static const char *const keys[] = {"ttft_ms", "tpot_ms", "itl_ms", "e2e_ms"}, *const ps[] = {"p50", "p90", "p99"};
	char label[40];
	bool any = false;
	for (size_t i = 0; i < 4; i++)
		any |= json_at(comparison, keys[i]) != NULL;
	if (!any)
		return;
	struct html_table t = {.out = page->out, .name = "compared", .columns = columns, .count = 6};
	html_table_begin(&t, "Client and server");
	for (size_t i = 0; i < 4; i++) {
		json_t *both = json_at(comparison, keys[i]), *client = json_at(both, "client"),
			   *server = json_at(both, "server");
		if (!both)
			continue;
		html_row(&t, metric_label(keys[i], label), "client");
		html_count(&t, figure_at(client, "n"));
		html_number(&t, figure_at(client, "mean"));
		for (size_t k = 0; k < 3; k++)
			html_number(&t, figure_at(client, ps[k]));
		html_row_end(&t);
		html_row(&t, metric_label(keys[i], label), "server");
		html_count(&t, figure_at(server, "n"));
		html_number(&t, figure_at(server, "mean"));
		for (size_t k = 0; k < 3; k++)
			bucket_cell(&t, json_at(server, ps[k]));
		html_row_end(&t);
	}
	html_table_end(&t);
}

static void show_differences(const struct page *page, json_t *differences)
{
	json_t *one;
	size_t i;
	if (json_array_size(differences) == 0)
		return;
	buffer_text(page->out, "<h3>Differences between client and server</h3>\n<ul class=\"plain\">\n");
	json_array_foreach(differences, i, one)
	{
		buffer_text(page->out, "<li>");
		html_text(page->out, text_at(one, "text"));
		buffer_text(page->out, "</li>\n");
	}
	buffer_text(page->out, "</ul>\n");
}

static void show_prometheus(const struct page *page, json_t *list)
{
	json_t *one, *query;
	size_t i, k;
	char name[160];
	json_array_foreach(list, i, one)
	{
		snprintf(name, sizeof name, "Prometheus %.120s", text_at(one, "url") ? text_at(one, "url") : "");
		fact(page, name, text_at(one, "error"));
		json_array_foreach(json_at(one, "queries"), k, query)
		{
			snprintf(name, sizeof name, "query %.120s", text_at(query, "name") ? text_at(query, "name") : "");
			fact(page, name, text_at(query, "error"));
		}
	}
}

void section_server(const struct page *page)
{
	json_t *server = json_at(page->json, "server");
	char text[160], a[40], b[40];
	if (!server)
		return;
	show_gauges(page, server);
	facts_begin(page);
	if (!isnan(figure_at(server, "hit_rate"))) {
		snprintf(text, sizeof text, "%s of the prompt tokens that it looked up",
		         show_percent(figure_at(server, "hit_rate"), a));
		fact(page, "prefix cache hits", text);
	}
	if (!isnan(figure_at(server, "acceptance"))) {
		snprintf(text, sizeof text, "%s of the draft tokens accepted",
		         show_percent(figure_at(server, "acceptance"), a));
		fact(page, "speculation", text);
	}
	if (figure_at(server, "preemptions") > 0)
		fact(page, "preemptions", show_number(figure_at(server, "preemptions"), a));
	if (json_at(server, "comparison/queue_ms")) {
		snprintf(text, sizeof text, "%s ms in the server's queue, %s ms for a slot or connection of the client (means)",
		         show_number(figure_at(server, "comparison/queue_ms/server"), a),
		         show_number(figure_at(server, "comparison/queue_ms/client"), b));
		fact(page, "queueing", text);
	}
	fact(page, "not scraped", text_at(server, "comparison/not_scraped"));
	show_prometheus(page, json_at(server, "prometheus"));
	facts_end(page);
	show_comparison(page, json_at(server, "comparison"));
	show_differences(page, json_at(server, "comparison/differences"));
	show_targets(page, json_at(server, "targets"));
}

/* ---- accelerators ---- */

static void device_row(struct html_table *t, json_t *device)
{
	char name[200], index[24] = "", words[64];
	const char *host = text_at(device, "host"), *model = text_at(device, "model");
	bool valid = json_is_true(json_at(device, "energy/valid"));
	struct buffer reasons = {0};
	json_t *reason;
	size_t i;
	if (!isnan(figure_at(device, "index")))
		snprintf(index, sizeof index, " %.0f", figure_at(device, "index"));
	snprintf(name, sizeof name, "%.64s%s%s%.80s", host ? host : "", index, host || *index ? ": " : "",
	         model ? model : "device");
	json_array_foreach(json_at(device, "energy/reasons"), i, reason)
		buffer_format(&reasons, "%s%s", i ? ", " : "", energy_reason_words(json_string_value(reason), words));
	html_row(t, name, NULL);
	html_percent(t, figure_at(device, "utilization/mean"));
	html_percent(t, figure_at(device, "memory_bandwidth/mean"));
	html_number(t, figure_at(device, "memory_used_bytes/max") / 1073741824);
	html_number(t, figure_at(device, "power_w/mean"));
	html_number(t, figure_at(device, "energy/idle_power_w"));
	html_number(t, valid ? figure_at(device, "energy/energy_j") / 1e3 : NAN);
	html_words(t, !valid && reasons.len ? reasons.data : NULL);
	html_row_end(t);
	t->out->failed |= reasons.failed;
	buffer_release(&reasons);
}

void section_accelerators(const struct page *page)
{
	static const struct html_column columns[] = {
		{NULL, "device", NULL, true},          {"busy, mean", "compute", NULL, false},
		{"busy, mean", "memory", NULL, false}, {NULL, "memory, max", "GiB", false},
		{"power", "mean", "W", false},         {"power", "idle", "W", false},
		{NULL, "energy", "kJ", false},         {NULL, "why there is no energy", NULL, true}};
	json_t *devices = json_at(page->json, "accelerators"), *device;
	size_t i;
	if (json_array_size(devices) == 0)
		return;
	struct html_table t = {.out = page->out, .name = "devices", .columns = columns, .count = 8, .sortable = true};
	html_table_begin(&t, "Devices");
	json_array_foreach(devices, i, device)
	{
		if (i < HTML_ROWS_MOST)
			device_row(&t, device);
	}
	html_table_end(&t);
	html_left_out(page->out, json_array_size(devices), HTML_ROWS_MOST);
}

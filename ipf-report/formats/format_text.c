/* -f text: the report for a person, on 80 columns. The verdict comes first. A figure that does not exist is a dash. */
#include "absent.h"
#include "formats/event_clock.h"
#include "formats/report_format.h"
#include "formats/text_accuracy.h"
#include "formats/text_autoscaling.h"
#include "formats/text_cache.h"
#include "formats/text_cost.h"
#include "formats/text_fidelity.h"
#include "formats/text_said.h"
#include "formats/text_saturation.h"
#include "formats/text_distributions.h"
#include "formats/text_server.h"
#include "formats/text_repeats.h"
#include "formats/text_sessions.h"
#include "formats/text_table.h"
#include "formats/text_time_line.h"
#include "formats/text_transport.h"
#include "safe_text.h"
#include "cli/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REASONS_MOST 5 /* of failures; one more rather than "1 more" */

/* ---- verdict and run ---- */

static enum style status_style(enum verdict_status status)
{
	return status == VERDICT_OK ? GOOD : status == VERDICT_INVALID ? BAD : WARN;
}

static void show_verdict(struct layout *l, const struct report *report)
{
	static const char *const titles[VERDICT_QUESTIONS] = {"load delivered", "client headroom", "server answers",
	                                                      "enough samples"};
	const struct verdict_finding *finding = report->finding;
	for (int i = 0; i < report->run->part_count; i++)
		if (report->run->parts[i].incomplete[0]) {
			layout_text(l, BAD, "Incomplete");
			layout_to(l, 12);
			layout_wrapped(l, 12, PLAIN, report->run->parts[i].incomplete);
		}
	if (l->out->len > 0)
		layout_end_line(l);
	layout_text(l, STRONG, "Verdict");
	layout_to(l, 19);
	layout_text(l, status_style(finding->status), verdict_status_name(finding->status));
	layout_end_line(l);
	for (size_t i = 0; i < VERDICT_QUESTIONS; i++) {
		layout_to(l, 2);
		layout_text(l, PLAIN, titles[i]);
		layout_to(l, 19);
		layout_text(l, status_style(finding->checks[i].status), verdict_status_name(finding->checks[i].status));
		layout_to(l, 29);
		layout_wrapped(l, 29, PLAIN, finding->checks[i].detail);
	}
}

static const char *info_text(json_t *info, const char *key)
{
	return json_string_value(json_object_get(info, key));
}

static int64_t ns_of(json_t *object, const char *map, const char *key)
{
	json_t *value = json_object_get(json_object_get(object, map), key);
	return json_is_integer(value) ? json_integer_value(value) : -1;
}

/* "the clocks of shards 1 and 3 are not synchronised", of the clients whose systems do not say that they are. */
static void put_unsynchronised(char *text, size_t size, json_t *clocks)
{
	json_t *list = json_object_get(clocks, "unsynchronised");
	size_t count = json_array_size(list), len = strlen(text);
	if (count == (size_t)json_integer_value(json_object_get(clocks, "clients")))
		snprintf(text + len, size - len, ": no clock of them is known to be synchronised");
	else if (count == 1)
		snprintf(text + len, size - len, ": the clock of shard %lld is not known to be synchronised",
		         (long long)json_integer_value(json_array_get(list, 0)) + 1);
	else if (count > 1)
		snprintf(text + len, size - len, ": %zu of their clocks are not known to be synchronised", count);
}

/* How far apart the shards began: by their clocks, and what is certain. */
static void show_starts(struct layout *l, json_t *clocks)
{
	json_t *starts = json_object_get(clocks, "starts"), *most = json_object_get(starts, "at_most_ns"),
		   *shard = json_object_get(starts, "last_shard");
	int64_t apart_ns = json_integer_value(json_object_get(starts, "apart_ns"));
	char text[320], apart[40], bound[40];
	if (!starts)
		return;
	if (apart_ns == 0)
		snprintf(text, sizeof text, "all shards at one time by their clocks");
	else
		snprintf(
			text, sizeof text, "%s apart by the shards' clocks, shard %lld last", format_duration(apart_ns, apart),
			(long long)(shard ? json_integer_value(shard) : json_integer_value(json_object_get(starts, "last")) + 1));
	size_t len = strlen(text);
	if (json_is_integer(most))
		snprintf(text + len, sizeof text - len, "; truly apart by at most %s",
		         format_duration(json_integer_value(most), bound));
	else
		snprintf(text + len, sizeof text - len, "; how far truly is not known");
	if (!json_is_integer(most))
		put_unsynchronised(text, sizeof text, clocks);
	layout_entry(l, "starts", text);
}

/* How far apart the clocks of shards are: of several, the one that can be furthest from the first. */
static void show_clocks(struct layout *l, const struct report *report)
{
	json_t *clocks = run_data_clocks(report->run);
	int client;
	struct clock_offset o = clock_offsets_worst(clocks, &client);
	char text[240], middle[40], bound[40];
	if (clocks && o.low_ns == IPF_ABSENT && json_object_get(report->run->parts[0].header, "series"))
		layout_entry(l, "clocks", "it is not known how far apart those of the shards are");
	if (clocks && o.low_ns != IPF_ABSENT) {
		int64_t middle_ns = o.low_ns + (o.high_ns - o.low_ns) / 2;
		snprintf(text, sizeof text,
		         "shard %d of %lld is %s %s the first, to within %s%s; times are not corrected by it", client + 1,
		         (long long)json_integer_value(json_object_get(clocks, "clients")),
		         format_duration(llabs(middle_ns), middle), middle_ns < 0 ? "behind" : "ahead of",
		         format_duration((o.high_ns - o.low_ns) / 2, bound),
		         o.contradiction ? " (what is known of it is contradictory)" : "");
		layout_entry(l, "clocks", text);
	}
	show_starts(l, clocks);
	json_decref(clocks);
}

static void show_load(json_t *load, char *text, size_t size)
{
	char rate[40], events[40];
	snprintf(text, size, "%s requests/s, %s events/s",
	         show_number(json_number_value(json_object_get(load, "requests_per_s")), rate),
	         show_number(json_number_value(json_object_get(load, "events_per_s")), events));
}

/* The result of ipf-fire --calibrate on this machine. */
static void show_calibration(struct layout *l, json_t *info)
{
	json_t *found = json_object_get(info, "calibration");
	char text[400], load[120], top[120] = "", a[32], b[32], c[32];
	int64_t ttft = ns_of(found, "ttft_error_ns", "p99"), itl = ns_of(found, "itl_error_ns", "p99"),
			lag = ns_of(found, "lag_ns", "p99");
	if (ttft < 0 || itl < 0 || lag < 0)
		return;
	show_load(json_object_get(found, "shape"), load, sizeof load);
	if (json_object_get(found, "highest"))
		show_load(json_object_get(found, "highest"), top, sizeof top);
	snprintf(text, sizeof text, "p99 of the error at %s: TTFT %s, ITL %s, start %s; below 1 ms %s%s", load,
	         format_duration(ttft, a), format_duration(itl, b), format_duration(lag, c),
	         *top ? "up to " : "at no load tried", top);
	layout_entry(l, "calibrated", text);
}

/* What the user noted with --meta. */
static void show_meta(struct layout *l, json_t *info)
{
	struct buffer text = {0};
	const char *key;
	json_t *value;
	json_object_foreach(json_object_get(info, "meta"), key, value)
	{
		buffer_format(&text, "%s%s=", text.len ? ", " : "", key);
		safe_text_append(&text, slice_of(json_string_value(value)));
	}
	if (text.len && !text.failed)
		layout_entry(l, "meta", text.data);
	buffer_release(&text);
}

/* Whose file it is and whose definitions its figures have, if they are not ours. */
static void show_imported(struct layout *l, json_t *info)
{
	json_t *imported = json_object_get(info, "imported"), *note;
	const char *version = info_text(imported, "version"), *has = info_text(imported, "has");
	char text[400];
	size_t i;
	if (!imported)
		return;
	bool figures = has && strcmp(has, "figures") == 0;
	snprintf(text, sizeof text, "%s of %.80s%s%.60s%s", figures ? "figures, as stated by the file" : "requests",
	         info_text(imported, "tool"), version ? " " : "", version ? shown(version).text : "",
	         version ? "" : ", which does not say its version");
	layout_entry(l, "imported", text);
	snprintf(text, sizeof text, "those of %.80s, read as of version %.60s:", info_text(imported, "tool"),
	         info_text(imported, "as_of"));
	layout_entry(l, "definitions", text);
	json_array_foreach(json_object_get(imported, "notes"), i, note) layout_entry(l, "", json_string_value(note));
}

/* Those that ipf-collect --definition applied. */
static void show_definition(struct layout *l, json_t *info)
{
	json_t *definition = json_object_get(info, "definition"), *rule;
	const char *figure;
	char text[400];
	if (!info_text(definition, "tool") || !info_text(definition, "version"))
		return;
	snprintf(text, sizeof text, "those of %.80s", shown(info_text(definition, "tool")).text);
	snprintf(text + strlen(text), sizeof text - strlen(text),
	         " %.60s, not ours:", shown(info_text(definition, "version")).text);
	layout_entry(l, "definitions", text);
	json_object_foreach(json_object_get(definition, "rules"), figure, rule)
	{
		snprintf(text, sizeof text, "%.40s: %.300s", shown(figure).text,
		         json_is_string(rule) ? json_string_value(rule) : "");
		layout_entry(l, "", shown(text).text);
	}
}

static void show_run(struct layout *l, const struct report *report)
{
	json_t *info = report->run_info;
	static const char *const keys[] = {"target", "model", "tokenizer", "trace", "schedule"};
	struct event_clock times;
	char text[512] = "", number[40];
	layout_heading(l, "Run");
	layout_end_line(l);
	show_imported(l, info);
	show_definition(l, info);
	if (info_text(info, "name"))
		layout_entry(l, "name", shown(info_text(info, "name")).text);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		text[0] = 0;
		join(text, sizeof text, "", info_text(info, keys[i]), "");
		if (i == 0)
			join(text, sizeof text, ", ", info_text(info, "api"), "");
		json_t *object = json_object_get(info, keys[i]);
		join(text, sizeof text, "", info_text(object, "name"), "");
		if (info_text(object, "rule")) {
			snprintf(number, sizeof number, "(%.30s)", info_text(object, "rule"));
			join(text, sizeof text, " ", number, "");
		}
		if (json_is_integer(json_object_get(object, "requests"))) {
			join(text, sizeof text, "", show_count(json_integer_value(json_object_get(object, "requests")), number),
			     "requests");
			/* enough to distinguish traces; the JSON has all of it */
			snprintf(number, sizeof number, "SHA-256 %.16s",
			         info_text(object, "sha256") ? info_text(object, "sha256") : "unknown");
			join(text, sizeof text, ", ", number, "");
		}
		if (text[0])
			layout_entry(l, keys[i], text);
	}
	text[0] = 0;
	join(text, sizeof text, "", info_text(info, "started"), "");
	json_t *duration = json_object_get(info, "duration_s");
	if (duration)
		join(text, sizeof text, ", ", show_number(json_number_value(duration), number), "s");
	json_t *seed = json_object_get(info, "seed");
	if (json_is_integer(seed)) {
		snprintf(number, sizeof number, "seed %lld", (long long)json_integer_value(seed));
		join(text, sizeof text, ", ", number, "");
	}
	join(text, sizeof text, ", ",
	     report->run->part_count > 1 ? (report->run->shards ? "pooled from shards" : "pooled from repeats") : NULL, "");
	if (text[0])
		layout_entry(l, json_object_get(info, "started") ? "started" : "lasted", text);
	show_meta(l, info);
	if (event_clock_say(info, &times))
		layout_entry(l, "event times", times.text);
	show_clocks(l, report);
	show_calibration(l, info);
}

/* ---- stages ---- */

static void show_label(struct layout *l, int width, enum style style, const char *name, bool whole)
{
	layout_to(l, 2);
	if (whole && text_width(name) > width) {
		layout_clipped(l, WIDTH - 2, style, name);
		layout_end_line(l);
	} else {
		layout_clipped(l, width, style, name);
	}
}

/* How many bytes all names share at their beginning and at their end, up to a slash. */
static void common_ends(const struct string_table *names, size_t *front, size_t *back)
{
	const char *first = names->list[0];
	*front = *back = strlen(first);
	for (int i = 1; i < names->count; i++) {
		const char *other = names->list[i];
		size_t len = strlen(other), n = 0;
		while (n < *front && first[n] == other[n])
			n++;
		*front = n;
		for (n = 0; n < *back && n < len && first[strlen(first) - 1 - n] == other[len - 1 - n];)
			n++;
		*back = n;
	}
	while (*front > 0 && first[*front - 1] != '/')
		(*front)--;
	while (*back > 0 && first[strlen(first) - *back] != '/')
		(*back)--;
}

static const char *member_name(const struct run_data *run, enum grouping by, int member, char name[200])
{
	const struct string_table *names = &run->groups[by];
	size_t front = 0, back = 0;
	if (by == BY_TARGET || by == BY_REPLICA)
		common_ends(names, &front, &back);
	for (int i = 0; i < names->count; i++)
		if (strlen(names->list[i]) <= front + back)
			front = back = 0;
	safe_text(name, 200, (struct slice){names->list[member] + front, strlen(names->list[member]) - front - back});
	return name;
}

/* The tables that have a row for each stage, or for each model or target over all measured stages. */
enum { OF_STAGES = GROUPINGS, KINDS_OF_ROWS };
static const char *const of_each[KINDS_OF_ROWS] = {
	[OF_STAGES] = "stage", [BY_MODEL] = "model",        [BY_TARGET] = "target",   [BY_SESSION] = "session",
	[BY_TIME] = "time",    [BY_INPUT_TOKENS] = "input", [BY_REPLICA] = "replica", [BY_TAG] = "tag"};

static int rows_of(const struct report *report, int kind)
{
	if (kind == OF_STAGES)
		return (int)report->figures->count;
	int count = report->figures->total.groups[kind] ? report->figures->group_counts[kind] : 0;
	return count < GROUPS_SHOWN ? count : GROUPS_SHOWN;
}

/* The figures of a row and its label; NULL: the row has no requests to show. */
static const struct figures *row_of(const struct report *report, int kind, int i, char name[200])
{
	if (kind == OF_STAGES) {
		safe_text(name, 200, slice_of(report->figures->stages[i].name));
		return &report->figures->stages[i];
	}
	const struct figures *f = &report->figures->total.groups[kind][i];
	member_name(report->run, (enum grouping)kind, i, name);
	return figures_requests(f) > 0 ? f : NULL;
}

static void load_row(struct layout *l, const struct figures *f, const char *name, bool whole)
{
	char text[40], label[200 + 2];
	enum style style = f->measured ? PLAIN : FAINT;
	snprintf(label, sizeof label, f->measured ? "%s" : "(%s)", name);
	show_label(l, 21, style, label, whole);
	layout_right(l, 32, style, show_narrow_number(f->offered, 8, text));
	layout_right(l, 41, style, show_narrow_number(f->achieved, 8, text));
	layout_right(l, 50, style, show_narrow_number(f->in_flight_mean, 8, text));
	layout_right(l, 56, style, show_count(isnan(f->in_flight_max) ? IPF_ABSENT : (int64_t)f->in_flight_max, text));
	layout_right(l, 64, style, show_narrow_count(f->ok, 7, text));
	layout_right(l, 71, f->failed && f->measured ? BAD : style,
	             show_narrow_count(f->failures_unknown ? IPF_ABSENT : f->failed, 6, text));
	layout_right(l, WIDTH, style, show_narrow_number(f->output_per_s, 8, text));
	layout_end_line(l);
}

struct head {
	int column; /* its right end */
	const char *text;
};

static void show_heads(struct layout *l, const struct head *heads, size_t count)
{
	for (size_t i = 0; i < count; i++)
		layout_right(l, heads[i].column, FAINT, heads[i].text);
	layout_end_line(l);
}

static void load_heads(struct layout *l, const char *title)
{
	static const struct head above[] = {{41, "requests per s"}, {56, "in flight"}, {71, "requests"}, {WIDTH, "output"}},
							 heads[] = {{32, "offered"}, {41, "achieved"}, {50, "mean"},       {56, "max"},
	                                    {64, "ok"},      {71, "failed"},   {WIDTH, "tokens/s"}};
	layout_heading(l, title);
	show_heads(l, above, sizeof above / sizeof *above);
	show_heads(l, heads, sizeof heads / sizeof *heads);
}

/* Why rows have no tokens per second, if the same holds for the total, or the first such stage. */
static void note_throughput(struct layout *l, const struct run_figures *figures)
{
	const struct figures *f = &figures->total;
	char text[320];
	for (size_t i = 0; !f->no_throughput && i < figures->count; i++)
		if (figures->stages[i].measured)
			f = &figures->stages[i];
	if (!f->no_throughput)
		return;
	snprintf(text, sizeof text, "(%.100s%sno throughput: %s%s)", f->total ? "" : f->name, f->total ? "" : ": ",
	         f->no_throughput, f->window_ns > 0 ? "; --window drain measures until the last one has ended" : "");
	layout_to(l, 2);
	layout_wrapped(l, 3, FAINT, text);
}

static void add_rate(char *text, size_t size, double value, const char *unit)
{
	char number[40];
	if (!isnan(value))
		join(text, size, ", ", show_number(value, number), unit);
}

/* What was completed in the windows of all measured stages. */
static void show_completed(struct layout *l, const struct figures *f)
{
	char text[200] = "";
	add_rate(text, sizeof text, f->completed, "requests/s");
	add_rate(text, sizeof text, f->input_per_s, "input tokens/s");
	add_rate(text, sizeof text, f->output_per_s, "output tokens/s");
	if (!text[0])
		return;
	layout_to(l, 2);
	layout_text(l, PLAIN, "completed:");
	layout_to(l, 13);
	layout_wrapped(l, 13, PLAIN, text);
}

/* There is more to see than the tables show. */
static void note_groupings(struct layout *l, const struct report *report)
{
	for (enum grouping by = BY_MODEL; by <= BY_TARGET; by++) {
		if (report->run->groups[by].count < 2 || report->figures->total.groups[by])
			continue;
		layout_to(l, 2);
		layout_format(l, FAINT, "(%d %ss: --by %s shows each)", report->run->groups[by].count, groupings[by],
		              groupings[by]);
		layout_end_line(l);
	}
}

/* Below a table: how many members it leaves out. */
static void note_left_out(struct layout *l, const struct report *report, int kind)
{
	int shown = rows_of(report, kind), all = report->run->groups[kind].count;
	if (shown == 0 || shown == all)
		return;
	layout_to(l, 2);
	layout_format(l, FAINT, "(the first %d of %d; -f json and -f csv have more)", shown, all);
	layout_end_line(l);
}

/* --by what no request has. */
static void note_no_members(struct layout *l, const struct report *report, enum grouping by)
{
	if (!report->options->by[by] || report->run->groups[by].count > 0)
		return;
	layout_to(l, 2);
	layout_format(l, FAINT, "(--by: no request has a %s)", of_each[by]);
	layout_end_line(l);
}

static void show_stages(struct layout *l, const struct report *report)
{
	static const char *const titles[GROUPINGS] = {"Models",          "Targets",  "Sessions", "By time",
	                                              "By input tokens", "Replicas", "By tag"};
	const struct run_figures *figures = report->figures;
	bool unmeasured = false;
	char name[200];
	load_heads(l, "Stages");
	for (int i = 0; i < rows_of(report, OF_STAGES); i++) {
		const struct figures *f = row_of(report, OF_STAGES, i, name);
		load_row(l, f, name, false);
		unmeasured |= !f->measured;
	}
	if (figures->count != 1 || unmeasured)
		load_row(l, &figures->total, "total", false);
	if (unmeasured) {
		layout_to(l, 2);
		layout_text(l, FAINT, "(in brackets: not measured, and not in the total)");
		layout_end_line(l);
	}
	show_completed(l, &figures->total);
	note_throughput(l, figures);
	note_groupings(l, report);
	for (int kind = 0; kind < OF_STAGES; kind++) {
		if (rows_of(report, kind) > 0)
			load_heads(l, titles[kind]);
		for (int i = 0; i < rows_of(report, kind); i++) {
			const struct figures *f = row_of(report, kind, i, name);
			if (f)
				load_row(l, f, name, true);
		}
		note_left_out(l, report, kind);
		note_no_members(l, report, (enum grouping)kind);
	}
}

/* ---- a row for each stage, model or target ---- */

/* Has this kind of rows more to say than the total? */
static bool is_divided(const struct report *report, int kind)
{
	int measured = 0;
	for (size_t i = 0; i < report->figures->count; i++)
		measured += report->figures->stages[i].measured && figures_requests(&report->figures->stages[i]) > 0;
	return kind == OF_STAGES ? measured > 1 : rows_of(report, kind) > 0;
}

static void completed_row(struct layout *l, const struct figures *f, const char *name, bool whole, bool goodput)
{
	char text[40];
	show_label(l, 25, PLAIN, name, whole);
	layout_right(l, 36, PLAIN, show_narrow_number(f->completed, 8, text));
	layout_right(l, 49, PLAIN, show_narrow_number(f->input_per_s, 11, text));
	layout_right(l, 63, PLAIN, show_narrow_number(f->output_per_s, 11, text));
	if (goodput) {
		layout_right(l, 72, PLAIN, show_narrow_number(f->goodput, 8, text));
		layout_right(l, WIDTH, PLAIN, show_percent(f->good_share, text));
	}
	layout_end_line(l);
}

static void show_completed_rows(struct layout *l, const struct report *report, int kind)
{
	static const struct head heads[] = {
		{36, "requests"}, {49, "input tokens"}, {63, "output tokens"}, {72, "goodput"}, {WIDTH, "share"}};
	bool goodput = report->figures->total.judged + report->figures->total.unmeasured > 0;
	char name[200], title[40];
	snprintf(title, sizeof title, "By %s, completed per s", of_each[kind]);
	layout_heading(l, title);
	show_heads(l, heads, sizeof heads / sizeof *heads - (goodput ? 0 : 2));
	for (int i = 0; i < rows_of(report, kind); i++) {
		const struct figures *f = row_of(report, kind, i, name);
		if (f && f->measured)
			completed_row(l, f, name, kind != OF_STAGES, goodput);
	}
}

/* ---- latency ---- */

static void row_both(struct text_table *t, const char *label, const struct figures *f, enum metric m)
{
	text_table_row(t, label, "from start", &f->start[m]);
	text_table_row(t, "", "from due", &f->due[m]);
}

static void latency_rows(struct text_table *t, const struct figures *f, const char *itl)
{
	static const char failures[] = "with failures"; /* as infinite */
	char per[32];
	snprintf(per, sizeof per, "per %.20s", itl);
	row_both(t, "TTFT", f, METRIC_TTFT);
	text_table_row(t, "", failures, &f->with_failures[WAITED_TTFT]);
	row_both(t, "TTFA", f, METRIC_TTFA);
	text_table_row(t, "ITL", per, &f->itl);
	text_table_row(t, "TPOT", "", &f->start[METRIC_TPOT]);
	text_table_row(t, "", failures, &f->with_failures[WAITED_TPOT]);
	text_table_row(t, "NTPOT", "", &f->start[METRIC_NTPOT]);
	row_both(t, "E2E", f, METRIC_E2E);
	text_table_row(t, "", failures, &f->with_failures[WAITED_E2E]);
	text_table_row(t, "lag", "", &f->start[METRIC_LAG]);
	text_table_row(t, "slot wait", "", &f->start[METRIC_SLOT_WAIT]);
}

/* Says why figures are missing that a reader looks for. */
static void note_not_streamed(struct layout *l, const struct figures *f)
{
	static const char *const reasons[RESULT_NOT_STREAMED_COUNT] = {
		[RESULT_STREAM_IGNORED] = "the server ignored the request for streaming",
		[RESULT_STREAM_NOT_ASKED] = "streaming was not requested",
		[RESULT_NO_STREAMING] = "the API has no streaming",
	};
	char a[40], c[40], text[320];
	for (int i = 0; i < RESULT_NOT_STREAMED_COUNT; i++) {
		if (f->not_streamed[i] == 0)
			continue;
		snprintf(text, sizeof text, "no TTFT, TTFA, ITL and TPOT for %s of %s response%s, which came as a whole: %s",
		         show_count(f->not_streamed[i], a), show_count(f->ok, c), plural(f->ok), reasons[i]);
		layout_to(l, 2);
		layout_wrapped(l, 2, PLAIN, text);
	}
}

/* The total of several stages whose figures another tool states has none. */
static bool has_latency(const struct figures *f)
{
	bool any = f->itl.n != 0;
	for (enum metric m = 0; m < METRIC_COUNT; m++)
		any |= f->start[m].n != 0;
	return any;
}

/* Returns whether any percentile was marked. */
static bool total_latency(struct layout *l, const struct report *report)
{
	const struct figures *f = &report->figures->total;
	struct text_table t;
	text_table_init(&t, l, &report->options->percentiles, false);
	if ((f->ok == 0 && f->started == 0) || (report->run->stated && !has_latency(f)))
		return false;
	while (text_table_part(&t, report->run->stated && !report->run->stated->requests ? "Latency, ms, as stated"
	                                                                                 : "Latency, ms"))
		latency_rows(&t, f, run_data_itl(report->run, 0));
	text_table_note(l, t.weak);
	note_not_streamed(l, f);
	return t.weak;
}

/* Where the columns of each metric end: its p50 and its p99. */
static const int each_ends[][2] = {{27, 35}, {42, 49}, {56, 63}, {71, 79}};

static bool has_due(const struct figures *f)
{
	return f->due[METRIC_E2E].n > 0;
}

static bool latency_cells(struct layout *l, const struct figures *f, const char *name, bool whole)
{
	const struct metric_summary *summaries[] = {has_due(f) ? &f->due[METRIC_TTFT] : &f->start[METRIC_TTFT], &f->itl,
	                                            &f->start[METRIC_TPOT],
	                                            has_due(f) ? &f->due[METRIC_E2E] : &f->start[METRIC_E2E]};
	char text[40];
	bool weak = false;
	show_label(l, 18, PLAIN, name, whole);
	for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++)
		for (int k = 0; k < 2; k++) {
			const struct metric_summary *d = summaries[i];
			double value = d->n == 0 ? NAN : k ? d->p99 : d->median;
			bool mark = d->n > 0 && !percentile_is_firm(d->n, k ? 99 : 50);
			weak |= text_table_cell(l, each_ends[i][k], show_narrow_number(value, 6, text), mark);
		}
	layout_end_line(l);
	return weak;
}

static void latency_heads(struct layout *l, int kind, bool due)
{
	static const char *const metrics_shown[] = {"TTFT", "ITL", "TPOT", "E2E"};
	char text[40];
	snprintf(text, sizeof text, "By %s, ms", of_each[kind]);
	layout_heading(l, text);
	for (int i = 0; i < 4; i++) {
		snprintf(text, sizeof text, "%s%s", metrics_shown[i],
		         i == 1 || i == 2 ? ""
		         : due            ? " from due"
		                          : " from start");
		layout_right(l, each_ends[i][1], FAINT, text);
	}
	layout_end_line(l);
	for (int i = 0; i < 8; i++)
		layout_right(l, each_ends[i / 2][i % 2], FAINT, i % 2 ? "p99" : "p50");
	layout_end_line(l);
}

/* The figures that are compared most. Returns whether any percentile was marked. */
static bool show_latency_rows(struct layout *l, const struct report *report, int kind)
{
	bool weak = false, due = false, closed = false;
	char name[200];
	const struct figures *f;
	for (int i = 0; i < rows_of(report, kind); i++) {
		if (!(f = row_of(report, kind, i, name)) || !f->measured || f->ok == 0)
			continue;
		due |= has_due(f);
		closed |= !has_due(f);
	}
	if (!due && !closed)
		return false;
	latency_heads(l, kind, due);
	for (int i = 0; i < rows_of(report, kind); i++)
		if ((f = row_of(report, kind, i, name)) && f->measured && f->ok > 0)
			weak |= latency_cells(l, f, name, kind != OF_STAGES);
	if (due && closed) {
		layout_to(l, 2);
		layout_text(l, FAINT, "(closed loops have no due times: their latencies count from start)");
		layout_end_line(l);
	}
	return weak;
}

static void show_server_times(struct layout *l, const struct report *report)
{
	static const char *const labels[] = {"load", "queue", "prefill", "TTFT", "decode", "TPOT", "inference", "total"};
	const struct figures *f = &report->figures->total;
	struct text_table t;
	bool any = false;
	for (enum metric m = METRIC_SERVER_LOAD; m <= METRIC_SERVER_TOTAL; m++)
		any |= f->start[m].n > 0;
	text_table_init(&t, l, &report->options->percentiles, false);
	while (any && text_table_part(&t, "As the server says, ms"))
		for (enum metric m = METRIC_SERVER_LOAD; m <= METRIC_SERVER_TOTAL; m++)
			text_table_row(&t, labels[m - METRIC_SERVER_LOAD], "", &f->start[m]);
}

static void show_early_stopping(struct layout *l, const struct report *report)
{
	static const char *const labels[WAITED] = {"TTFT", "TTFA", "TPOT", "NTPOT", "E2E"};
	const struct figures *f = &report->figures->total;
	char text[40];
	if (!report->options->early_stopping)
		return;
	layout_heading(l, "Early stopping, ms");
	for (int k = 0; k < EARLY_PERCENTILES; k++)
		layout_right(l, 33 + 9 * k, FAINT, percentile_name(early_percentiles[k], text));
	layout_end_line(l);
	for (int i = 0; i < WAITED; i++) {
		if (f->start[waited_metrics[i]].n == 0)
			continue;
		layout_to(l, 2);
		layout_text(l, PLAIN, labels[i]);
		for (int k = 0; k < EARLY_PERCENTILES; k++)
			layout_right(l, 33 + 9 * k, PLAIN, show_narrow_number(f->early[i][k], 8, text));
		layout_end_line(l);
	}
	layout_to(l, 2);
	layout_wrapped(l, 3, FAINT,
	               "(MLPerf's bounds at 99 % confidence, from due if there is one, failures as infinite; -: too few "
	               "requests)");
}

static void show_latency(struct layout *l, const struct report *report)
{
	bool explained = total_latency(l, report);
	text_accuracy(l, report);
	text_distributions(l, report);
	show_early_stopping(l, report);
	show_server_times(l, report);
	for (int i = 0; i < KINDS_OF_ROWS; i++) {
		int kind = i == 0 ? OF_STAGES : i - 1; /* stages come first */
		if (!is_divided(report, kind))
			continue;
		bool weak = show_latency_rows(l, report, kind);
		text_table_note(l, weak && !explained);
		explained |= weak;
		show_completed_rows(l, report, kind);
	}
}

/* ---- tokens ---- */

/* Rounded as shown, so that there is no "-0.0". */
static double percent(double share)
{
	return round(1000 * share) / 10 + 0.0;
}

static void note_sources(struct layout *l, const struct figures *f)
{
	char text[160] = "", number[40], item[80];
	for (int i = 0; i < SOURCES; i++)
		if (f->by_source[i] > 0) {
			snprintf(item, sizeof item, "%s (%s answer%s%s)", sources[i], show_count(f->by_source[i], number),
			         plural(f->by_source[i]), i == SOURCE_NONE ? "; ipf-collect -t counts them" : "");
			join(text, sizeof text, ", ", item, "");
		}
	if (text[0])
		layout_entry(l, "counted by", text);
}

static void add_residual(char *text, size_t size, const char *what, const struct token_difference *r)
{
	char item[80];
	if (r->n == 0 || isnan(r->share))
		return;
	snprintf(item, sizeof item, "%s %+.1f %%", what, percent(r->share));
	join(text, size, ", ", item, "");
}

static void note_residuals(struct layout *l, const struct figures *f)
{
	char text[240] = "", number[40];
	add_residual(text, sizeof text, "usage vs. tokenizer", &f->residuals[OUTPUT_USAGE_TOKENIZER]);
	add_residual(text, sizeof text, "usage vs. events", &f->residuals[OUTPUT_USAGE_EVENTS]);
	add_residual(text, sizeof text, "tokenizer vs. events", &f->residuals[OUTPUT_TOKENIZER_EVENTS]);
	add_residual(text, sizeof text, "received vs. requested", &f->residuals[OUTPUT_ASKED]);
	if (text[0])
		layout_entry(l, "output", text);
	text[0] = 0;
	add_residual(text, sizeof text, "usage vs. tokenizer", &f->residuals[INPUT_USAGE_TOKENIZER]);
	add_residual(text, sizeof text, "received vs. requested", &f->residuals[INPUT_ASKED]);
	if (!isnan(f->cached_share))
		join(text, sizeof text, ", ", show_percent(f->cached_share, number), "from the server's cache");
	if (text[0])
		layout_entry(l, "input", text);
}

static void note_events(struct layout *l, const struct figures *f)
{
	char text[240], events[40], share[40], stalls[40], stalled[40];
	if (f->events == 0)
		return;
	snprintf(text, sizeof text, "%s with content", show_count(f->events, events));
	if (f->reads_known)
		snprintf(text + strlen(text), sizeof text - strlen(text), ", %s of them shared a read",
		         show_percent((double)f->coalesced / (double)f->events, share));
	if (f->stalls > 0)
		snprintf(text + strlen(text), sizeof text - strlen(text), ", %s stall%s in %s request%s",
		         show_count(f->stalls, stalls), plural(f->stalls), show_count(f->stalled, stalled), plural(f->stalled));
	layout_entry(l, "events", text);
	if (f->deadlines == 0)
		return;
	snprintf(text, sizeof text, "%s of %s tokens met their deadline",
	         show_percent((double)f->deadlines_met / (double)f->deadlines, share), show_count(f->deadlines, events));
	layout_entry(l, "fluidity", text);
}

static void note_finishes(struct layout *l, const struct figures *f, const struct string_table *finishes)
{
	char text[512] = "", number[40], item[120];
	for (int i = 0; i < finishes->count; i++)
		if (f->by_finish[i] > 0) {
			snprintf(item, sizeof item, "%.60s %s", finishes->list[i], show_count(f->by_finish[i], number));
			join(text, sizeof text, ", ", item, "");
		}
	if (text[0])
		layout_entry(l, "finish", text);
}

static void show_tokens(struct layout *l, const struct report *report)
{
	const struct figures *f = &report->figures->total;
	struct text_table t;
	text_table_init(&t, l, &report->options->percentiles, true);
	if (f->ok == 0 || (report->run->stated && f->input.n == 0 && f->output.n == 0))
		return;
	while (text_table_part(&t, "Tokens")) {
		text_table_row(&t, "input", "", &f->input);
		text_table_row(&t, "output", "", &f->output);
		text_table_row(&t, "requested", "", &f->asked_output);
		text_table_row(&t, "reasoning", "", &f->reasoning);
	}
	note_sources(l, f);
	note_residuals(l, f);
	note_events(l, f);
	note_finishes(l, f, &report->run->finishes);
}

/* ---- errors and goodput ---- */

/* The most frequent texts, with what may help. */
static void show_reasons(struct layout *l, const struct failure_tally *t)
{
	char text[FAILURE_TEXT + 80], a[40];
	int64_t rest = t->all;
	int shown_most = t->count <= REASONS_MOST + 1 ? t->count : REASONS_MOST;
	for (int i = 0; i < shown_most; i++) {
		const char *hint = failure_hint(&t->list[i]);
		layout_to(l, 14);
		layout_wrapped(l, 18, PLAIN, failure_describe(&t->list[i], text, sizeof text));
		if (hint) {
			layout_to(l, 18);
			layout_wrapped(l, 18, FAINT, hint);
		}
		rest -= t->list[i].count;
	}
	if (rest > 0) {
		layout_to(l, 14);
		layout_format(l, PLAIN, "%s more for other reasons", show_count(rest, a));
		layout_end_line(l);
	}
}

static void show_failures(struct layout *l, const struct figures *f)
{
	char text[512] = "", a[40], item[120];
	int64_t requests = f->ok + f->failed;
	layout_to(l, 14);
	if (f->failed == 0) {
		layout_format(l, PLAIN, "none in %s request%s", show_count(requests, a), plural(requests));
		layout_end_line(l);
		return;
	}
	layout_format(l, PLAIN, "%s of ", show_count(f->failed, a));
	layout_format(l, PLAIN, "%s request%s, ", show_count(requests, a), plural(requests));
	layout_text(l, PLAIN, show_percent((double)f->failed / (double)requests, a));
	layout_end_line(l);
	for (int i = 0; i < VERDICT_KINDS; i++)
		if (f->errors[i] > 0) {
			snprintf(item, sizeof item, "%s %s", verdict_kinds[i], show_count(f->errors[i], a));
			join(text, sizeof text, ", ", item, "");
		}
	if (*text) {
		layout_to(l, 14);
		layout_wrapped(l, 14, PLAIN, text);
	}
	if (f->stale > 0) {
		layout_to(l, 14);
		snprintf(text, sizeof text, "%s of the resets: kept-alive connections that the server had already closed",
		         show_count(f->stale, a));
		layout_wrapped(l, 14, PLAIN, text);
	}
}

static void show_errors(struct layout *l, const struct report *report)
{
	const struct figures *f = &report->figures->total;
	char a[40], c[40];
	if (figures_requests(f) == 0 || f->failures_unknown)
		return;
	layout_heading(l, "Errors");
	show_failures(l, f);
	show_reasons(l, &report->run->failures);
	if (f->hung_up > 0) {
		layout_to(l, 14);
		layout_format(l, PLAIN, "%s more: disconnected by ipf-fire on purpose", show_count(f->hung_up, a));
		layout_end_line(l);
	}
	if (f->went_on > 0) {
		layout_to(l, 14);
		layout_format(l, PLAIN, "after the end mark: %s content ", show_count(f->after_end, a));
		layout_format(l, PLAIN, "event%s of %s ", plural(f->after_end), show_count(f->went_on, c));
		layout_format(l, PLAIN, "response%s", plural(f->went_on));
		layout_end_line(l);
	}
}

static void show_good(struct layout *l, const struct figures *f)
{
	char a[40], c[40];
	if (!isnan(f->good_share)) {
		layout_to(l, 14);
		layout_format(l, PLAIN, "%s requests/s, ", show_number(f->goodput, a));
		layout_format(l, PLAIN, "%s of the requests met all objectives", show_percent(f->good_share, a));
		layout_end_line(l);
	} else if (f->unmeasured > 0) {
		layout_to(l, 14);
		layout_format(l, PLAIN, "not measurable: %s of ", show_count(f->unmeasured, a));
		layout_format(l, PLAIN, "%s requests were not streamed", show_count(f->judged + f->unmeasured, c));
		layout_end_line(l);
	}
	if (!isnan(f->good_share) && f->unmeasured > 0) {
		layout_to(l, 14);
		layout_format(l, PLAIN, "%s excluded: not streamed", show_count(f->unmeasured, a));
		layout_end_line(l);
	}
	if (f->left_out > 0) {
		layout_to(l, 14);
		layout_format(l, PLAIN, "%s excluded: disconnected on purpose", show_count(f->left_out, a));
		layout_end_line(l);
	}
}

static void show_goodput(struct layout *l, const struct report *report)
{
	const struct figures *f = &report->figures->total;
	const struct slo *slo = report->run->slo;
	char c[40];
	if (f->judged == 0 && f->unmeasured == 0 && slo->count == 0)
		return;
	layout_heading(l, "Goodput");
	show_good(l, f);
	for (int i = 0; i < slo->count; i++) {
		const struct objective *objective = &slo->list[i];
		const struct attainment *got = &f->objectives[i];
		layout_to(l, 14);
		layout_text(l, PLAIN, objective->text);
		layout_to(l, 34);
		if (isnan(isnan(objective->percentile) ? got->share : got->value_ms)) {
			layout_text(l, PLAIN, got->unmeasured ? "not measurable: not streamed" : "no request to compare");
		} else if (isnan(objective->percentile)) {
			layout_format(l, PLAIN, "%s of the requests", show_percent(got->share, c));
		} else {
			layout_text(l, got->met ? GOOD : BAD, got->met ? "met" : "missed");
			if (isinf(got->value_ms))
				layout_text(l, PLAIN, ": among the failed requests");
			else
				layout_format(l, PLAIN, ": %s ms", show_number(got->value_ms, c));
		}
		layout_end_line(l);
	}
}

static void render_text(const struct report *report, struct buffer *out)
{
	struct layout l = {.out = out, .colour = report->colour};
	show_verdict(&l, report);
	show_run(&l, report);
	show_stages(&l, report);
	show_latency(&l, report);
	text_repeats(&l, report);
	text_saturation(&l, report);
	text_autoscaling(&l, report);
	text_sessions(&l, report);
	show_tokens(&l, report);
	text_fidelity(&l, report);
	text_cache(&l, report);
	text_time_line(&l, report);
	text_server(&l, report);
	text_accelerators(&l, report);
	text_cost(&l, report);
	text_transport(&l, report);
	show_errors(&l, report);
	show_goodput(&l, report);
	text_said(&l, report);
}

const struct report_format format_text = {.render = render_text, .groups = true};

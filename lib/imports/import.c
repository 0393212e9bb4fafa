#include "imports/import.h"

#include "absent.h"
#include "clock.h"
#include "memory.h"
#include "safe_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The result of reading a file. Rows wait in a file until the end, when all stages are known. */
struct import_parts {
	struct row_lines *rows;
	int64_t row_count;
	json_t *stages;   /* as in the headers of schedules */
	int64_t first_ns; /* the earliest start of all, when all rows are there; IPF_ABSENT */
	int64_t began_ns; /* the moment that times count from, since the epoch; IPF_ABSENT */
	struct import_counts {
		int64_t arrivals, first_ns; /* the earliest start; IPF_ABSENT */
		struct histogram *gaps;
	} counts[STATED_STAGES_MOST];
	struct stated *stated;
	int64_t lasted_ns;
	struct buffer line;
};

/* ---- additions of tools ---- */

/* Names of stages are unique. */
static void name_stage(json_t *stages, const char *wanted, char name[240])
{
	json_t *other;
	size_t i = 0, count = json_array_size(stages);
	if (wanted && *wanted)
		snprintf(name, 240, "%.200s", shown(wanted).text);
	else
		snprintf(name, 240, "run %zu", count + 1);
	for (size_t number = 2; i < count; i++) {
		other = json_object_get(json_array_get(stages, i), "name");
		if (strcmp(json_string_value(other), name) != 0)
			continue;
		snprintf(name, 240, "%.200s %zu", wanted && *wanted ? shown(wanted).text : "run", number++);
		i = (size_t)-1;
	}
}

int import_stage(struct import *in, const struct import_stage *stage, struct ipf_error *err)
{
	json_t *stages = in->parts->stages;
	int number = (int)json_array_size(stages);
	char name[240];
	if (number == STATED_STAGES_MOST)
		return json_pull_wrong(&in->json, err, "has more than %d runs", STATED_STAGES_MOST);
	name_stage(stages, stage->name, name);
	const char *kind = stage->kind ? stage->kind : "unknown";
	json_t *json = json_pack("{s:s, s:s, s:s, s:i}", "name", name, "kind", kind, "spec", "", "begin_ns", 0);
	int bad = !json;
	if (stage->rate > 0 && stage->rate < 1e6)
		bad |= json_object_set_new(json, "rate", json_real(stage->rate));
	if (stage->slots > 0 && stage->slots <= SCHEDULE_SLOTS_MAX) {
		bad |= json_object_set_new(json, "slots", json_integer(stage->slots));
		if (strcmp(kind, "closed") == 0)
			bad |= json_object_set_new(json, "closed", json_true());
	}
	if (stage->warmup)
		bad |= json_object_set_new(json, "measured", json_false());
	bad |= json_array_append_new(stages, json);
	in->parts->counts[number].first_ns = IPF_ABSENT;
	return bad ? ipf_error_memory(err) : number;
}

int import_row(struct import *in, struct result *row, struct ipf_error *err)
{
	struct import_parts *parts = in->parts;
	row->n = parts->row_count++;
	result_write(row, &parts->line);
	if (parts->line.failed)
		return ipf_error_memory(err);
	struct import_counts *counts = &parts->counts[row->stage];
	counts->arrivals++;
	if (row->start_ns != IPF_ABSENT && (counts->first_ns == IPF_ABSENT || row->start_ns < counts->first_ns))
		counts->first_ns = row->start_ns;
	row_lines_add(parts->rows, buffer_all(&parts->line));
	return row_lines_check(parts->rows, err);
}

void import_gap(struct import *in, int stage, int64_t gap_ns)
{
	struct histogram **gaps = &in->parts->counts[stage].gaps;
	if (!*gaps)
		*gaps = histogram_new();
	if (*gaps)
		histogram_add(*gaps, gap_ns, 1);
}

void import_gaps(struct import *in, int stage, struct histogram *gaps)
{
	histogram_free(in->parts->counts[stage].gaps);
	in->parts->counts[stage].gaps = gaps;
}

struct stated_stage *import_figures(struct import *in, int number, struct ipf_error *err)
{
	struct import_parts *parts = in->parts;
	if (!parts->stated)
		parts->stated = stated_new();
	struct stated_stage *stage = parts->stated ? stated_stage_of(parts->stated, (size_t)number) : NULL;
	if (!stage)
		ipf_error_memory(err);
	return stage;
}

void import_lasted(struct import *in, double seconds)
{
	int64_t ns = import_ns(seconds, 1e9);
	in->parts->lasted_ns += ns == IPF_ABSENT ? 0 : ns;
}

void import_note(struct import *in, const char *text)
{
	json_t *notes = json_object_get(in->facts, "notes");
	if (!notes) {
		notes = json_array();
		json_object_set_new(in->facts, "notes", notes);
	}
	json_array_append_new(notes, json_string(text));
}

int64_t import_ns(double value, double unit)
{
	double ns = value * unit;
	return ns > -1e17 && ns < 1e17 ? (int64_t)llround(ns) : IPF_ABSENT;
}

int64_t import_moment(const struct jdoc *doc, jdoc_id node, int64_t base_ns)
{
	int64_t ns, most_ns = INT64_C(1) << 56;
	if (!jdoc_to_int(doc, node, &ns) || ns < 0 || ns - base_ns > most_ns || ns - base_ns < -most_ns)
		return IPF_ABSENT;
	return ns - base_ns;
}

int64_t import_count(double value)
{
	return value >= 0 && value <= 1e12 ? (int64_t)llround(value) : IPF_ABSENT;
}

static int64_t share(int64_t ns, int64_t parts)
{
	return (int64_t)llround((double)ns / (double)parts);
}

void import_derive(struct result *row, int64_t gaps, double gaps_ns, int64_t gap_max_ns)
{
	int64_t tokens = row->output_tokens;
	if (row->start_ns != IPF_ABSENT && row->end_ns == IPF_ABSENT && row->e2e_ns != IPF_ABSENT)
		row->end_ns = row->start_ns + row->e2e_ns;
	if (row->start_ns != IPF_ABSENT && row->due_ns != IPF_ABSENT && row->lag_ns == IPF_ABSENT)
		row->lag_ns = row->start_ns - row->due_ns;
	if (gaps > 0 && row->itl_mean_ns == IPF_ABSENT) {
		row->itl_mean_ns = import_ns(gaps_ns / (double)gaps, 1);
		row->itl_max_ns = gap_max_ns;
	}
	if (!row->ok || tokens == IPF_ABSENT || tokens < 1 || row->e2e_ns == IPF_ABSENT)
		return;
	if (row->ntpot_ns == IPF_ABSENT)
		row->ntpot_ns = share(row->e2e_ns, tokens);
	if (row->tpot_ns == IPF_ABSENT && tokens > 1 && row->ttft_ns != IPF_ABSENT && row->e2e_ns >= row->ttft_ns)
		row->tpot_ns = share(row->e2e_ns - row->ttft_ns, tokens - 1);
}

void import_move_events(struct slice list, int64_t by_ns, struct buffer *out)
{
	const char *from = list.data + 1, *end = list.data + list.len;
	buffer_clear(out);
	while (from < end) {
		char *after;
		long long ns = strtoll(from, &after, 10);
		if (after == from)
			break;
		buffer_format(out, "%c%lld", out->len ? ',' : '[', (long long)by_ns + ns);
		from = after + 1;
	}
	buffer_text(out, out->len ? "]" : "[]");
}

void import_began(struct import *in, int64_t unix_ns)
{
	in->parts->began_ns = unix_ns;
}

static void put_began(struct import *in, int64_t unix_ns)
{
	char text[40] = "";
	struct tm tm;
	time_t seconds = (time_t)(unix_ns / 1000000000);
	if (unix_ns <= 0 || !gmtime_r(&seconds, &tm))
		return;
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_object_set_new(in->records, "t0", json_string(text));
	json_object_set_new(in->records, "t0_unix_ns", json_integer(unix_ns));
}

int import_value(struct import *in, struct buffer *raw, struct jdoc *doc, struct ipf_error *err)
{
	if (json_pull_value(&in->json, raw, err) < 0)
		return -1;
	if (jdoc_parse(doc, raw->data, raw->len, err) == 0)
		return 0;
	ipf_error_place(err, in->name, in->json.line);
	return -1;
}

void import_fact(json_t *to, const char *key, struct slice text)
{
	json_t *value = text.len && *text.data == '"' ? json_loadb(text.data, text.len, JSON_DECODE_ANY, NULL) : NULL;
	if (json_is_string(value) && json_string_length(value) > 0)
		json_object_set(to, key, value);
	json_decref(value);
}

/* ---- the part of the run ---- */

static json_t *header_of(struct import *in)
{
	struct import_parts *parts = in->parts;
	const char *version = json_string_value(json_object_get(in->facts, "version"));
	json_t *stage, *header = json_pack("{s:s, s:i, s:O, s:[O]}", "ipf", "results", "version", 1, "imported", in->facts,
	                                   "from", in->records);
	size_t i;
	int64_t first_n = 0;
	json_array_foreach(parts->stages, i, stage)
	{
		json_object_set_new(stage, "arrivals", json_integer(parts->counts[i].arrivals));
		json_object_set_new(stage, "first_n", json_integer(first_n));
		first_n += parts->counts[i].arrivals;
	}
	json_object_set_new(in->records, "ipf", json_string("records"));
	json_object_set(in->records, "stages", parts->stages);
	char tool[100];
	snprintf(tool, sizeof tool, "%s%s%.60s", json_string_value(json_object_get(in->facts, "format")),
	         version ? " " : "", version ? version : "");
	json_object_set_new(header, "tool", json_string(tool));
	json_object_set_new(in->records, "tool", json_string(tool));
	return header;
}

/* The earliest start, which becomes the start of the run; IPF_ABSENT. */
static int64_t first_start(const struct import_parts *parts)
{
	int64_t first_ns = IPF_ABSENT;
	for (size_t i = 0; i < json_array_size(parts->stages); i++) {
		int64_t ns = parts->counts[i].first_ns;
		if (ns != IPF_ABSENT && (first_ns == IPF_ABSENT || ns < first_ns))
			first_ns = ns;
	}
	return first_ns;
}

/* When each stage began, as in a trailer. */
static json_t *trailer_of(const struct import_parts *parts)
{
	json_t *begins = json_array(), *trailer = json_pack("{s:[{s:O}]}", "from", "stages", begins);
	for (size_t i = 0; i < json_array_size(parts->stages); i++) {
		int64_t ns = parts->counts[i].first_ns;
		json_array_append_new(
			begins, json_pack("{s:I}", "begin_ns", (json_int_t)(ns == IPF_ABSENT ? 0 : ns - parts->first_ns)));
	}
	json_decref(begins);
	return trailer;
}

static void move_row(struct result *row, int64_t by_ns, struct buffer *events)
{
	int64_t *const times[] = {&row->due_ns, &row->ready_ns, &row->start_ns, &row->end_ns};
	for (size_t i = 0; by_ns != 0 && i < sizeof times / sizeof *times; i++)
		if (*times[i] != IPF_ABSENT)
			*times[i] += by_ns;
	if (by_ns == 0 || !row->event_ns.data)
		return;
	import_move_events(row->event_ns, by_ns, events);
	row->event_ns = buffer_all(events);
}

static int add_row(struct import *in, struct result *row, struct buffer *events, struct ipf_error *err)
{
	struct import_parts *parts = in->parts;
	move_row(row, parts->first_ns == IPF_ABSENT ? 0 : -parts->first_ns, events);
	if (!in->run->lines)
		return run_data_add(in->run, row, (struct slice){0}, err);
	result_write(row, &parts->line);
	return parts->line.failed || events->failed ? ipf_error_memory(err)
	                                            : run_data_add(in->run, row, buffer_all(&parts->line), err);
}

static int add_rows(struct import *in, struct progress *progress, struct ipf_error *err)
{
	struct import_parts *parts = in->parts;
	struct buffer events = {0};
	struct result row;
	int64_t at = 0;
	int bad = 0;
	for (int64_t i = 0; bad == 0 && i < parts->row_count; i++) {
		bad = row_lines_read(parts->rows, at, &row) ? 0 : row_lines_check(parts->rows, err);
		at = row_lines_next(parts->rows);
		if (bad == 0)
			bad = add_row(in, &row, &events, err);
		if (progress_due(progress, clock_now()))
			progress_show(progress, "%lld requests read", (long long)in->run->row_count);
	}
	for (size_t i = 0; bad == 0 && i < json_array_size(parts->stages); i++) {
		struct histogram *gaps = parts->counts[i].gaps;
		parts->counts[i].gaps = NULL;
		if (gaps)
			bad = run_data_add_gaps(in->run, (int32_t)i, gaps, err);
	}
	buffer_release(&events);
	return bad;
}

static void judge(struct import *in, const char *tool)
{
	struct verdict *v = in->run->verdict;
	verdict_unknown(v, VERDICT_LOAD, "cannot be judged: a file of %s does not contain the schedule", tool);
	verdict_unknown(v, VERDICT_CLIENT, "cannot be judged: a file of %s says nothing of the measuring client", tool);
	if (in->parts->row_count > 0 || !in->run->stated)
		return;
	verdict_unknown(v, VERDICT_SERVER, "cannot be judged: the file has figures, and no requests");
	verdict_unknown(v, VERDICT_SAMPLES, "cannot be judged: the figures are those of %s, not computed from requests",
	                tool);
}

int import_check_alike(const struct run_data *run, const char *name, const char *tool, struct ipf_error *err)
{
	if (run->part_count == 0)
		return 0;
	const char *first = json_string_value(json_object_get(json_object_get(run->parts[0].header, "imported"), "tool"));
	if (run->stated)
		return ipf_error_at(err, IPF_INPUT, name, 0, "cannot be merged with %s, which has figures of %s",
		                    shown(run->parts[0].name).text, first);
	if ((first || tool) && (!first || !tool || strcmp(first, tool) != 0))
		return ipf_error_at(err, IPF_INPUT, name, 0, "is from %s, but %s is from %s: their definitions differ",
		                    tool ? tool : "ipf-collect", shown(run->parts[0].name).text, first ? first : "ipf-collect");
	return 0;
}

static int finish(struct import *in, const char *tool, struct progress *progress, struct ipf_error *err)
{
	struct import_parts *parts = in->parts;
	struct run_data *run = in->run;
	if (parts->stated && run->part_count > 0)
		return ipf_error_at(err, IPF_INPUT, in->name, 0, "has figures of %s, which cannot be merged with %s", tool,
		                    shown(run->parts[0].name).text);
	if (json_array_size(parts->stages) == 0 || (parts->stated && parts->row_count == 0 && !stated_any(parts->stated)))
		return ipf_error_at(err, IPF_INPUT, in->name, 0, "has no requests and no figures");
	json_object_set_new(in->facts, "has", json_string(parts->row_count > 0 || !parts->stated ? "requests" : "figures"));
	parts->first_ns = first_start(parts);
	if (parts->began_ns != IPF_ABSENT && parts->first_ns != IPF_ABSENT)
		put_began(in, parts->began_ns + parts->first_ns);
	json_t *header = header_of(in), *trailer = trailer_of(parts);
	int bad = header && trailer ? run_data_begin(run, in->name, header, err) : ipf_error_memory(err);
	if (bad == 0) {
		bad = add_rows(in, progress, err);
		run->stated = parts->stated;
		parts->stated = NULL;
		run_data_end(run, trailer, stream_reader_sha256(in->json.input), parts->lasted_ns);
		if (run->stated)
			run->stated->requests = parts->row_count > 0;
	}
	json_decref(header);
	json_decref(trailer);
	return bad;
}

int import_begin(struct import *in, const struct importer *importer, const char *format, struct ipf_error *err)
{
	struct import_parts *parts = in->parts = calloc(1, sizeof *parts);
	if (!parts)
		return ipf_error_memory(err);
	parts->rows = row_lines_new(err);
	parts->stages = json_array();
	parts->began_ns = IPF_ABSENT;
	in->records = json_object();
	in->facts = json_pack("{s:s, s:s, s:s}", "tool", importer->tool, "format", format, "as_of", importer->as_of);
	if (!parts->rows || !parts->stages || !in->records || !in->facts)
		return parts->rows ? ipf_error_memory(err) : -1;
	for (size_t i = 0; importer->notes[i]; i++)
		import_note(in, importer->notes[i]);
	return 0;
}

int import_end(struct import *in, const char *tool, struct progress *progress, struct ipf_error *err)
{
	if (memory_ran_out())
		return ipf_error_memory(err);
	if (finish(in, tool, progress, err) < 0)
		return -1;
	judge(in, tool);
	return 0;
}

void import_release(struct import *in)
{
	struct import_parts *parts = in->parts;
	for (size_t i = 0; parts && i < STATED_STAGES_MOST; i++)
		histogram_free(parts->counts[i].gaps);
	if (parts) {
		row_lines_free(parts->rows);
		json_decref(parts->stages);
		stated_free(parts->stated);
		buffer_release(&parts->line);
	}
	free(parts);
	json_decref(in->facts);
	json_decref(in->records);
	file_outline_release(&in->outline);
	json_pull_release(&in->json);
}

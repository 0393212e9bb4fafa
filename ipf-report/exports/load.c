#include "exports/load.h"

#include "absent.h"
#include "stream/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool load_has(const struct load *load, const struct row *row)
{
	return row->start_ns != IPF_ABSENT && !verdict_uncounted(row->error) && !row->checked &&
	       (load->stage >= 0 || load->run->schedule.stages[row->stage].measured);
}

int64_t load_start_ns(const struct load *load, const struct row *row)
{
	return row->start_ns + load->run->parts[row->part].shift_ns;
}

int64_t load_end_ns(const struct load *load, const struct row *row)
{
	return (row->end_ns == IPF_ABSENT ? row->start_ns : row->end_ns) + load->run->parts[row->part].shift_ns;
}

/* From the first start to the last end in a part; in all parts, if they ran at the same time. */
static int64_t span_ns(const struct load *load, int32_t part, int64_t *begin_ns, int64_t *end_ns)
{
	*begin_ns = *end_ns = IPF_ABSENT;
	for_load(load, row)
	{
		if (part >= 0 && row->part != part)
			continue;
		int64_t begin = load_start_ns(load, row), end = load_end_ns(load, row);
		if (*begin_ns == IPF_ABSENT || begin < *begin_ns)
			*begin_ns = begin;
		if (*end_ns == IPF_ABSENT || end > *end_ns)
			*end_ns = end;
	}
	return *begin_ns == IPF_ABSENT ? IPF_ABSENT : *end_ns - *begin_ns;
}

/* The time the tool's rates refer to, in a part; IPF_ABSENT. */
static int64_t window_ns(const struct load *load, int32_t part)
{
	enum tool_window window = load->run->columns.rules->window;
	int64_t begin_ns = IPF_ABSENT, end_ns = IPF_ABSENT;
	for_load(load, row)
	{
		bool content = window == TOOL_WINDOW_CONTENT;
		if ((part >= 0 && row->part != part) || (content && (!row->ok || row_get(row, METRIC_E2E) == IPF_ABSENT)))
			continue;
		int64_t start = load_start_ns(load, row),
				end = content ? start + row_get(row, METRIC_E2E) : load_end_ns(load, row);
		int64_t begin = start -
		                (window == TOOL_WINDOW_DUE && row->due_ns != IPF_ABSENT ? row->start_ns - row->due_ns : 0);
		begin_ns = begin_ns == IPF_ABSENT || begin < begin_ns ? begin : begin_ns;
		if (end_ns == IPF_ABSENT || end > end_ns || window == TOOL_WINDOW_DUE) /* rows are in the order of starts */
			end_ns = end;
	}
	return begin_ns == IPF_ABSENT ? IPF_ABSENT : end_ns - begin_ns;
}

static void init_times(struct load *load)
{
	const struct run_data *run = load->run;
	bool other = run->columns.rules && run->columns.rules->window != TOOL_WINDOW_ENDS;
	int64_t all_ns = span_ns(load, -1, &load->begin_ns, &load->end_ns), begin_ns, end_ns;
	if (other)
		all_ns = window_ns(load, -1);
	if (!run->shards && run->part_count > 1) {
		all_ns = 0;
		for (int i = 0; i < run->part_count; i++) {
			int64_t one_ns = other ? window_ns(load, i) : span_ns(load, i, &begin_ns, &end_ns);
			all_ns += one_ns == IPF_ABSENT ? 0 : one_ns;
		}
	}
	int64_t t0_ns = load->report->reproducible || load->begin_ns == IPF_ABSENT ? IPF_ABSENT : run->parts[0].t0_ns;
	load->begin_unix_ns = t0_ns == IPF_ABSENT ? IPF_ABSENT : t0_ns + load->begin_ns;
	load->end_unix_ns = t0_ns == IPF_ABSENT ? IPF_ABSENT : t0_ns + load->end_ns;
	load->duration_s = all_ns > 0 ? (double)all_ns / 1e9 : NAN;
}

/* The first stage from `stage` on measured, in which a request started. */
static int32_t find_stage(const struct report *report, int32_t stage)
{
	const struct run_data *run = report->run;
	for (; stage < (int32_t)run->schedule.count; stage++) {
		struct load load = {.report = report, .run = run, .stage = stage};
		load.rows = run_data_stage_rows(run, stage, &load.count);
		if (!run->schedule.stages[stage].measured)
			continue;
		for_load(&load, row) return stage;
	}
	return LOAD_END;
}

void load_init(struct load *load, const struct report *report, int32_t stage)
{
	const struct run_data *run = report->run;
	*load = (struct load){.report = report,
	                      .run = run,
	                      .stage = stage,
	                      .rows = run->rows,
	                      .count = run->row_count,
	                      .ok_begin_ns = IPF_ABSENT};
	if (stage >= 0) {
		load->one = &run->schedule.stages[stage];
		load->rows = run_data_stage_rows(run, stage, &load->count);
	} else {
		int32_t first = find_stage(report, 0);
		if (first != LOAD_END && find_stage(report, first + 1) == LOAD_END)
			load->one = &run->schedule.stages[first];
	}
	for_load(load, row)
	{
		if (row->ok && (load->ok_begin_ns == IPF_ABSENT || load_start_ns(load, row) < load->ok_begin_ns))
			load->ok_begin_ns = load_start_ns(load, row);
		load->sent++;
		load->ok += row->ok;
		load->failed += !row->ok;
		if (row->ok && row_get(row, ROW_INPUT_TOKENS) != IPF_ABSENT)
			load->input_tokens += row_get(row, ROW_INPUT_TOKENS);
		if (row->ok && row_get(row, ROW_OUTPUT_TOKENS) != IPF_ABSENT)
			load->output_tokens += row_get(row, ROW_OUTPUT_TOKENS);
	}
	init_times(load);
}

int32_t load_first(const struct report *report)
{
	int32_t stage = find_stage(report, 0);
	return stage == LOAD_END ? LOAD_ALL : stage;
}

int32_t load_next(const struct report *report, int32_t stage)
{
	return stage < 0 ? LOAD_END : find_stage(report, stage + 1);
}

double load_rate(const struct load *load)
{
	return load->one && !load->one->closed && load->one->rate > 0 ? load->one->rate : NAN;
}

int64_t load_slots(const struct load *load)
{
	return load->one ? load->one->slots : IPF_ABSENT;
}

struct step {
	int64_t t_ns;
	int by; /* 1: a request starts; -1: it ends */
};

/* An end makes room for a start at the same moment. */
static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	return x->t_ns != y->t_ns ? (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns) : x->by - y->by;
}

int64_t load_peak(const struct load *load, enum metric latency)
{
	int64_t count = 0, now = 0, most = 0;
	struct step *steps = malloc((size_t)(load->ok ? load->ok : 1) * 2 * sizeof *steps);
	if (!steps)
		return IPF_ABSENT;
	for_load(load, row)
	{
		if (!row->ok || row_get(row, (int)latency) == IPF_ABSENT)
			continue;
		int64_t start = load_start_ns(load, row);
		steps[count++] = (struct step){start, 1};
		steps[count++] = (struct step){start + row_get(row, (int)latency), -1};
	}
	qsort(steps, (size_t)count, sizeof *steps, compare_steps);
	for (int64_t i = 0; i < count; i++)
		if ((now += steps[i].by) > most)
			most = now;
	free(steps);
	return most;
}

#define SECONDS_MOST 10000000 /* 115 days */

int64_t load_peak_second(const struct load *load, enum metric latency)
{
	int64_t count = load->ok_begin_ns == IPF_ABSENT ? 0 : (load->end_ns - load->ok_begin_ns) / 1000000000 + 2, now = 0,
			most = 0;
	int64_t *change = count < SECONDS_MOST ? calloc((size_t)count + 1, sizeof *change) : NULL;
	if (!change)
		return IPF_ABSENT;
	for_load(load, row)
	{
		if (!row->ok || row_get(row, (int)latency) == IPF_ABSENT || row_get(row, (int)latency) < 0)
			continue;
		int64_t start_ns = load_start_ns(load, row) - load->ok_begin_ns;
		int64_t first = start_ns / 1000000000, after = (start_ns + row_get(row, (int)latency)) / 1000000000 + 1;
		change[first < count ? first : count]++;
		change[after < count ? after : count]--;
	}
	for (int64_t i = 0; i < count; i++)
		if ((now += change[i]) > most)
			most = now;
	free(change);
	return most;
}

static const char *fact(const struct load *load, const char *name)
{
	return json_string_value(json_object_get(load->report->run_info, name));
}

const char *load_model(const struct load *load)
{
	const struct string_table *models = &load->run->groups[BY_MODEL];
	return models->count == 1 ? models->list[0] : models->count == 0 ? fact(load, "model") : NULL;
}

const char *load_api(const struct load *load)
{
	return fact(load, "api");
}

const char *load_target(const struct load *load)
{
	return fact(load, "target");
}

const char *load_dataset(const struct load *load)
{
	return json_string_value(json_object_get(provenance_find(load->run->parts[0].header, "trace"), "source"));
}

const char *load_tokenizer(const struct load *load)
{
	json_t *tokenizer = json_object_get(load->report->run_info, "tokenizer");
	return json_is_false(json_object_get(tokenizer, "exact")) ? NULL
	                                                          : json_string_value(json_object_get(tokenizer, "name"));
}

json_t *load_meta(const struct load *load)
{
	return json_object_get(load->report->run_info, "meta");
}

static bool is_taken(const char *key, const char *const *taken)
{
	size_t len = strlen(key);
	for (; *taken; taken++) {
		size_t end = **taken == '*' ? strlen(*taken + 1) : 0;
		if (end ? end <= len && strcmp(key + len - end, *taken + 1) == 0 : strcmp(key, *taken) == 0)
			return true;
	}
	return false;
}

void load_put_meta(struct jout *w, const struct load *load, const char *const *taken)
{
	const char *key;
	json_t *value;
	json_object_foreach(load_meta(load), key, value) if (!is_taken(key, taken))
		jout_member_string(w, key, slice_of(json_string_value(value)));
}

struct load_date load_date(int64_t unix_ns)
{
	struct load_date date = {""};
	struct tm tm;
	if (unix_ns == IPF_ABSENT)
		return date;
	time_t seconds = (time_t)(unix_ns / 1000000000);
	gmtime_r(&seconds, &tm);
	date.text[strftime(date.text, sizeof date.text, "%Y%m%d-%H%M%S", &tm)] = '\0';
	return date;
}

void load_documents(const struct report *report, struct buffer *out,
                    void (*members)(struct jout *w, const struct load *load, bool detailed), bool detailed)
{
	struct jout w = {.out = out};
	for (int32_t stage = load_first(report); stage != LOAD_END; stage = load_next(report, stage)) {
		struct load load;
		load_init(&load, report, stage);
		jout_begin_map(&w);
		members(&w, &load, detailed);
		jout_end_map(&w);
		buffer_byte(out, '\n');
		w.comma = false;
	}
}

/* The requests that a reader of the plots asks about first: the slowest of each stage, and failed ones. */
#include "json_report/json_report.h"

#include "json/json_put.h"
#include "results/run_data.h"
#include "verdict/verdict.h"

#include <stdlib.h>

/* The slowest of all stages together, by each of the two latencies; the failed ones; and of one stage. */
enum { SLOWEST_MOST = 40, FAILED_MOST = 40, STAGE_MOST = 20 };
enum { LATENCIES = 2 };
static const enum metric latencies[LATENCIES] = {METRIC_TTFT, METRIC_E2E};

static int64_t lag_of(const struct row *row)
{
	return row->due_ns == IPF_ABSENT || row->start_ns == IPF_ABSENT ? 0 : row->start_ns - row->due_ns;
}

/* From due, if the request has a due time; IPF_ABSENT. */
static int64_t latency_of(const struct row *row, enum metric m)
{
	int64_t ns = row_get(row, (int)m);
	return !row->ok || ns == IPF_ABSENT ? IPF_ABSENT : ns + lag_of(row);
}

static bool is_shown(const struct run_data *run, const struct row *row)
{
	return row->start_ns != IPF_ABSENT && (!run->only_stage || run->schedule.stages[row->stage].measured);
}

/* Marks the `most` slowest of the rows from `begin` on, which are one stage's. */
static void mark_slowest(const struct run_data *run, int64_t begin, int64_t end, enum metric m, int most, bool *marked)
{
	int64_t found[STAGE_MOST];
	int count = 0;
	for (int64_t i = begin; i < end; i++) {
		int64_t ns = latency_of(&run->rows[i], m);
		if (ns == IPF_ABSENT || !is_shown(run, &run->rows[i]))
			continue;
		if (count == most && ns <= latency_of(&run->rows[found[count - 1]], m))
			continue;
		int at = count < most ? count++ : count - 1;
		for (; at > 0 && latency_of(&run->rows[found[at - 1]], m) < ns; at--)
			found[at] = found[at - 1];
		found[at] = i;
	}
	for (int i = 0; i < count; i++)
		marked[found[i]] = true;
}

/* Marks failed requests at equal distances. Returns how many there are. */
static int64_t mark_failed(const struct run_data *run, bool *marked)
{
	int64_t failed = 0, seen = 0, next = 0;
	for (int64_t i = 0; i < run->row_count; i++)
		failed += !run->rows[i].ok && is_shown(run, &run->rows[i]);
	int64_t listed = failed < FAILED_MOST ? failed : FAILED_MOST;
	for (int64_t i = 0, k = 0; i < run->row_count && k < listed; i++) {
		if (run->rows[i].ok || !is_shown(run, &run->rows[i]) || seen++ != next)
			continue;
		marked[i] = true;
		k++;
		next = listed > 1 ? k * (failed - 1) / (listed - 1) : 0;
	}
	return failed;
}

static void put_ms(json_t *json, const char *name, int64_t ns)
{
	if (ns != IPF_ABSENT)
		json_put(json, name, (double)ns / 1e6);
}

static void put_s(json_t *json, const char *name, int64_t ns, int64_t shift_ns)
{
	if (ns != IPF_ABSENT)
		json_put(json, name, (double)(ns + shift_ns) / 1e9);
}

/* Whether two parts may have requests of one number: they are no shards. */
static bool number_alike(const struct run_data *run)
{
	return run->part_count > 1 && !run->one_schedule && !run->shard_set.of;
}

static json_t *request_json(const struct run_data *run, const struct row *row)
{
	json_t *json = json_object();
	int64_t shift_ns = run->parts[row->part].shift_ns, ttft = row_get(row, METRIC_TTFT), e2e = row_get(row, METRIC_E2E);
	json_put_count(json, "n", row->n);
	if (number_alike(run))
		json_put_count(json, "part", row->part);
	json_put_text(json, "stage", run->schedule.stages[row->stage].name);
	json_put_count(json, "index", row->stage);
	put_s(json, "due_s", row->due_ns, shift_ns);
	put_s(json, "start_s", row->start_ns, shift_ns);
	if (ttft != IPF_ABSENT)
		put_s(json, "first_s", row->start_ns + ttft, shift_ns);
	put_s(json, "end_s", row->end_ns, shift_ns);
	json_put_count(json, "input_tokens", row_get(row, ROW_INPUT_TOKENS));
	json_put_count(json, "output_tokens", row_get(row, ROW_OUTPUT_TOKENS));
	put_ms(json, "ttft_ms", ttft);
	put_ms(json, "e2e_ms", e2e);
	if (row->due_ns != IPF_ABSENT) {
		put_ms(json, "ttft_due_ms", ttft == IPF_ABSENT ? IPF_ABSENT : ttft + lag_of(row));
		put_ms(json, "e2e_due_ms", e2e == IPF_ABSENT ? IPF_ABSENT : e2e + lag_of(row));
	}
	json_object_set_new(json, "ok", json_boolean(row->ok));
	json_put_text(json, "error", row->ok || row->error < 0 ? NULL : verdict_kinds[row->error]);
	return json;
}

/* The end of the stage that begins with this row: rows are sorted by stage. */
static int64_t stage_end(const struct run_data *run, int64_t begin)
{
	int64_t end = begin + 1;
	while (end < run->row_count && run->rows[end].stage == run->rows[begin].stage)
		end++;
	return end;
}

static int each_of(const struct run_data *run)
{
	int stages = 0;
	for (int64_t i = 0; i < run->row_count; i = stage_end(run, i))
		stages++;
	int each = stages ? SLOWEST_MOST / stages : 0;
	return each < 1 ? 1 : each > STAGE_MOST ? STAGE_MOST : each;
}

json_t *json_outliers(const struct report *report)
{
	const struct run_data *run = report->run;
	json_t *json = json_object(), *list = json_array();
	bool *marked = calloc((size_t)run->row_count + 1, sizeof *marked);
	int each = each_of(run), stages = 0;
	int64_t failed = 0;
	/* with more stages than SLOWEST_MOST, the later ones have none */
	for (int64_t i = 0, end; marked && i < run->row_count && stages++ < SLOWEST_MOST; i = end) {
		end = stage_end(run, i);
		for (int k = 0; k < LATENCIES; k++)
			mark_slowest(run, i, end, latencies[k], each, marked);
	}
	failed = marked ? mark_failed(run, marked) : 0;
	for (int64_t i = 0; marked && i < run->row_count; i++)
		if (marked[i])
			json_array_append_new(list, request_json(run, &run->rows[i]));
	free(marked);
	if (json_array_size(list) > 0) {
		json_put_count(json, "slowest_each", each);
		json_put_count(json, "failed", failed);
	}
	json_put_object(json, "requests", list);
	return json;
}

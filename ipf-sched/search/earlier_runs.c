#include "search/earlier_runs.h"

#include "absent.h"
#include "array.h"
#include "stream/provenance.h"
#include "clock.h"
#include "token_count.h"
#include "stream/predicted.h"
#include "stream/schedule.h"
#include "stream/shard_set.h"
#include "verdict/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add_stages(struct earlier_runs *runs, const struct schedule *schedule, const char *file,
                      struct ipf_error *err)
{
	struct earlier_stage *grown = realloc(runs->stages, (runs->count + schedule->count + 1) * sizeof *grown);

	if (!grown)
		return ipf_error_memory(err);
	runs->stages = grown;
	for (size_t i = 0; i < schedule->count; i++) {
		const struct schedule_stage *s = &schedule->stages[i];
		struct earlier_stage *to = &grown[runs->count++];
		*to = (struct earlier_stage){
			.file = strdup(file),
			.kind = strdup(s->kind),
			.name = strdup(s->name),
			.rate = s->rate,
			.users = s->closed ? s->slots : IPF_ABSENT,
			.sessions = s->closed && s->sessions,
			.copy = s->copy,
			.copies = schedule_has_copies(s),
			.measured = s->measured,
			.length_ns = s->end_ns == IPF_ABSENT ? IPF_ABSENT : s->end_ns - s->begin_ns,
			.stop_ns = s->end_ns,
		};
		if (s->copy >= runs->sent.next_copy)
			runs->sent.next_copy = s->copy + 1;
		if (!to->file || !to->kind || !to->name)
			return ipf_error_memory(err);
	}
	return 0;
}

static int add_row(struct earlier_stage *stage, const struct result *result, struct ipf_error *err)
{
	struct earlier_request *row;

	if (!array_room(stage->rows, stage->cap, stage->count + 1))
		return ipf_error_memory(err);
	row = &stage->rows[stage->count++];
	if (result->client_lag_ns != IPF_ABSENT) {
		stage->late += result->client_lag_ns > VERDICT_LATE_DOUBTFUL_MS * NS_PER_MS;
		stage->too_late += result->client_lag_ns > VERDICT_LATE_INVALID_MS * NS_PER_MS;
	}
	stage->failed += !result->ok;
	if (stage->stop_ns != IPF_ABSENT && result->end_ns != IPF_ABSENT &&
	    result->end_ns - stage->stop_ns > stage->rest_ns)
		stage->rest_ns = result->end_ns - stage->stop_ns;
	stage->followed |= result->after.data != NULL;
	if (result->input_tokens > 0 && result->cached_tokens != IPF_ABSENT) {
		stage->input_tokens = token_sum(stage->input_tokens, result->input_tokens);
		stage->cached_tokens = token_sum(stage->cached_tokens, result->cached_tokens);
	}
	stage->not_streamed += result->ok && result_not_streamed(result) != RESULT_STREAMED;
	*row = (struct earlier_request){
		.start_ns = result->start_ns,
		.end_ns = result->end_ns,
		.client_lag_ns = result->client_lag_ns == IPF_ABSENT ? 0 : result->client_lag_ns,
		.ok = result->ok,
		.error_kind = (uint8_t)verdict_kind_of(result->error_kind),
		.status = slice_is(result->error_kind, "\"http-status\"") && result->status < 1000 ? (int16_t)result->status
	                                                                                       : 0,
	};
	for (int i = 0; i < LATENCY_COUNT; i++)
		row->latency_ns[i] = latency_of(result, i);
	return 0;
}

/* Between two runs, programs start and end; a longer pause is none of the search's time. */
#define BETWEEN_RUNS_NS      NS_PER_S
#define BETWEEN_RUNS_MOST_NS (10 * NS_PER_S)

/* Adds the time of the run whose stages begin at `first`. */
static void add_time(struct earlier_runs *runs, size_t first, const json_t *header)
{
	json_t *t0 = json_object_get(header, "t0_unix_ns");
	int64_t began = t0 ? json_integer_value(t0) : IPF_ABSENT, run = 0;

	if (first > 0 && began != IPF_ABSENT && runs->t0_unix_ns != IPF_ABSENT) {
		int64_t between = began - runs->t0_unix_ns - runs->run_ns;
		if (between >= 0)
			runs->spent_ns += (between < BETWEEN_RUNS_MOST_NS ? between : BETWEEN_RUNS_MOST_NS) - BETWEEN_RUNS_NS;
	}
	for (size_t i = first; i < runs->count; i++) {
		const struct earlier_stage *stage = &runs->stages[i];
		if (stage->stop_ns != IPF_ABSENT && stage->stop_ns + stage->rest_ns > run)
			run = stage->stop_ns + stage->rest_ns;
	}
	runs->t0_unix_ns = began;
	runs->run_ns = run;
	runs->spent_ns += run + BETWEEN_RUNS_NS;
}

bool earlier_stage_is_closed(const struct earlier_stage *stage, bool by_concurrency)
{
	return stage->users != IPF_ABSENT && (!stage->followed || stage->sessions != by_concurrency);
}

/* At p99, like the verdict. */
bool earlier_stage_client_late(const struct earlier_stage *stage)
{
	return (double)stage->late > 0.01 * (double)stage->count;
}

bool earlier_stage_client_failed(const struct earlier_stage *stage)
{
	return (double)stage->too_late > 0.01 * (double)stage->count;
}

void earlier_stage_describe_failures(const struct earlier_stage *stage, struct buffer *out)
{
	const struct earlier_request *often = NULL;
	size_t kinds[VERDICT_KINDS] = {0}, most = 0, same = 0;
	for (size_t i = 0; i < stage->count; i++)
		if (!stage->rows[i].ok && ++kinds[stage->rows[i].error_kind] > most) {
			most = kinds[stage->rows[i].error_kind];
			often = &stage->rows[i];
		}
	buffer_format(out, "%.3g %% of %zu requests failed", 100 * (double)stage->failed / (double)stage->count,
	              stage->count);
	if (!often)
		return;
	buffer_format(out, ", most often %s", verdict_kinds[often->error_kind]);
	for (size_t i = 0; i < stage->count; i++)
		same += !stage->rows[i].ok && stage->rows[i].error_kind == often->error_kind &&
		        stage->rows[i].status == often->status;
	if (often->status > 0 && same == most)
		buffer_format(out, " %d", often->status);
}

/* Notes the trailer's report of missing parts. */
static int note_incomplete(struct earlier_runs *runs, size_t first, const json_t *trailer, struct ipf_error *err)
{
	const char *why = json_string_value(json_object_get(trailer, "incomplete"));

	for (size_t i = first; why && i < runs->count; i++)
		if (!(runs->stages[i].incomplete = strdup(why)))
			return ipf_error_memory(err);
	return 0;
}

/* Requests of another trace are other prompts. */
static void begin_trace(struct earlier_runs *runs, const struct schedule *schedule)
{
	if (strcmp(runs->sent.trace_sha256, schedule->trace_sha256) != 0)
		seen_numbers_release(&runs->sent.seen);
	memcpy(runs->sent.trace_sha256, schedule->trace_sha256, sizeof runs->sent.trace_sha256);
	runs->sent.trace_requests = schedule->trace_requests;
}

/* Requests of ipf-fire --warm are no part of the schedule. */
static void note_prompt(struct earlier_runs *runs, struct earlier_stage *stage, const struct result *row)
{
	if (runs->sent.trace_sha256[0] && !stage->copies)
		stage->repeated += seen_numbers_add(&runs->sent.seen,
		                                    schedule_prompt_number(row->req, stage->copy, runs->sent.trace_requests));
}

static int read_rows(struct earlier_runs *runs, struct result_reader *reader, size_t first, struct ipf_error *err)
{
	struct result result;
	struct slice line;
	int64_t last_n = -1;
	int got;

	runs->next_req = 0;
	while ((got = result_reader_next(reader, &result, &line, err)) > 0) {
		if (got != RESULT_ROW)
			continue;
		if (result.stage < 0 || (uint64_t)result.stage >= runs->count - first)
			return ipf_error_at(err, IPF_INPUT, stream_reader_name(result_reader_stream(reader)),
			                    stream_reader_line(result_reader_stream(reader)),
			                    "stage: %lld is out of range: the header has %zu stages", (long long)result.stage,
			                    runs->count - first);
		if (result.req != IPF_ABSENT && result.n < SCHEDULE_WARMUP_FIRST_N) {
			if (result.n > last_n)
				runs->next_req = result.req + 1;
			last_n = result.n > last_n ? result.n : last_n;
			note_prompt(runs, &runs->stages[first + (size_t)result.stage], &result);
		}
		if (result_uncounted(&result))
			continue;
		if ((!result.ok || (result.start_ns != IPF_ABSENT && result.end_ns != IPF_ABSENT)) &&
		    add_row(&runs->stages[first + (size_t)result.stage], &result, err) < 0)
			return -1;
	}
	if (runs->sent.seen.failed)
		return ipf_error_memory(err);
	if (got < 0 && err->kind == IPF_CUT)
		err->kind = IPF_INPUT;
	return got < 0 ? got : note_incomplete(runs, first, stream_reader_trailer(result_reader_stream(reader)), err);
}

/* Removes the results from the "from" of a header: every run of a search is made from all runs before it, whose headers
 * are kept next to it. With them in each header, the size would double with every run. */
static void remove_results(json_t *header)
{
	json_t *from = json_object_get(header, "from");
	for (size_t i = json_array_size(from); i-- > 0;) {
		json_t *entry = json_array_get(from, i);
		const char *kind = json_string_value(json_object_get(entry, "ipf"));
		if (kind && strcmp(kind, "results") == 0)
			json_array_remove(from, i);
		else
			remove_results(entry);
	}
}

static int keep_header(struct earlier_runs *runs, json_t *header, struct ipf_error *err)
{
	json_t *copy = json_deep_copy(header);
	if (!copy)
		return ipf_error_memory(err);
	remove_results(copy);
	return json_array_append_new(runs->headers, copy) < 0 ? ipf_error_memory(err) : 0;
}

/* Are all shards there, collected together? */
static int check_shards(json_t *header, const char *name, struct ipf_error *err)
{
	struct shard_set set = {0};
	struct buffer missing = {0};
	int bad = shard_set_add(&set, header, name, err);

	if (bad == 0 && shard_set_missing(&set) > 0) {
		shard_set_describe_missing(&set, &missing);
		bad = missing.failed ? ipf_error_memory(err)
		                     : ipf_error_at(err, IPF_INPUT, name, 0,
		                                    "%s: expected the results of all shards, collected together", missing.data);
	}
	buffer_release(&missing);
	shard_set_release(&set);
	return bad;
}

/* Turns the schedule of one shard into that of the whole, if the results were collected from all shards. */
static int join_shards(struct schedule *schedule, json_t *header, const char *name, struct ipf_error *err)
{
	json_t *entry, *from = json_object_get(header, "from");
	int64_t parts = 0;
	size_t i;

	if (check_shards(header, name, err) < 0)
		return -1;
	json_array_foreach(from, i, entry)
	{
		json_t *of = json_object_get(entry, "stages") ? entry : provenance_find(entry, "schedule");
		struct schedule part = {0};
		if (!of)
			continue;
		if (schedule_from_header(&part, of, name, err) < 0)
			return -1;
		for (size_t k = 0; parts > 0 && k < part.count && k < schedule->count; k++)
			if (part.stages[k].slots != IPF_ABSENT && schedule->stages[k].slots != IPF_ABSENT)
				schedule->stages[k].slots += part.stages[k].slots;
		parts++;
		schedule_release(&part);
	}
	for (size_t k = 0; k < schedule->count; k++)
		schedule->stages[k].rate *= (double)schedule->shards;
	return 0;
}

/* The same stages twice would make a search too confident. Runs without a request are all the same. */
static int refuse_twice(const struct earlier_runs *runs, size_t first, json_t *digest, const char *name,
                        struct ipf_error *err)
{
	const char *sha256 = json_string_value(json_object_get(digest, "sha256")), *other;
	size_t i;
	json_t *before;

	size_t rows = 0;
	for (i = first; i < runs->count; i++)
		rows += runs->stages[i].count;
	if (rows == 0)
		return 0;
	json_array_foreach(runs->digests, i, before)
	{
		other = json_string_value(json_object_get(before, "sha256"));
		if (sha256 && other && strcmp(sha256, other) == 0)
			return ipf_error_at(err, IPF_INPUT, name, 0, "given twice: these results were already read");
	}
	return 0;
}

/* A limit a search finds is that of a server or a twin's. */
static int refuse_mixture(const struct earlier_runs *runs, json_t *header, const char *name, struct ipf_error *err)
{
	json_t *first = json_array_get(runs->headers, 0);
	if (!first || runs->count == 0)
		return 0;
	return predicted_check((struct predicted_stream){runs->stages[0].file, predicted_find(first)},
	                       (struct predicted_stream){name, predicted_find(header)}, err);
}

int earlier_runs_read(struct earlier_runs *runs, const char *path, struct ipf_error *err)
{
	struct result_reader *reader;
	struct schedule schedule = {0};
	const char *name;
	json_t *header, *digest;
	size_t first = runs->count;
	int status = -1;

	if (!runs->headers)
		runs->headers = json_array();
	if (!runs->digests)
		runs->digests = json_array();
	if (result_reader_open(&reader, path, err) < 0)
		return -1;
	header = stream_reader_header(result_reader_stream(reader));
	name = stream_reader_name(result_reader_stream(reader));
	if (refuse_mixture(runs, header, name, err) < 0)
		goto out;
	/* The header of the schedule itself also has the shard. */
	if (schedule_from_header(&schedule, schedule_find_header(header) ? schedule_find_header(header) : header, name,
	                         err) < 0)
		goto out;
	if (schedule.shards && join_shards(&schedule, header, name, err) < 0)
		goto out;
	begin_trace(runs, &schedule);
	if (add_stages(runs, &schedule, name, err) < 0 || read_rows(runs, reader, first, err) < 0)
		goto out;
	add_time(runs, first, header);
	digest = provenance_stream(result_reader_stream(reader));
	if (refuse_twice(runs, first, digest, name, err) < 0)
		json_decref(digest);
	else if (json_array_append_new(runs->digests, digest) < 0)
		ipf_error_memory(err);
	else
		status = keep_header(runs, header, err);
out:
	schedule_release(&schedule);
	result_reader_close(reader);
	return status;
}

void earlier_runs_release(struct earlier_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		free(runs->stages[i].file);
		free(runs->stages[i].kind);
		free(runs->stages[i].name);
		free(runs->stages[i].incomplete);
		free(runs->stages[i].rows);
	}
	free(runs->stages);
	seen_numbers_release(&runs->sent.seen);
	json_decref(runs->headers);
	json_decref(runs->digests);
	*runs = (struct earlier_runs){0};
}

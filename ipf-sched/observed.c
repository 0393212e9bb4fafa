#include "observed.h"

#include "absent.h"
#include "clock.h"
#include "stream/provenance.h"
#include "stream/schedule.h"
#include "verdict/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct ipf_error *err)
{
	return ipf_error_memory(err);
}

static int add_stages(struct observed *seen, const struct schedule *plan, const char *file, struct ipf_error *err)
{
	struct observed_stage *grown = realloc(seen->stages, (seen->count + plan->count + 1) * sizeof *grown);

	if (!grown)
		return out_of_memory(err);
	seen->stages = grown;
	for (size_t i = 0; i < plan->count; i++) {
		const struct schedule_stage *s = &plan->stages[i];
		struct observed_stage *to = &grown[seen->count++];
		*to = (struct observed_stage){
			.file = strdup(file),
			.kind = strdup(s->kind),
			.name = strdup(s->name),
			.rate = s->rate,
			.users = s->closed ? s->slots : IPF_ABSENT,
			.measured = s->measured,
			.length_ns = s->end_ns == IPF_ABSENT ? IPF_ABSENT : s->end_ns - s->begin_ns,
		};
		if (!to->file || !to->kind || !to->name)
			return out_of_memory(err);
	}
	return 0;
}

static int add_row(struct observed_stage *stage, const struct result *result, struct ipf_error *err)
{
	struct observed_row *row;

	if (stage->count == stage->cap) {
		size_t cap = stage->cap ? stage->cap * 2 : 256;
		struct observed_row *grown = realloc(stage->rows, cap * sizeof *grown);
		if (!grown)
			return out_of_memory(err);
		stage->rows = grown;
		stage->cap = cap;
	}
	row = &stage->rows[stage->count++];
	if (result->client_lag_ns != IPF_ABSENT) {
		stage->late += result->client_lag_ns > VERDICT_LATE_DOUBTFUL_MS * NS_PER_MS;
		stage->too_late += result->client_lag_ns > VERDICT_LATE_INVALID_MS * NS_PER_MS;
	}
	*row = (struct observed_row){.start_ns = result->start_ns, .end_ns = result->end_ns, .ok = result->ok};
	for (int i = 0; i < LATENCY_COUNT; i++)
		row->latency_ns[i] = latency_of(result, (enum latency)i);
	return 0;
}

/* As the verdict has it, at p99. */
bool observed_client_late(const struct observed_stage *stage)
{
	return (double)stage->late > 0.01 * (double)stage->count;
}

bool observed_client_failed(const struct observed_stage *stage)
{
	return (double)stage->too_late > 0.01 * (double)stage->count;
}

/* What the one who wrote the results knew to be missing. */
static int note_incomplete(struct observed *seen, size_t first, const json_t *trailer, struct ipf_error *err)
{
	const char *why = json_string_value(json_object_get(trailer, "incomplete"));

	for (size_t i = first; why && i < seen->count; i++)
		if (!(seen->stages[i].incomplete = strdup(why)))
			return out_of_memory(err);
	return 0;
}

static int read_rows(struct observed *seen, struct result_reader *reader, size_t first, struct ipf_error *err)
{
	struct result result;
	struct slice line;
	int64_t last_n = -1;
	int got;

	seen->next_req = 0;
	while ((got = result_reader_next(reader, &result, &line, err)) > 0) {
		if (got != RESULT_ROW)
			continue;
		if (result.stage < 0 || (uint64_t)result.stage >= seen->count - first)
			return ipf_error_at(err, IPF_INPUT, stream_reader_name(result_reader_stream(reader)),
			                    stream_reader_line(result_reader_stream(reader)),
			                    "stage: %lld: the header has %zu stages", (long long)result.stage, seen->count - first);
		if (result.req != IPF_ABSENT && result.n > last_n) {
			last_n = result.n;
			seen->next_req = result.req + 1;
		}
		if (result_hung_up(&result))
			continue;
		if ((!result.ok || (result.start_ns != IPF_ABSENT && result.end_ns != IPF_ABSENT)) &&
		    add_row(&seen->stages[first + (size_t)result.stage], &result, err) < 0)
			return -1;
	}
	if (got < 0 && err->kind == IPF_CUT)
		err->kind = IPF_INPUT;
	return got < 0 ? got : note_incomplete(seen, first, stream_reader_trailer(result_reader_stream(reader)), err);
}

/* Takes the results out of what a header was made of: each run of a search is made of all the runs before it, and with
 * theirs in each the headers would double with every run. They stand beside it. */
static void forget_results(json_t *header)
{
	json_t *from = json_object_get(header, "from");
	for (size_t i = json_array_size(from); i-- > 0;) {
		json_t *entry = json_array_get(from, i);
		const char *kind = json_string_value(json_object_get(entry, "ipf"));
		if (kind && strcmp(kind, "results") == 0)
			json_array_remove(from, i);
		else
			forget_results(entry);
	}
}

static int keep_header(struct observed *seen, json_t *header, struct ipf_error *err)
{
	json_t *copy = json_deep_copy(header);
	if (!copy)
		return out_of_memory(err);
	forget_results(copy);
	return json_array_append_new(seen->headers, copy) < 0 ? out_of_memory(err) : 0;
}

/* Takes the plan of one shard for that of the whole where the results were collected from all of them. */
static int join_shards(struct schedule *plan, json_t *header, const char *name, struct ipf_error *err)
{
	json_t *entry, *from = json_object_get(header, "from");
	int64_t parts = 0, shards = plan->shards;
	bool *seen = calloc((size_t)shards + 1, sizeof *seen), all = true;
	size_t i;

	if (!seen)
		return out_of_memory(err);
	json_array_foreach(from, i, entry)
	{
		json_t *of = json_object_get(entry, "stages") ? entry : provenance_find(entry, "schedule");
		struct schedule part = {0};
		if (!of)
			continue;
		if (schedule_from_header(&part, of, name, err) < 0)
			break;
		all = all && part.shards == shards && part.count == plan->count && !seen[part.shard];
		for (size_t k = 0; all && parts > 0 && k < part.count; k++)
			if (part.stages[k].slots != IPF_ABSENT)
				plan->stages[k].slots += part.stages[k].slots;
		if (all)
			seen[part.shard] = true;
		parts++;
		schedule_release(&part);
	}
	free(seen);
	if (err->kind != IPF_OK)
		return -1;
	if (!all || parts != shards)
		return ipf_error_at(err, IPF_INPUT, name, 0, "results of shard %lld of %lld: expected those of the whole load",
		                    (long long)plan->shard, (long long)shards);
	for (size_t k = 0; k < plan->count; k++)
		plan->stages[k].rate *= (double)shards;
	return 0;
}

/* The same stages twice would make a search surer than it is. */
static int refuse_twice(const struct observed *seen, json_t *digest, const char *name, struct ipf_error *err)
{
	const char *sha256 = json_string_value(json_object_get(digest, "sha256")), *other;
	size_t i;
	json_t *before;

	json_array_foreach(seen->digests, i,
	                   before) if (sha256 && (other = json_string_value(json_object_get(before, "sha256"))) &&
	                               strcmp(sha256, other) ==
	                                   0) return ipf_error_at(err, IPF_INPUT, name, 0,
	                                                          "given twice: these results were read already");
	return 0;
}

int observed_read(struct observed *seen, const char *path, struct ipf_error *err)
{
	struct result_reader *reader;
	struct schedule plan = {0};
	const char *name;
	json_t *header, *digest;
	size_t first = seen->count;
	int status = -1;

	if (!seen->headers)
		seen->headers = json_array();
	if (!seen->digests)
		seen->digests = json_array();
	if (result_reader_open(&reader, path, err) < 0)
		return -1;
	header = stream_reader_header(result_reader_stream(reader));
	name = stream_reader_name(result_reader_stream(reader));
	/* The schedule's own header also says whether it was a shard's. */
	if (schedule_from_header(&plan, schedule_find_header(header) ? schedule_find_header(header) : header, name, err) <
	    0)
		goto out;
	if (plan.shards > 1 && join_shards(&plan, header, name, err) < 0)
		goto out;
	if (add_stages(seen, &plan, name, err) < 0 || read_rows(seen, reader, first, err) < 0)
		goto out;
	digest = provenance_stream(result_reader_stream(reader));
	if (refuse_twice(seen, digest, name, err) < 0)
		json_decref(digest);
	else if (json_array_append_new(seen->digests, digest) < 0)
		out_of_memory(err);
	else
		status = keep_header(seen, header, err);
out:
	schedule_release(&plan);
	result_reader_close(reader);
	return status;
}

void observed_release(struct observed *seen)
{
	for (size_t i = 0; i < seen->count; i++) {
		free(seen->stages[i].file);
		free(seen->stages[i].kind);
		free(seen->stages[i].name);
		free(seen->stages[i].incomplete);
		free(seen->stages[i].rows);
	}
	free(seen->stages);
	json_decref(seen->headers);
	json_decref(seen->digests);
	*seen = (struct observed){0};
}

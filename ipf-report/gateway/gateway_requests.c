#include "gateway/gateway_requests.h"

#include "memory.h"
#include "text_hash.h"

#include <stdlib.h>

static uint64_t hash_of(struct slice text)
{
	const uint64_t hash = text.data ? text_hash_mixed(text) : 0;
	return text.data && hash == 0 ? 1 : hash;
}

/* A count by events is the gateway's as much as the server's, so it cannot identify an answer. */
static int64_t certain_tokens(const struct result *result)
{
	return slice_is(result->tokens_source, "\"events\"") ? IPF_ABSENT : result->output_tokens;
}

static void fill(struct gateway_request *to, const struct row *row, const struct run_part *part,
                 const struct result *result)
{
	*to = (struct gateway_request){
		.start_ns = part->t0_ns + row->start_ns,
		.end_ns = row->end_ns == IPF_ABSENT ? IPF_ABSENT : part->t0_ns + row->end_ns,
		.ttft_ns = row->ok ? row_get(row, METRIC_TTFT) : IPF_ABSENT,
		.e2e_ns = row->ok ? row_get(row, METRIC_E2E) : IPF_ABSENT,
		.input_tokens = row_get(row, ROW_INPUT_TOKENS),
		.output_tokens = certain_tokens(result),
		.events = row_get(row, ROW_EVENTS),
		.coalesced = row_get(row, ROW_COALESCED),
		.status = row->ok && result->status == IPF_ABSENT ? 200 : result->status,
		.ids = {hash_of(result->request_id), hash_of(result->trace_id), hash_of(result->response_id)},
		.model = hash_of(result->model),
		.text = row->ok ? hash_of(result->text) : 0,
		.target = row->group[BY_TARGET],
		.session = row->group[BY_SESSION],
		.ok = row->ok,
		.unseen = result_unseen(result),
		.row = row,
	};
}

static int by_start(const void *a, const void *b)
{
	const struct gateway_request *x = a, *y = b;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->row->at < y->row->at ? -1 : x->row->at > y->row->at;
}

static int check_times(const struct run_data *run, struct ipf_error *err)
{
	for (int i = 0; i < run->part_count; i++)
		if (run->parts[i].t0_ns == IPF_ABSENT)
			return ipf_error_at(err, IPF_INPUT, run->parts[i].name, 0,
			                    "expected results of a capture or of a run, whose records say when they began "
			                    "(t0_unix_ns)");
	return 0;
}

/* The end of the capture by its trailer, which a cut stream does not have. */
static int64_t end_of_part(const struct run_part *part)
{
	json_t *stages = part->stages,
		   *end = json_object_get(json_array_get(stages, json_array_size(stages) - 1), "end_ns");
	return part->observed && json_is_integer(end) && json_integer_value(end) > part->last_ns ? json_integer_value(end)
	                                                                                         : part->last_ns;
}

int gateway_requests_read(struct gateway_requests *to, const struct run_data *run, struct ipf_error *err)
{
	struct result result;
	*to = (struct gateway_requests){.run = run, .begin_ns = INT64_MAX, .end_ns = INT64_MIN};
	if (check_times(run, err) < 0)
		return -1;
	if (!(to->list = calloc((size_t)run->row_count + 1, sizeof *to->list)))
		return ipf_error_memory(err);
	for (int i = 0; i < run->part_count; i++) {
		const struct run_part *part = &run->parts[i];
		const int64_t last_ns = part->t0_ns + end_of_part(part);
		to->begin_ns = part->t0_ns < to->begin_ns ? part->t0_ns : to->begin_ns;
		to->end_ns = last_ns > to->end_ns ? last_ns : to->end_ns;
	}
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (row->start_ns != IPF_ABSENT && run_data_line(run, row, &result))
			fill(&to->list[to->count++], row, &run->parts[row->part], &result);
	}
	if (row_lines_check(run->lines, err) < 0)
		return -1;
	qsort(to->list, to->count, sizeof *to->list, by_start);
	return 0;
}

void gateway_requests_release(struct gateway_requests *requests)
{
	free(requests->list);
	*requests = (struct gateway_requests){0};
}

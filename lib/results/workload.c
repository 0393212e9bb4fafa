#include "results/workload.h"

#include "array.h"
#include "stream/record.h"
#include "stream/trace_blocks.h"
#include "text_hash.h"

#include <stdlib.h>
#include <string.h>

/* Recorded blocks that are counted: about 512 MiB of them. */
#define RECORDED_MOST ((size_t)1 << 23)

/* The session at hand. */
struct session_reader {
	struct buffer name;
	struct tree_prompt prompt; /* its last one */
	uint64_t *ids;             /* hashes of the names of its requests, the last one last */
	int64_t count, cap;
	struct buffer answer; /* its last request's: JSON */
	struct prompt_scratch scratch;
};

/* ---- which requests were sent ---- */

struct started_at {
	int64_t t_ns;
	const struct row *row;
};

static int by_start(const void *a, const void *b)
{
	const struct started_at *x = a, *y = b;
	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return (x->row->n > y->row->n) - (x->row->n < y->row->n);
}

static int list_started(struct workload *w, const struct run_data *run, struct ipf_error *err)
{
	struct started_at *list = calloc((size_t)run->row_count + 1, sizeof *list);
	w->started = calloc((size_t)run->row_count + 1, sizeof *w->started);
	if (!list || !w->started) {
		free(list);
		return ipf_error_memory(err);
	}
	for (int64_t i = 0; i < run->row_count; i++)
		if (run->rows[i].start_ns != IPF_ABSENT)
			list[w->started_count++] = (struct started_at){workload_time(run, &run->rows[i], run->rows[i].start_ns),
			                                               &run->rows[i]};
	qsort(list, (size_t)w->started_count, sizeof *list, by_start);
	for (int64_t i = 0; i < w->started_count; i++)
		w->started[i] = list[i].row;
	free(list);
	return 0;
}

/* Are the histories of sessions the server's own answers? */
static bool has_live_histories(const struct run_data *run)
{
	for (int i = 0; i < run->part_count; i++) {
		if (record_history_is_live(run->parts[i].records))
			return true;
	}
	return false;
}

/* Finds the row of each request, and why some differ from the trace. */
static int find_rows(struct workload *w, const struct run_data *run, int64_t *needed, struct ipf_error *err)
{
	bool repeated = false;
	int64_t last = -1;
	for (int64_t i = 0; i < w->started_count; i++) {
		int64_t req = row_get(w->started[i], ROW_REQ);
		last = req > last ? req : last;
	}
	/* a number that no trace has must not make us take memory for it */
	int64_t most = run->schedule.trace_requests;
	if (most != IPF_ABSENT && last >= most)
		last = most - 1;
	*needed = last < ROW_COUNT_MOST ? last + 1 : 0;
	if (*needed > INT64_C(1) << 31)
		return ipf_error_set(err, IPF_INPUT, "req: %lld is out of range", (long long)last);
	w->row_of = calloc((size_t)*needed + 1, sizeof *w->row_of);
	if (!w->row_of)
		return ipf_error_memory(err);
	for (int64_t i = 0; i < w->started_count; i++) {
		int64_t req = row_get(w->started[i], ROW_REQ);
		if (req < 0 || req >= *needed)
			continue;
		repeated |= w->row_of[req] != NULL;
		if (!w->row_of[req] || (w->started[i]->ok && !w->row_of[req]->ok))
			w->row_of[req] = w->started[i];
	}
	for (size_t i = 0; i < run->schedule.count; i++)
		if (run->schedule.stages[i].copy || schedule_has_copies(&run->schedule.stages[i]) ||
		    (run->schedule.stages[i].salt && repeated))
			w->no_blocks = "the schedule has copies of requests, whose prompts begin differently";
	if (repeated && has_live_histories(run))
		w->no_blocks = "sessions were sent several times with the server's own answers";
	return 0;
}

/* ---- the trace ---- */

static int64_t parent_line(const struct session_reader *s, int64_t line, uint64_t id)
{
	for (int64_t i = s->count - 1; i >= 0; i--)
		if (s->ids[i] == id)
			return line - (s->count - i);
	return -1;
}

static int add_parent(struct workload *w, struct workload_request *to, int64_t line, struct ipf_error *err)
{
	if (!array_room(w->parents, w->parents_cap, w->parents_count + 1))
		return ipf_error_memory(err);
	w->parents[w->parents_count++] = line;
	to->parents++;
	return 0;
}

static int add_parents(struct workload *w, struct session_reader *s, const struct trace_request *r,
                       struct workload_request *to, struct ipf_error *err)
{
	const struct jdoc *doc = &s->scratch.doc;
	to->first_parent = w->parents_count;
	if (!r->parents.data)
		return s->count > 0 ? add_parent(w, to, w->count - 1, err) : 0;
	if (jdoc_parse(&s->scratch.doc, r->parents.data, r->parents.len, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
		int64_t line = parent_line(s, w->count, text_hash_mixed(jdoc_raw(doc, e.value)));
		if (line >= 0 && add_parent(w, to, line, err) < 0)
			return -1;
	}
	return 0;
}

static int note_id(struct session_reader *s, const struct trace_request *r, struct ipf_error *err)
{
	if (!array_room(s->ids, s->cap, s->count + 1))
		return ipf_error_memory(err);
	s->ids[s->count++] = text_hash_mixed(r->id);
	return 0;
}

/* Puts the answer of the previous turn into the chain, as ipf-fire did. */
static int add_answer(struct workload *w, struct session_reader *s, bool live, struct ipf_error *err)
{
	int64_t before = w->count - 1;
	const struct row *row = w->row_of[before];
	int64_t tokens = row && row->ok ? row_get(row, ROW_OUTPUT_TOKENS) : IPF_ABSENT;
	if (live && tokens != IPF_ABSENT && tokens >= 0 && tokens <= PROMPT_ANSWER_MOST) {
		prompt_chain_generated(&s->prompt.chain, before, tokens);
		w->requests[before].answer = s->prompt.node;
		return 0;
	}
	if (!s->answer.len)
		return 0;
	return prompt_chain_answer(&s->prompt.chain, buffer_all(&s->answer), &s->scratch, err);
}

static int add_prompt(struct workload *w, struct session_reader *s, const struct trace_request *r, bool live,
                      struct ipf_error *err)
{
	const struct row *row = w->row_of[w->count];
	int32_t model = row ? row->group[BY_MODEL] : -1;
	if (r->context_session && s->count > 0) {
		if (add_answer(w, s, live, err) < 0)
			return -1;
	} else {
		char name[24];
		snprintf(name, sizeof name, "%d", model);
		tree_prompt_begin(&s->prompt, slice_of(name));
	}
	return prompt_chain_add(&s->prompt.chain, r, &s->scratch, err);
}

/* The trace's blocks of the prompt, beside the blocks of the prompt sent. */
static int add_recorded(struct workload *w, struct session_reader *s, const struct trace_request *r,
                        struct ipf_error *err)
{
	if (!w->row_of[w->count] || w->recorded_cut)
		return 0;
	if (trace_blocks_add(&w->recorded, r, &s->scratch.doc, err) < 0)
		return -1;
	if (w->recorded.failed)
		return ipf_error_memory(err);
	w->recorded_cut = w->recorded.block_count > RECORDED_MOST;
	if (w->recorded_cut)
		prefix_reuse_release(&w->recorded);
	return 0;
}

static int add_request(struct workload *w, struct session_reader *s, const struct trace_request *r, bool live,
                       struct ipf_error *err)
{
	if (!array_room(w->requests, w->cap, w->count + 1))
		return ipf_error_memory(err);
	struct workload_request *to = &w->requests[w->count];
	*to = (struct workload_request){.at_ns = r->at_ns,
	                                .wait_ns = r->wait_ns,
	                                .input_tokens = r->input_tokens,
	                                .output_tokens = r->output_tokens,
	                                .hang_up_ns = r->hang_up_ns,
	                                .recorded_ttft_ns = r->recorded_ttft_ns,
	                                .recorded_e2e_ns = r->recorded_e2e_ns};
	if (!r->session.data || !slice_equal(r->session, buffer_all(&s->name))) {
		s->count = 0;
		buffer_clear(&s->name);
		buffer_slice(&s->name, r->session);
	}
	if (r->inputs.data)
		w->no_blocks = "requests have several inputs each, which a server caches one by one";
	if (add_parents(w, s, r, to, err) < 0 || add_recorded(w, s, r, err) < 0 ||
	    (!w->no_blocks && add_prompt(w, s, r, live, err) < 0))
		return -1;
	to->node = to->answer = s->prompt.node;
	to->tokens = s->prompt.chain.tokens <= UINT32_MAX ? (uint32_t)s->prompt.chain.tokens : 0;
	if (r->session.data && note_id(s, r, err) < 0)
		return -1;
	buffer_clear(&s->answer);
	buffer_slice(&s->answer, trace_answer(r));
	w->count++;
	return w->tree.failed || s->name.failed || s->answer.failed || s->scratch.text.failed ? ipf_error_memory(err) : 0;
}

/* Larger blocks, when there are too many of them. */
static int bound_memory(struct workload *w, struct session_reader *s, struct ipf_error *err)
{
	if (w->tree.count < PREFIX_NODES_MOST)
		return 0;
	uint32_t *map = calloc(w->tree.count, sizeof *map);
	if (map)
		prefix_tree_halve(&w->tree, map);
	if (!map || w->tree.failed) {
		free(map);
		return ipf_error_memory(err);
	}
	for (int64_t i = 0; i < w->count; i++) {
		w->requests[i].node = map[w->requests[i].node];
		w->requests[i].answer = map[w->requests[i].answer];
	}
	s->prompt.node = map[s->prompt.node];
	free(map);
	return 0;
}

static int check_digest(struct trace_reader *reader, const struct run_data *run, struct ipf_error *err)
{
	struct stream_reader *stream = trace_reader_stream(reader);
	const char *wanted = run->schedule.trace_sha256;
	if (!wanted[0] || strcmp(wanted, stream_reader_sha256(stream)) == 0)
		return 0;
	return ipf_error_at(
		err, IPF_INPUT, stream_reader_name(stream), 0,
		"is not the trace of this run: the schedule was made for one with the digest %.12s…, this has %.12s…", wanted,
		stream_reader_sha256(stream));
}

static int read_trace(struct workload *w, struct session_reader *s, struct trace_reader *reader, int64_t needed,
                      bool live, struct ipf_error *err)
{
	struct stream_reader *stream = trace_reader_stream(reader);
	struct trace_request request;
	int got;
	while ((got = trace_reader_next(reader, &request, err)) == 1) {
		w->of_trace++;
		w->with_latencies += request.recorded_ttft_ns != IPF_ABSENT || request.recorded_e2e_ns != IPF_ABSENT;
		if (w->count == needed)
			continue;
		if (add_request(w, s, &request, live, err) < 0) {
			ipf_error_place(err, stream_reader_name(stream), stream_reader_line(stream));
			return -1;
		}
		if (bound_memory(w, s, err) < 0)
			return -1;
	}
	return got;
}

static int read_source(struct workload *w, struct trace_reader *reader, struct ipf_error *err)
{
	const char *source = json_string_value(
		json_object_get(stream_reader_header(trace_reader_stream(reader)), "source"));
	w->source = source ? strdup(source) : NULL;
	return source && !w->source ? ipf_error_memory(err) : 0;
}

int workload_read(struct workload *w, const char *path, const struct run_data *run, struct ipf_error *err)
{
	struct session_reader session = {.prompt.tree = &w->tree};
	struct trace_reader *reader = NULL;
	int64_t needed = 0;
	*w = (struct workload){.no_blocks = NULL};
	int bad = list_started(w, run, err);
	if (bad == 0)
		bad = find_rows(w, run, &needed, err);
	if (bad == 0)
		bad = trace_reader_open(&reader, path, err);
	if (bad == 0)
		bad = read_source(w, reader, err);
	if (bad == 0)
		bad = read_trace(w, &session, reader, needed, has_live_histories(run), err);
	if (bad == 0)
		bad = check_digest(reader, run, err);
	if (bad == 0) {
		prefix_reuse_compute(&w->recorded);
		bad = w->recorded.failed ? ipf_error_memory(err) : 0;
	}
	trace_reader_close(reader);
	buffer_release(&session.name);
	buffer_release(&session.answer);
	prompt_scratch_release(&session.scratch);
	free(session.ids);
	return bad;
}

const struct workload_request *workload_request_of(const struct workload *w, const struct row *row)
{
	int64_t req = row_get(row, ROW_REQ);
	return req >= 0 && req < w->count ? &w->requests[req] : NULL;
}

void workload_release(struct workload *w)
{
	free(w->requests);
	free(w->parents);
	free(w->started);
	free(w->row_of);
	free(w->source);
	prefix_tree_release(&w->tree);
	prefix_reuse_release(&w->recorded);
	*w = (struct workload){0};
}

#include "fit/twin_data.h"

#include "array.h"
#include "batching/kv_cache.h"
#include "results/event_times.h"
#include "twin/twin_blocks.h"

#include <stdlib.h>

struct reading {
	struct twin_data *data;
	const struct run_data *run;
	const struct workload *workload; /* NULL: not known */
	double server_tokens, tree_tokens;
	struct event_times times, tokens;
	bool rows_only; /* without events */
	int64_t rows, without_events, without_tokens;
};

static bool add_events(struct reading *r, const struct result *result)
{
	struct twin_data *d = r->data;
	bool counted = event_times_parse(&r->tokens, result->event_tokens) && r->tokens.count == r->times.count;
	d->tokens_known &= counted;
	for (size_t i = 0; i < r->times.count; i++) {
		if (!array_room(d->events, d->event_cap, d->event_count + 1))
			return false;
		d->events[d->event_count++] = (struct measured_event){.t_ns = (int64_t)r->times.ns[i],
		                                                      .request = (int32_t)d->request_count,
		                                                      .order = (int32_t)i,
		                                                      .tokens = counted ? (int32_t)r->tokens.ns[i] : 0};
	}
	return true;
}

/* A number for each server of each part: steps are of one server. The clocks of shards are not near enough for steps,
 * but for rows. */
static int32_t server_of(const struct reading *r, const struct row *row)
{
	const struct run_data *run = r->run;
	const int32_t part = r->rows_only && run->shards ? 0 : row->part;
	const int32_t replicas = run->groups[BY_REPLICA].count + 1;
	return part * r->data->servers_each + (row->group[BY_TARGET] + 1) * replicas + row->group[BY_REPLICA] + 1;
}

/* Where the prompt of the row is in the tree. */
static uint32_t node_of(struct reading *r, const struct row *row, int64_t input)
{
	const struct workload_request *asked = r->workload ? workload_request_of(r->workload, row) : NULL;
	if (!asked)
		return PREFIX_ROOT;
	r->server_tokens += (double)input;
	r->tree_tokens += asked->tokens;
	return asked->node;
}

/* The request of the row, whose times the caller knows; false: memory ran out. */
static bool add_request(struct reading *r, const struct row *row, struct measured_request times)
{
	struct twin_data *d = r->data;
	int64_t input = row_get(row, ROW_INPUT_TOKENS), cached = row_get(row, ROW_CACHED_TOKENS);
	struct measured_request *q;
	d->cached_reported |= cached != IPF_ABSENT;
	if (!array_room(d->requests, d->request_cap, d->request_count + 1))
		return false;
	q = &d->requests[d->request_count++];
	*q = times;
	q->row = row - r->run->rows;
	q->input_tokens = input;
	q->cached_tokens = cached == IPF_ABSENT ? 0 : cached < input ? cached : input - 1;
	q->output_tokens = row_get(row, ROW_OUTPUT_TOKENS);
	q->node = node_of(r, row, input);
	q->server = server_of(r, row);
	q->session = row->group[BY_SESSION];
	d->sessions = q->session >= d->sessions ? q->session + 1 : d->sessions;
	q->stage = row->part * (int32_t)r->run->schedule.count + row->stage;
	d->stages = q->stage >= d->stages ? q->stage + 1 : d->stages;
	return true;
}

static bool has_tokens(const struct row *row)
{
	return row_get(row, ROW_INPUT_TOKENS) != IPF_ABSENT && row_get(row, ROW_OUTPUT_TOKENS) != IPF_ABSENT &&
	       row_get(row, ROW_OUTPUT_TOKENS) >= 1;
}

/* When the server got the request, the last time if it was sent again. */
static int64_t sent_ns(const struct row *row)
{
	int64_t again = row_get(row, ROW_ATTEMPT_START_NS);
	return again != IPF_ABSENT ? again : row->start_ns;
}

/* One row with its events; false: memory ran out. */
static bool add_row(struct reading *r, const struct row *row, const struct result *result)
{
	struct twin_data *d = r->data;
	r->rows++;
	if (!row->ok)
		d->failed++;
	else if (!event_times_parse(&r->times, result->event_ns) || r->times.count == 0)
		r->without_events++;
	else if (!has_tokens(row))
		r->without_tokens++;
	else if (d->event_count + (int64_t)r->times.count > TWIN_EVENTS_MOST)
		d->left_out++;
	else
		return add_events(r, result) &&
		       add_request(r, row,
		                   (struct measured_request){.start_ns = sent_ns(row),
		                                             .first_ns = (int64_t)r->times.ns[0],
		                                             .last_ns = (int64_t)r->times.ns[r->times.count - 1],
		                                             .events = (int64_t)r->times.count});
	return true;
}

/* The wait for its connection; 0: it used one that there was. */
static int64_t connecting(const struct row *row)
{
	int64_t setup = row_get(row, ROW_SETUP_NS), connect = row_get(row, ROW_CONNECT_NS);
	int64_t first = row_get(row, METRIC_TTFT), waited = setup > connect ? setup : connect;
	return waited == IPF_ABSENT || waited < 0 ? 0 : first != IPF_ABSENT && waited > first ? first : waited;
}

/* One row by its metrics; false: memory ran out. */
static bool add_measured(struct reading *r, const struct row *row)
{
	const int64_t shift_ns = r->run->shards ? r->run->parts[row->part].shift_ns : 0;
	const int64_t first = row_get(row, METRIC_TTFT), last = row_get(row, METRIC_E2E);
	const int64_t start_ns = row->start_ns + shift_ns, connect_ns = connecting(row);
	r->rows++;
	if (!row->ok)
		r->data->failed++;
	else if (row->start_ns == IPF_ABSENT || first == IPF_ABSENT || last == IPF_ABSENT)
		r->without_events++;
	else if (!has_tokens(row))
		r->without_tokens++;
	else if (r->data->request_count >= TWIN_ROWS_MOST)
		r->data->left_out++;
	else
		return add_request(r, row,
		                   (struct measured_request){.start_ns = sent_ns(row) + shift_ns + connect_ns,
		                                             .connect_ns = connect_ns,
		                                             .first_ns = start_ns + first,
		                                             .last_ns = start_ns + last});
	return true;
}

/* ---- sorting ---- */

static int compare_starts(const void *a, const void *b)
{
	const struct measured_request *x = a, *y = b;
	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

struct keyed_event {
	struct measured_event event;
	int32_t server;
};

static int compare_events(const void *a, const void *b)
{
	const struct keyed_event *x = a, *y = b;
	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	if (x->event.t_ns != y->event.t_ns)
		return x->event.t_ns < y->event.t_ns ? -1 : 1;
	return (x->event.request > y->event.request) - (x->event.request < y->event.request);
}

/* Requests in the order of their starts, events in that of time, with the new numbers of their requests. */
static int sort(struct twin_data *d, struct ipf_error *err)
{
	struct numbered {
		struct measured_request request;
		int32_t number;
	} *requests = calloc((size_t)d->request_count, sizeof *requests);
	struct keyed_event *events = calloc((size_t)d->event_count + 1, sizeof *events);
	int32_t *place = calloc((size_t)d->request_count, sizeof *place);
	if (requests && events && place) {
		for (int64_t i = 0; i < d->request_count; i++)
			requests[i] = (struct numbered){d->requests[i], (int32_t)i};
		qsort(requests, (size_t)d->request_count, sizeof *requests, compare_starts);
		for (int64_t i = 0; i < d->request_count; i++) {
			d->requests[i] = requests[i].request;
			place[requests[i].number] = (int32_t)i;
		}
		for (int64_t i = 0; i < d->event_count; i++) {
			events[i].event = d->events[i];
			events[i].event.request = place[d->events[i].request];
			events[i].server = d->requests[events[i].event.request].server;
		}
		qsort(events, (size_t)d->event_count, sizeof *events, compare_events);
		for (int64_t i = 0; i < d->event_count; i++)
			d->events[i] = events[i].event;
	}
	bool bad = !requests || !events || !place;
	free(requests);
	free(events);
	free(place);
	return bad ? ipf_error_memory(err) : 0;
}

static int check(const struct reading *r, struct ipf_error *err)
{
	const struct twin_data *d = r->data;
	if (r->rows == 0)
		return ipf_error_set(err, IPF_INPUT, "a twin requires requests, which the results do not have");
	if (d->failed * 10 > r->rows)
		return ipf_error_set(err, IPF_INPUT,
		                     "no twin of a run in which %lld of %lld requests failed: the server's load is not known",
		                     (long long)d->failed, (long long)r->rows);
	if (r->without_events * 10 > r->rows)
		return ipf_error_set(err, IPF_INPUT,
		                     r->rows_only ? "a twin requires TTFT and E2E, which %lld of %lld requests do not have"
		                                  : "a twin requires the times of all events, which %lld of %lld requests do "
		                                    "not have (ipf-collect --events)",
		                     (long long)r->without_events, (long long)r->rows);
	if (r->without_tokens * 10 > r->rows)
		return ipf_error_set(err, IPF_INPUT,
		                     "a twin requires the lengths of prompts and answers, which %lld of %lld requests do not "
		                     "have (ipf-collect --tokenizer)",
		                     (long long)r->without_tokens, (long long)r->rows);
	return 0;
}

static int read_run(struct reading *r, struct ipf_error *err)
{
	struct twin_data *d = r->data;
	bool fine = true;
	*d = (struct twin_data){.tokens_known = true,
	                        .servers_each = (r->run->groups[BY_TARGET].count + 1) *
	                                        (r->run->groups[BY_REPLICA].count + 1)};
	if (r->workload && r->workload->no_blocks)
		r->workload = NULL;
	for (int64_t i = 0; i < r->run->row_count && fine; i++) {
		const struct row *row = &r->run->rows[i];
		struct result result;
		if (!r->rows_only && !run_data_line(r->run, row, &result))
			break;
		fine = r->rows_only ? add_measured(r, row) : add_row(r, row, &result);
	}
	if (r->tree_tokens > 0) {
		d->tree = &r->workload->tree;
		d->factor = twin_blocks_factor(r->server_tokens, r->tree_tokens);
	}
	event_times_release(&r->times);
	event_times_release(&r->tokens);
	int result = !fine ? ipf_error_memory(err) : r->rows_only ? 0 : row_lines_check(r->run->lines, err);
	if (result == 0)
		result = check(r, err) < 0 ? -1 : sort(d, err);
	if (result < 0)
		twin_data_release(d);
	return result;
}

int twin_data_read(struct twin_data *data, const struct run_data *run, const struct workload *workload,
                   struct ipf_error *err)
{
	return read_run(&(struct reading){.data = data, .run = run, .workload = workload}, err);
}

int twin_data_read_rows(struct twin_data *data, const struct run_data *run, const struct workload *workload,
                        struct ipf_error *err)
{
	return read_run(&(struct reading){.data = data, .run = run, .workload = workload, .rows_only = true}, err);
}

/* The keys of the nodes up to this one, from the beginning of the prompt. NULL: out of memory. */
static uint64_t *path_to(const struct prefix_tree *tree, uint32_t node, int64_t *count)
{
	int64_t depth = 0;
	for (uint32_t at = node; at != PREFIX_ROOT; at = tree->nodes[at].parent)
		depth++;
	uint64_t *keys = malloc((size_t)(depth + 1) * sizeof *keys);
	*count = depth;
	for (uint32_t at = node; keys && at != PREFIX_ROOT; at = tree->nodes[at].parent)
		keys[--depth] = tree->nodes[at].key;
	return keys;
}

/* Nodes of the tree can be of several blocks: the node before the end of a block is the known part. */
int twin_data_blocks(const struct twin_data *data, const struct measured_request *request,
                     void (*add)(void *to, uint64_t hash), void *to)
{
	int64_t count;
	uint64_t *keys = path_to(data->tree, request->node, &count);
	if (!keys)
		return -1;
	for (int64_t k = 0; (k + 1) * KV_BLOCK <= request->input_tokens && count > 0; k++) {
		int64_t node = twin_blocks_place(data->factor, k) >> data->tree->joined;
		if (node > count)
			break;
		add(to, twin_blocks_hash(keys[node > 0 ? node - 1 : 0], k));
	}
	free(keys);
	return 0;
}

void twin_data_release(struct twin_data *data)
{
	free(data->requests);
	free(data->events);
	*data = (struct twin_data){0};
}

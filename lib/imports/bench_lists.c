#include "imports/bench_lists.h"

#include "absent.h"
#include "array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_BYTES = 400 };

static const char *const list_keys[BENCH_LISTS] = {
	[LIST_INPUT_LENS] = "input_lens",      [LIST_OUTPUT_LENS] = "output_lens", [LIST_TTFTS] = "ttfts",
	[LIST_LATENCIES] = "latencies",        [LIST_START_TIMES] = "start_times", [LIST_QUEUE_TIMES] = "queue_times",
	[LIST_CACHED_TOKENS] = "cached_tokens"};

void bench_lists_release(struct bench_lists *lists)
{
	for (int i = 0; i < BENCH_LISTS; i++)
		free(lists->list[i].values);
	free(lists->gap_count.values);
	free(lists->gap_sum.values);
	free(lists->gap_max.values);
	free(lists->event_lines.values);
	free(lists->error_at.values);
	buffer_release(&lists->errors);
	row_lines_free(lists->events);
	histogram_free(lists->gaps);
	*lists = (struct bench_lists){0};
}

static int push(struct bench_list *list, double value, struct ipf_error *err)
{
	if (!array_room(list->values, list->cap, list->count + 1))
		return ipf_error_memory(err);
	list->values[list->count++] = value;
	return 0;
}

static double at(const struct bench_list *list, size_t i)
{
	return list->there ? list->values[i] : NAN;
}

/* ---- reading ---- */

/* A list, or null in its place: false. A list coming twice counts once. */
static int enter_list(struct import *in, struct bench_list *list, struct ipf_error *err)
{
	int type = json_pull_type(&in->json, err);
	if (type == JDOC_NULL)
		return json_pull_skip(&in->json, err);
	if (type < 0 || json_pull_enter(&in->json, JDOC_LIST, err) < 0)
		return -1;
	list->there = true;
	list->count = 0;
	return 1;
}

static int read_numbers(struct import *in, struct bench_list *list, struct ipf_error *err)
{
	double value;
	int got = enter_list(in, list, err);
	while (got > 0 && (got = json_pull_element(&in->json, err)) == 1)
		if (json_pull_number(&in->json, &value, err) < 0 || push(list, value, err) < 0)
			return -1;
	return got;
}

/* A request without output failed, and its gaps are in no figure: both tools write 0 for it, before the gaps. */
static bool is_failed(const struct bench_lists *lists, size_t i)
{
	const struct bench_list *output = &lists->list[LIST_OUTPUT_LENS];
	return output->there && i < output->count && !(output->values[i] > 0);
}

/* The gaps of one request. The times of its events count from the first of them. */
static int read_gaps(struct bench_lists *lists, struct import *in, struct ipf_error *err)
{
	double gap, sum = 0, most = 0, count = 0;
	struct result events;
	struct buffer list = {0}, line = {0};
	bool failed = is_failed(lists, lists->gap_count.count);
	int got = json_pull_enter(&in->json, JDOC_LIST, err);
	buffer_text(&list, "[0");
	if (got == 0)
		while ((got = json_pull_element(&in->json, err)) == 1 && (got = json_pull_number(&in->json, &gap, err)) == 0) {
			if (!(gap >= 0 && gap < 1e8)) {
				got = json_pull_wrong(&in->json, err, "expected a number of seconds, got %g", gap);
				break;
			}
			count++;
			sum += gap;
			most = fmax(most, gap);
			if (!failed)
				histogram_add(lists->gaps, import_ns(gap, 1e9), 1);
			if (lists->events)
				buffer_format(&list, ",%lld", (long long)import_ns(sum, 1e9));
		}
	buffer_byte(&list, ']');
	if (got == 0 && lists->events) {
		result_init(&events);
		events.n = events.stage = 0;
		events.ok = true;
		events.event_ns = buffer_all(&list);
		result_write(&events, &line);
		got = line.failed || list.failed
		          ? ipf_error_memory(err)
		          : push(&lists->event_lines, (double)row_lines_add(lists->events, buffer_all(&line)), err);
	}
	buffer_release(&list);
	buffer_release(&line);
	return got < 0 || push(&lists->gap_count, count, err) < 0 || push(&lists->gap_sum, sum, err) < 0 ||
	               push(&lists->gap_max, most, err) < 0
	           ? -1
	           : 0;
}

static int read_itls(struct bench_lists *lists, struct import *in, struct ipf_error *err)
{
	int got = enter_list(in, &lists->gap_count, err);
	if (got <= 0)
		return got;
	lists->gap_sum.count = lists->gap_max.count = lists->event_lines.count = 0;
	histogram_free(lists->gaps);
	row_lines_free(lists->events);
	lists->events = NULL;
	if (!(lists->gaps = histogram_new()))
		return ipf_error_memory(err);
	if (in->run->lines && !(lists->events = row_lines_new(err)))
		return -1;
	while ((got = json_pull_element(&in->json, err)) == 1)
		if (read_gaps(lists, in, err) < 0)
			return -1;
	return got;
}

/* Appends the text as JSON, shortened: some are whole tracebacks. */
static void keep_error(struct bench_lists *lists, struct slice text)
{
	struct jout w = {.out = &lists->errors};
	if (text.len > ERROR_BYTES) /* the end of a traceback has the error */
		text = (struct slice){text.data + text.len - ERROR_BYTES, ERROR_BYTES};
	while (text.len > 0 && ((unsigned char)*text.data & 0xC0) == 0x80)
		text = (struct slice){text.data + 1, text.len - 1};
	jout_string(&w, text);
	buffer_byte(&lists->errors, 0);
}

static int read_errors(struct bench_lists *lists, struct import *in, struct ipf_error *err)
{
	struct buffer raw = {0}, text = {0};
	struct jdoc doc = {0};
	int got = enter_list(in, &lists->error_at, err);
	buffer_clear(&lists->errors);
	while (got > 0 && (got = json_pull_element(&in->json, err)) == 1) {
		if (json_pull_value(&in->json, &raw, err) < 0 || jdoc_parse(&doc, raw.data, raw.len, err) < 0) {
			got = -1;
			break;
		}
		buffer_clear(&text);
		if (jdoc_type_of(&doc, JDOC_ROOT) == JDOC_TEXT)
			jdoc_text(&doc, JDOC_ROOT, &text);
		if (push(&lists->error_at, text.len ? (double)lists->errors.len : -1, err) < 0) {
			got = -1;
			break;
		}
		if (text.len)
			keep_error(lists, buffer_all(&text));
	}
	if (got >= 0 && (raw.failed || text.failed || lists->errors.failed))
		got = ipf_error_memory(err);
	buffer_release(&raw);
	buffer_release(&text);
	jdoc_release(&doc);
	return got;
}

int bench_lists_member(struct bench_lists *lists, struct import *in, struct slice key, struct ipf_error *err)
{
	int got = 0;
	for (int i = 0; i < BENCH_LISTS; i++)
		if (slice_is(key, list_keys[i]))
			return read_numbers(in, &lists->list[i], err) < 0 ? -1 : 1;
	if (slice_is(key, "itls"))
		got = read_itls(lists, in, err);
	else if (slice_is(key, "errors"))
		got = read_errors(lists, in, err);
	else
		return 0;
	return got < 0 ? -1 : 1;
}

bool bench_lists_there(const struct bench_lists *lists)
{
	return lists->list[LIST_TTFTS].there;
}

int64_t bench_lists_first_start(const struct bench_lists *lists)
{
	const struct bench_list *starts = &lists->list[LIST_START_TIMES];
	int64_t first = IPF_ABSENT;
	for (size_t i = 0; starts->there && i < starts->count; i++) {
		int64_t ns = import_ns(starts->values[i], 1e9);
		if (ns != IPF_ABSENT && (first == IPF_ABSENT || ns < first))
			first = ns;
	}
	return first;
}

/* ---- rows ---- */

static int check_lengths(const struct bench_lists *lists, const struct import *in, struct ipf_error *err)
{
	size_t count = lists->list[LIST_TTFTS].count;
	const struct bench_list *others[BENCH_LISTS + 2] = {&lists->gap_count, &lists->error_at};
	const char *names[BENCH_LISTS + 2] = {"itls", "errors"};
	for (int i = 0; i < BENCH_LISTS; i++) {
		others[i + 2] = &lists->list[i];
		names[i + 2] = list_keys[i];
	}
	for (int i = 0; i < BENCH_LISTS + 2; i++)
		if (others[i]->there && others[i]->count != count)
			return json_pull_wrong(&in->json, err, "%s: expected %zu entries as in ttfts, got %zu", names[i], count,
			                       others[i]->count);
	return 0;
}

/* The times of the events, moved to where the first token came. */
static void put_events(struct bench_lists *lists, size_t i, int64_t first_ns, struct buffer *list, struct result *row)
{
	struct result kept;
	buffer_clear(list);
	if (!lists->events || first_ns == IPF_ABSENT ||
	    !row_lines_read(lists->events, (int64_t)lists->event_lines.values[i], &kept) || !kept.event_ns.data)
		return;
	import_move_events(kept.event_ns, first_ns, list);
	row->event_ns = buffer_all(list);
}

static double positive(double value)
{
	return value > 0 ? value : NAN;
}

static void put_times(const struct bench_lists *lists, size_t i, struct result *row)
{
	double ttft = positive(at(&lists->list[LIST_TTFTS], i)), e2e = positive(at(&lists->list[LIST_LATENCIES], i));
	int64_t start_ns = import_ns(at(&lists->list[LIST_START_TIMES], i), 1e9);
	if (start_ns != IPF_ABSENT && lists->from_ns != IPF_ABSENT)
		row->start_ns = start_ns - lists->from_ns + lists->begin_ns;
	row->slot_wait_ns = import_ns(positive(at(&lists->list[LIST_QUEUE_TIMES], i)), 1e9);
	if (row->start_ns != IPF_ABSENT && row->slot_wait_ns != IPF_ABSENT)
		row->ready_ns = row->start_ns - row->slot_wait_ns;
	if (!row->ok)
		return;
	if (isnan(e2e) && lists->gap_count.there)
		e2e = ttft + lists->gap_sum.values[i];
	row->ttft_ns = import_ns(ttft, 1e9);
	row->e2e_ns = import_ns(e2e, 1e9);
	row->output_tokens = import_count(at(&lists->list[LIST_OUTPUT_LENS], i));
	row->cached_tokens = import_count(at(&lists->list[LIST_CACHED_TOKENS], i));
	if (lists->gap_count.there && row->ttft_ns != IPF_ABSENT)
		row->events = 1 + (int64_t)lists->gap_count.values[i];
}

static int add_row(struct bench_lists *lists, struct import *in, size_t i, struct result *row, struct ipf_error *err)
{
	struct buffer events = {0};
	const struct bench_list *gaps = &lists->gap_count;
	double error = at(&lists->error_at, i);
	bool failed = error >= 0, answered = at(&lists->list[LIST_TTFTS], i) > 0 ||
	                                     at(&lists->list[LIST_LATENCIES], i) > 0 ||
	                                     at(&lists->list[LIST_OUTPUT_LENS], i) > 0;
	row->ok = !failed && answered;
	lists->ok_count += row->ok;
	if (!row->ok)
		row->error_kind = slice_of("\"other\"");
	if (failed)
		row->error_text = slice_of(lists->errors.data + (size_t)error);
	row->input_tokens = import_count(at(&lists->list[LIST_INPUT_LENS], i));
	put_times(lists, i, row);
	if (row->ok && row->start_ns != IPF_ABSENT && row->ttft_ns != IPF_ABSENT)
		put_events(lists, i, row->start_ns + row->ttft_ns, &events, row);
	import_derive(row, gaps->there && row->ok ? (int64_t)gaps->values[i] : 0, at(&lists->gap_sum, i) * 1e9,
	              import_ns(at(&lists->gap_max, i), 1e9));
	if (row->end_ns != IPF_ABSENT && row->end_ns > lists->end_ns)
		lists->end_ns = row->end_ns;
	int bad = import_row(in, row, err);
	buffer_release(&events);
	return bad;
}

int bench_lists_rows(struct bench_lists *lists, struct import *in, int stage, struct ipf_error *err)
{
	struct result row;
	if (check_lengths(lists, in, err) < 0)
		return -1;
	lists->gap_sum.there = lists->gap_max.there = lists->gap_count.there;
	lists->end_ns = lists->begin_ns;
	for (size_t i = 0; i < lists->list[LIST_TTFTS].count; i++) {
		result_init(&row);
		row.stage = stage;
		if (add_row(lists, in, i, &row, err) < 0)
			return -1;
	}
	if (lists->events && row_lines_check(lists->events, err) < 0)
		return -1;
	if (lists->gaps)
		import_gaps(in, stage, lists->gaps);
	lists->gaps = NULL;
	return 0;
}

#include "results/row_columns.h"

#include "absent.h"
#include "array.h"

#include <stdlib.h>
#include <string.h>

#define MEMBER(member_)                                                                                                \
	{                                                                                                                  \
		.name = #member_, .offset = offsetof(struct result, member_)                                                   \
	}
/* The columns after the metrics. */
static const struct {
	const char *name;
	size_t offset;
} others[ROW_COLUMNS - METRIC_COUNT] = {
	[ROW_READY_NS - METRIC_COUNT] = MEMBER(ready_ns),
	[ROW_POOL_WAIT_NS - METRIC_COUNT] = MEMBER(pool_wait_ns),
	[ROW_CONNECT_NS - METRIC_COUNT] = MEMBER(connect_ns),
	[ROW_SENDING_NS - METRIC_COUNT] = MEMBER(sending_ns),
	[ROW_SETUP_NS - METRIC_COUNT] = MEMBER(setup_ns),
	[ROW_FIRST_EARLY_NS - METRIC_COUNT] = MEMBER(first_early_ns),
	[ROW_LAST_EARLY_NS - METRIC_COUNT] = MEMBER(last_early_ns),
	[ROW_ATTEMPT_START_NS - METRIC_COUNT] = MEMBER(attempt_start_ns),
	[ROW_RETRY_WAIT_NS - METRIC_COUNT] = MEMBER(retry_wait_ns),
	[ROW_RETRY_AFTER_NS - METRIC_COUNT] = MEMBER(retry_after_ns),
	[ROW_RETRY_AFTER_MIN_NS - METRIC_COUNT] = MEMBER(retry_after_min_ns),
	[ROW_RETRY_AFTER_MAX_NS - METRIC_COUNT] = MEMBER(retry_after_max_ns),
	[ROW_STALLS - METRIC_COUNT] = MEMBER(stalls),
	[ROW_EVENTS - METRIC_COUNT] = MEMBER(events),
	[ROW_COALESCED - METRIC_COUNT] = MEMBER(coalesced),
	[ROW_AFTER_END - METRIC_COUNT] = MEMBER(after_end),
	[ROW_DEADLINES - METRIC_COUNT] = MEMBER(deadlines),
	[ROW_DEADLINES_MET - METRIC_COUNT] = MEMBER(deadlines_met),
	[ROW_INPUT_TOKENS - METRIC_COUNT] = MEMBER(input_tokens),
	[ROW_OUTPUT_TOKENS - METRIC_COUNT] = MEMBER(output_tokens),
	[ROW_OUTPUT_USAGE - METRIC_COUNT] = MEMBER(output_tokens_usage),
	[ROW_OUTPUT_TOKENIZER - METRIC_COUNT] = MEMBER(output_tokens_tokenizer),
	[ROW_INPUT_USAGE - METRIC_COUNT] = MEMBER(input_tokens_usage),
	[ROW_INPUT_TOKENIZER - METRIC_COUNT] = MEMBER(input_tokens_tokenizer),
	[ROW_REASONING_TOKENS - METRIC_COUNT] = MEMBER(reasoning_tokens),
	[ROW_CACHED_TOKENS - METRIC_COUNT] = MEMBER(cached_tokens),
	[ROW_CACHED_DEVICE - METRIC_COUNT] = MEMBER(cached_tokens_device),
	[ROW_CACHED_HOST - METRIC_COUNT] = MEMBER(cached_tokens_host),
	[ROW_CACHED_DISK - METRIC_COUNT] = MEMBER(cached_tokens_disk),
	[ROW_CACHED_REMOTE - METRIC_COUNT] = MEMBER(cached_tokens_remote),
	[ROW_IMAGE_TOKENS - METRIC_COUNT] = MEMBER(image_tokens),
	[ROW_AUDIO_TOKENS - METRIC_COUNT] = MEMBER(audio_tokens),
	[ROW_OUTPUT_AUDIO_TOKENS - METRIC_COUNT] = MEMBER(output_audio_tokens),
	[ROW_IMAGES - METRIC_COUNT] = MEMBER(images),
	[ROW_AUDIO_CLIPS - METRIC_COUNT] = MEMBER(audio_clips),
	[ROW_VIDEO_CLIPS - METRIC_COUNT] = MEMBER(video_clips),
	[ROW_AUDIO_NS - METRIC_COUNT] = MEMBER(audio_ns),
	[ROW_MEDIA_BYTES - METRIC_COUNT] = MEMBER(media_bytes),
	[ROW_READS - METRIC_COUNT] = MEMBER(reads),
	[ROW_READS_2 - METRIC_COUNT] = MEMBER(reads_2),
	[ROW_READS_3 - METRIC_COUNT] = MEMBER(reads_3),
	[ROW_READS_4 - METRIC_COUNT] = MEMBER(reads_4),
	[ROW_READS_5 - METRIC_COUNT] = MEMBER(reads_5),
	[ROW_READS_6 - METRIC_COUNT] = MEMBER(reads_6),
	[ROW_READS_7 - METRIC_COUNT] = MEMBER(reads_7),
	[ROW_READS_8 - METRIC_COUNT] = MEMBER(reads_8),
	[ROW_GAP_ONE_NS - METRIC_COUNT] = MEMBER(gap_one_ns),
	[ROW_GAP_SEVERAL_NS - METRIC_COUNT] = MEMBER(gap_several_ns),
	[ROW_SPEC_DRAFTS - METRIC_COUNT] = MEMBER(spec_drafts),
	[ROW_SPEC_DRAFT_TOKENS - METRIC_COUNT] = MEMBER(spec_draft_tokens),
	[ROW_SPEC_ACCEPTED_TOKENS - METRIC_COUNT] = MEMBER(spec_accepted_tokens),
	[ROW_OUTPUT_AUDIO_NS - METRIC_COUNT] = MEMBER(output_audio_ns),
	[ROW_PLAYBACK_WAIT_NS - METRIC_COUNT] = MEMBER(playback_wait_ns),
	[ROW_ASKED_INPUT - METRIC_COUNT] = MEMBER(asked_input_tokens),
	[ROW_ASKED_OUTPUT - METRIC_COUNT] = MEMBER(asked_output_tokens),
	[ROW_INPUTS - METRIC_COUNT] = MEMBER(inputs),
	[ROW_SEND_WAITS - METRIC_COUNT] = MEMBER(send_waits),
	[ROW_ATTEMPTS - METRIC_COUNT] = MEMBER(attempts),
	[ROW_REFUSALS - METRIC_COUNT] = MEMBER(refusals),
	[ROW_RETRY_AFTERS - METRIC_COUNT] = MEMBER(retry_afters),
	[ROW_RETRY_EARLY - METRIC_COUNT] = MEMBER(retry_early),
	[ROW_SESSION_REQUESTS - METRIC_COUNT] = MEMBER(session_requests),
	[ROW_CONTINUES - METRIC_COUNT] = MEMBER(continues),
	[ROW_HISTORY_TOKENS - METRIC_COUNT] = MEMBER(history_tokens),
	[ROW_HISTORY_SAME - METRIC_COUNT] = MEMBER(history_same_tokens),
	[ROW_HISTORY_GENERATED - METRIC_COUNT] = MEMBER(history_generated_tokens),
	[ROW_HISTORY_CACHED - METRIC_COUNT] = MEMBER(history_cached_tokens),
	[ROW_HISTORY_TEXT - METRIC_COUNT] = MEMBER(history_text_tokens),
	[ROW_TOOL_CALLS - METRIC_COUNT] = MEMBER(tool_calls),
	[ROW_DIFFERS_AT_TOKEN - METRIC_COUNT] = MEMBER(differs_at_token),
	[ROW_DIFFERS_AT_CHAR - METRIC_COUNT] = MEMBER(differs_at_char),
	[ROW_REQ - METRIC_COUNT] = MEMBER(req),
	[ROW_AFTER - METRIC_COUNT] = {.name = "after"},
	[ROW_CAPTURED - METRIC_COUNT] = {.name = "id"},
	[ROW_EDGES - METRIC_COUNT] = {.name = "edge_ns"},
};

static int out_of_range(int column, int64_t value, struct ipf_error *err)
{
	if (column < METRIC_COUNT)
		return ipf_error_set(err, IPF_INPUT, "%s_ns: %lld is out of range", metrics[column].name, (long long)value);
	return ipf_error_set(err, IPF_INPUT, "%s: %lld is out of range", others[column - METRIC_COUNT].name,
	                     (long long)value);
}

static int no_memory(int64_t rows, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_SYSTEM, "out of memory after %lld rows", (long long)rows);
}

static size_t offset_of(int column)
{
	return column < METRIC_COUNT ? metrics[column].offset : others[column - METRIC_COUNT].offset;
}

static void find_places(struct row_columns *columns)
{
	int at = 0;
	for (int exists = 1; exists >= 0; exists--) {
		for (int i = 0; i < ROW_REQ; i++)
			if (column_exists(&columns->list[i]) == exists)
				columns->places[at++] = (struct row_column_place){.values = &columns->list[i],
				                                                  .most = i < ROW_STALLS ? ROW_TIME_MOST
				                                                                         : ROW_COUNT_MOST,
				                                                  .offset = offset_of(i),
				                                                  .column = i};
		if (exists)
			columns->used = at;
	}
}

static bool lengthen_values(struct column_values *v, int64_t cap)
{
	void *longer = v->narrow ? realloc(v->narrow, (size_t)cap * sizeof *v->narrow)
	               : v->wide ? realloc(v->wide, (size_t)cap * sizeof *v->wide)
	                         : NULL;
	if (column_exists(v) && !longer)
		return false;
	if (v->narrow)
		v->narrow = longer;
	else
		v->wide = longer;
	return true;
}

static int lengthen(struct row_columns *columns, struct ipf_error *err)
{
	int64_t cap = columns->cap ? 2 * columns->cap : 1024;
	for (int i = 0; i < ROW_COLUMNS; i++)
		if (!lengthen_values(&columns->list[i], cap))
			return no_memory(columns->cap, err);
	columns->cap = cap;
	find_places(columns);
	return 0;
}

/* A new column, without values up to row `at`. */
static int begin_column(struct row_columns *columns, int column, int64_t at, struct ipf_error *err)
{
	int32_t *list = malloc((size_t)columns->cap * sizeof *list);
	if (!list)
		return no_memory(at, err);
	for (int64_t i = 0; i < at; i++)
		list[i] = INT32_MIN;
	columns->list[column].narrow = list;
	return 0;
}

/* The same values, of which there are `at`, with room for larger ones. */
static int widen(struct column_values *v, int64_t cap, int64_t at, struct ipf_error *err)
{
	int64_t *wide = malloc((size_t)cap * sizeof *wide);
	if (!wide)
		return no_memory(at, err);
	for (int64_t i = 0; i < at; i++)
		wide[i] = column_value(v, i);
	free(v->narrow);
	*v = (struct column_values){.wide = wide};
	return 0;
}

static int set_value(struct column_values *v, int64_t cap, int64_t at, int64_t value, struct ipf_error *err)
{
	const bool fits = value == IPF_ABSENT || (value > INT32_MIN && value <= INT32_MAX);
	if (v->narrow && !fits && widen(v, cap, at, err) < 0)
		return -1;
	if (v->narrow)
		v->narrow[at] = value == IPF_ABSENT ? INT32_MIN : (int32_t)value;
	else
		v->wide[at] = value;
	return 0;
}

static bool in_range(int64_t value, int64_t most)
{
	return value <= most && value >= -most;
}

static int64_t value_at(const struct result *result, size_t offset)
{
	return *(const int64_t *)((const char *)result + offset);
}

/* Begins the columns of values of which the row is the first. */
static int begin_columns(struct row_columns *columns, int64_t at, const struct result *result, struct ipf_error *err)
{
	int begun = 0;
	for (int i = columns->used; i < ROW_REQ; i++) {
		const struct row_column_place *place = &columns->places[i];
		if (value_at(result, place->offset) == IPF_ABSENT)
			continue;
		if (begin_column(columns, place->column, at, err) < 0)
			return -1;
		begun++;
	}
	if (begun)
		find_places(columns);
	return 0;
}

static int add_req(struct row_columns *columns, int64_t at, const struct result *result, struct ipf_error *err)
{
	struct column_values *v = &columns->list[ROW_REQ];
	const bool wanted = (columns->with_req || result->session.data) && result->req != IPF_ABSENT;
	if (wanted && !in_range(result->req, ROW_COUNT_MOST))
		return out_of_range(ROW_REQ, result->req, err);
	if (wanted && !column_exists(v) && begin_column(columns, ROW_REQ, at, err) < 0)
		return -1;
	return column_exists(v) ? set_value(v, columns->cap, at, wanted ? result->req : IPF_ABSENT, err) : 0;
}

static bool append(struct row_columns *columns, int64_t value)
{
	if (!array_room(columns->lists, columns->lists_cap, columns->lists_count + 1))
		return false;
	columns->lists[columns->lists_count++] = value;
	return true;
}

/* The next of a list of integers as results have it, `[3,17]`; false: there is none. */
static bool next_integer(struct slice *list, int64_t *value)
{
	char *end;
	while (list->len && (*list->data < '0' || *list->data > '9')) /* a bracket, a comma, a space */
		*list = (struct slice){list->data + 1, list->len - 1};
	if (!list->len)
		return false;
	*value = strtoll(list->data, &end, 10);
	*list = (struct slice){end, list->len - (size_t)(end - list->data)};
	return true;
}

/* Sets where the list of the row is that was appended from `begin` on; IPF_ABSENT: the row has none. */
static int set_list(struct row_columns *columns, int column, int64_t at, int64_t begin, struct ipf_error *err)
{
	struct column_values *v = &columns->list[column];
	if (begin != IPF_ABSENT && !column_exists(v) && begin_column(columns, column, at, err) < 0)
		return -1;
	return column_exists(v) ? set_value(v, columns->cap, at, begin, err) : 0;
}

static int add_after(struct row_columns *columns, int64_t at, const struct result *result, struct ipf_error *err)
{
	struct slice list = result->session.data ? result->after : (struct slice){0};
	const int64_t begin = columns->lists_count;
	int64_t value;
	if (!list.data)
		return set_list(columns, ROW_AFTER, at, IPF_ABSENT, err);
	if (!append(columns, 0))
		return no_memory(at, err);
	while (next_integer(&list, &value)) {
		if (!append(columns, value))
			return no_memory(at, err);
		columns->lists[begin]++;
	}
	return set_list(columns, ROW_AFTER, at, begin, err);
}

/* Keeps pairs in the order of their times, with tokens that never become fewer: contradicting ones are left out. */
static int add_edges(struct row_columns *columns, int64_t at, const struct result *result, struct ipf_error *err)
{
	struct slice times = result->edge_ns, tokens = result->edge_tokens;
	const int64_t begin = columns->lists_count;
	int64_t time, before, last_time = -1, last_before = 0;
	if (!times.data || !tokens.data)
		return set_list(columns, ROW_EDGES, at, IPF_ABSENT, err);
	if (!append(columns, 0))
		return no_memory(at, err);
	while (next_integer(&times, &time) && next_integer(&tokens, &before)) {
		if (time <= last_time || before < last_before || time > ROW_TIME_MOST)
			continue;
		if (!append(columns, time) || !append(columns, before))
			return no_memory(at, err);
		columns->lists[begin]++;
		last_time = time;
		last_before = before;
	}
	return set_list(columns, ROW_EDGES, at, begin, err);
}

/* The number in an id of a capture, "c17"; IPF_ABSENT for any other id. */
static int64_t captured_number(struct slice id)
{
	enum { DIGITS_MOST = 9 };
	int64_t number = 0;
	if (id.len < 4 || id.len > 3 + DIGITS_MOST || id.data[1] != 'c')
		return IPF_ABSENT;
	for (size_t i = 2; i < id.len - 1; i++) {
		if (id.data[i] < '0' || id.data[i] > '9')
			return IPF_ABSENT;
		number = 10 * number + id.data[i] - '0';
	}
	return number;
}

int row_columns_add(struct row_columns *columns, int64_t at, const struct result *result, struct ipf_error *err)
{
	if (at == columns->cap && lengthen(columns, err) < 0)
		return -1;
	if (begin_columns(columns, at, result, err) < 0)
		return -1;
	for (const struct row_column_place *place = columns->places; place < columns->places + columns->used; place++) {
		int64_t value = value_at(result, place->offset);
		if (!in_range(value, place->most) && value != IPF_ABSENT)
			return out_of_range(place->column, value, err);
		if (set_value(place->values, columns->cap, at, value, err) < 0)
			return -1;
	}
	if (add_req(columns, at, result, err) < 0 || add_after(columns, at, result, err) < 0)
		return -1;
	const int64_t captured = result->id.data ? captured_number(result->id) : IPF_ABSENT;
	if (set_list(columns, ROW_CAPTURED, at, captured, err) < 0)
		return -1;
	return add_edges(columns, at, result, err);
}

bool row_columns_same(const struct row_columns *columns, enum metric a, enum metric b, int64_t count)
{
	const struct column_values *x = &columns->list[a], *y = &columns->list[b];
	bool same = column_exists(x) && column_exists(y);
	for (int64_t i = 0; same && i < count; i++)
		same = column_value(x, i) == column_value(y, i);
	return same;
}

void row_columns_release(struct row_columns *columns)
{
	for (int i = 0; i < ROW_COLUMNS; i++) {
		free(columns->list[i].narrow);
		free(columns->list[i].wide);
	}
	free(columns->lists);
	*columns = (struct row_columns){0};
}

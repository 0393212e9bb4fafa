#include "stream/result.h"

#include "stream/fields.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct result_reader {
	struct stream_reader *stream;
	struct jdoc doc;
	struct fields_shape shape; /* the last row's */
};

#define INT(member_)                                       FIELD(FIELD_INT, struct result, member_)
#define UINT(member_)                                      FIELD(FIELD_UINT, struct result, member_)
#define TOKENS(member_)                                    FIELD(FIELD_TOKENS, struct result, member_)
#define TEXT(member_)                                      FIELD(FIELD_TEXT, struct result, member_)
#define LIST(member_)                                      FIELD(FIELD_LIST, struct result, member_)
#define MEMBER(id_, name_, label_, remark_, flags_)        INT(name_##_ns),
#define SERVER_MEMBER(id_, name_, label_, remark_, flags_) UINT(name_##_ns),
static const struct field fields[] = {
	REQUIRED_FIELD(FIELD_UINT, struct result, n),
	UINT(req),
	REQUIRED_FIELD(FIELD_UINT, struct result, stage),
	UINT(copy),
	TEXT(id),
	TEXT(session),
	UINT(session_requests),
	TEXT(response_id),
	TEXT(request_id),
	TEXT(trace_id),
	UINT(turn),
	UINT(continues),
	FIELD(FIELD_INTEGERS, struct result, after),
	TEXT(model),
	UINT(target),
	TEXT(replica),
	REQUIRED_FIELD(FIELD_BOOL, struct result, ok),
	INT(due_ns),
	INT(ready_ns),
	INT(start_ns),
	INT(end_ns),
	INT(lag_ns),
	INT(slot_wait_ns),
	INT(pool_wait_ns),
	INT(client_lag_ns),
	INT(connect_ns),
	METRICS_OF_ANSWERS(MEMBER) METRICS_OF_GAPS(MEMBER) UINT(attempts),
	INT(attempt_start_ns),
	METRICS_OF_ATTEMPTS(MEMBER) UINT(retry_wait_ns),
	UINT(retry_early),
	UINT(refusals),
	UINT(retry_afters),
	UINT(retry_after_ns),
	UINT(retry_after_min_ns),
	UINT(retry_after_max_ns),
	UINT(sending_ns),
	UINT(setup_ns),
	UINT(send_waits),
	UINT(first_early_ns),
	UINT(last_early_ns),
	UINT(stalls),
	UINT(events),
	UINT(coalesced),
	UINT(choices),
	UINT(after_end),
	UINT(unread_events),
	UINT(deadlines),
	UINT(deadlines_met),
	TOKENS(input_tokens),
	TOKENS(output_tokens),
	TOKENS(output_tokens_usage),
	TOKENS(output_tokens_tokenizer),
	TOKENS(input_tokens_usage),
	TOKENS(input_tokens_tokenizer),
	TOKENS(reasoning_tokens),
	TOKENS(hidden_tokens),
	TOKENS(cached_tokens),
	TOKENS(cached_tokens_device),
	TOKENS(cached_tokens_host),
	TOKENS(cached_tokens_disk),
	TOKENS(cached_tokens_remote),
	TOKENS(history_tokens),
	TOKENS(history_same_tokens),
	TOKENS(history_generated_tokens),
	TOKENS(history_cached_tokens),
	TOKENS(history_text_tokens),
	TOKENS(cache_write_tokens),
	TOKENS(image_tokens),
	TOKENS(audio_tokens),
	TOKENS(output_audio_tokens),
	UINT(images),
	UINT(audio_clips),
	UINT(video_clips),
	UINT(audio_ns),
	UINT(media_bytes),
	UINT(output_audio_ns),
	UINT(playback_wait_ns),
	TOKENS(spec_drafts),
	TOKENS(spec_draft_tokens),
	TOKENS(spec_accepted_tokens),
	UINT(reads),
	UINT(reads_2),
	UINT(reads_3),
	UINT(reads_4),
	UINT(reads_5),
	UINT(reads_6),
	UINT(reads_7),
	UINT(reads_8),
	UINT(gap_one_ns),
	UINT(gap_several_ns),
	TOKENS(asked_input_tokens),
	TOKENS(asked_output_tokens),
	UINT(inputs),
	UINT(outputs),
	UINT(tool_calls),
	TEXT(not_streamed),
	TEXT(tokens_source),
	TEXT(doubt),
	TEXT(finish),
	TEXT(finish_server),
	TEXT(output_check),
	TEXT(output_invalid),
	TEXT(answer_check),
	TEXT(judged),
	TEXT(compared),
	TEXT(other_mark),
	TEXT(other_finish),
	UINT(differs_at_token),
	UINT(differs_at_char),
	UINT(loop_bytes),
	METRICS_OF_SERVERS(SERVER_MEMBER) FIELD(FIELD_MAP, struct result, slo),
	FIELD(FIELD_TAGS, struct result, tags),
	FIELD(FIELD_INTEGERS, struct result, edge_ns),
	FIELD(FIELD_INTEGERS, struct result, edge_tokens),
	LIST(event_ns),
	LIST(event_tokens),
	LIST(event_kinds),
	LIST(other_ns),
	LIST(other_kinds),
	TEXT(text),
	TEXT(reasoning),
};
static const struct field error_fields[] = {
	NAMED_FIELD("kind", FIELD_TEXT, struct result, error_kind, true),
	NAMED_FIELD("text", FIELD_TEXT, struct result, error_text, false),
	UINT(status),
	FIELD(FIELD_BOOL, struct result, stale),
};
enum { FIELDS = sizeof fields / sizeof *fields, ERROR_FIELDS = sizeof error_fields / sizeof *error_fields };
const struct field_table result_fields = FIELD_TABLE(fields), result_error_fields = FIELD_TABLE(error_fields);
static_assert(sizeof fields / sizeof *fields <= FIELDS_MAX, "rows have more fields than can be read");

void result_init(struct result *result)
{
	fields_init(fields, FIELDS, result);
	fields_init(error_fields, ERROR_FIELDS, result);
}

void result_write(const struct result *result, struct buffer *line)
{
	struct jout w = {.out = line};
	buffer_clear(line);
	jout_begin_map(&w);
	fields_write(fields, FIELDS, result, &w);
	if (result->error_kind.data) {
		jout_key(&w, "error");
		jout_begin_map(&w);
		fields_write(error_fields, ERROR_FIELDS, result, &w);
		jout_end_map(&w);
	}
	jout_end_map(&w);
}

int result_reader_begin(struct result_reader **reader, struct stream_reader *input, struct ipf_error *err)
{
	struct result_reader *r = calloc(1, sizeof *r);
	int bad = r ? stream_reader_begin(input, "results", err) : ipf_error_memory(err);
	*reader = bad ? NULL : r;
	if (bad) {
		stream_reader_close(input);
		free(r);
		return -1;
	}
	r->stream = input;
	return 0;
}

int result_reader_open(struct result_reader **reader, const char *path, struct ipf_error *err)
{
	struct stream_reader *input;
	*reader = NULL;
	return stream_reader_open_input(&input, path, err) < 0 ? -1 : result_reader_begin(reader, input, err);
}

static bool begins(struct slice line, const char *text)
{
	size_t len = strlen(text);
	return line.len >= len && memcmp(line.data, text, len) == 0;
}

/* Reads the line of a row that is good, in the form that writers give it. */
static bool read_good_line(struct fields_shape *shape, struct slice line, struct result *result)
{
	fields_init(error_fields, ERROR_FIELDS, result);
	return fields_read_line(fields, FIELDS, result, line, shape) && result->ok;
}

static int parse_line(struct jdoc *doc, struct slice line, struct result *result, struct ipf_error *err)
{
	if (jdoc_parse(doc, line.data, line.len, err) < 0 || fields_read(fields, FIELDS, result, doc, JDOC_ROOT, err) < 0)
		return -1;
	jdoc_id error = jdoc_get(doc, JDOC_ROOT, "error");
	if (!jdoc_is_null(doc, error) && fields_read(error_fields, ERROR_FIELDS, result, doc, error, err) < 0)
		return -1;
	if (result->ok == (result->error_kind.data != NULL))
		return ipf_error_set(err, IPF_INPUT,
		                     result->ok ? "error: present although ok is true" : "error: missing although ok is false");
	return 0;
}

int result_parse(struct jdoc *doc, struct slice line, struct result *result, struct ipf_error *err)
{
	struct fields_shape shape = {.count = 0};
	return read_good_line(&shape, line, result) ? 0 : parse_line(doc, line, result, err);
}

bool result_hung_up(const struct result *result)
{
	return !result->ok && slice_is(result->error_kind, "\"hung-up\"");
}

bool result_unseen(const struct result *result)
{
	return !result->ok && slice_is(result->error_kind, "\"unseen\"");
}

bool result_uncounted(const struct result *result)
{
	return result_hung_up(result) || result_unseen(result);
}

const char *const result_not_streamed_names[RESULT_NOT_STREAMED_COUNT] = {NULL, "ignored", "not-asked", "no-streaming"};

/* The index of the JSON string among the names; 0: it is none of them. */
static int index_of(struct slice text, const char *const *names, int count)
{
	for (int i = 1; text.data && i < count; i++) {
		size_t len = strlen(names[i]);
		if (text.len == len + 2 && memcmp(text.data + 1, names[i], len) == 0)
			return i;
	}
	return 0;
}

enum result_not_streamed result_not_streamed(const struct result *result)
{
	return (enum result_not_streamed)index_of(result->not_streamed, result_not_streamed_names,
	                                          RESULT_NOT_STREAMED_COUNT);
}

const char *const result_doubt_names[RESULT_DOUBTS] = {"", "usage-below-events", "usage-above-content",
                                                       "cached-above-input"};

enum result_doubt result_doubt(const struct result *result)
{
	return (enum result_doubt)index_of(result->doubt, result_doubt_names, RESULT_DOUBTS);
}

const char *const result_output_names[OUTPUT_COUNT] = {"valid", "not-json", "fenced", "empty", "schema", "undecided"};

/* The index of a JSON text among names; their number: it is absent, or none of them. */
static int name_index(struct slice text, const char *const names[], int count)
{
	int i = count;
	if (text.data && text.len > 2)
		for (i = 0; i < count; i++)
			if (slice_is((struct slice){text.data + 1, text.len - 2}, names[i]))
				break;
	return i;
}

enum result_output result_output_check(const struct result *result)
{
	return (enum result_output)name_index(result->output_check, result_output_names, OUTPUT_COUNT);
}

const char *const result_check_names[RESULT_CHECKS] = {"copy", "recall", "arithmetic", "json", "list", "repeat"};
const char *const result_judged_names[RESULT_JUDGEMENTS] = {"right", "wrong", "undecided"};
const char *const result_compared_names[RESULT_COMPARISONS] = {"same", "differs", "near-tie", "clear"};

enum result_check result_check(const struct result *result)
{
	return (enum result_check)name_index(result->answer_check, result_check_names, RESULT_CHECKS);
}

enum result_judged result_judged(const struct result *result)
{
	return (enum result_judged)name_index(result->judged, result_judged_names, RESULT_JUDGEMENTS);
}

enum result_compared result_compared(const struct result *result)
{
	return (enum result_compared)name_index(result->compared, result_compared_names, RESULT_COMPARISONS);
}

#define FORGET(id_, name_, label_, remark_, flags_) result->name_##_ns = IPF_ABSENT;
void result_forget_latencies(struct result *result)
{
	METRICS_OF_LATENCIES(FORGET)
	result->stalls = result->deadlines = result->deadlines_met = IPF_ABSENT;
}

int result_reader_next(struct result_reader *r, struct result *result, struct slice *line, struct ipf_error *err)
{
	int got = stream_reader_next(r->stream, line, err);
	if (got != 1)
		return got;
	/* writers put the member naming the kind first */
	if (begins(*line, "{\"histogram\":"))
		return RESULT_HISTOGRAM;
	if (begins(*line, "{\"sample\":"))
		return RESULT_SAMPLE;
	if (begins(*line, "{\"window\":"))
		return RESULT_WINDOW;
	if (read_good_line(&r->shape, *line, result) || parse_line(&r->doc, *line, result, err) == 0)
		return RESULT_ROW;
	ipf_error_place(err, stream_reader_name(r->stream), stream_reader_line(r->stream));
	return -1;
}

struct stream_reader *result_reader_stream(struct result_reader *r)
{
	return r->stream;
}

void result_reader_close(struct result_reader *r)
{
	if (!r)
		return;
	stream_reader_close(r->stream);
	jdoc_release(&r->doc);
	free(r);
}

/* The formats that read JSON: any record is taken, refused with a reason, or counted as unusable. A draft taken is
 * valid UTF-8, consistent, and survives being copied. The first byte picks the format. */
#include "sources/source.h"

#include "absent.h"
#include "input/json_splitter.h"
#include "input/otlp_messages.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct slice text)
{
	if (text.data && !utf8_valid(text.data, text.len, NULL))
		abort();
}

static void check_draft(const struct draft *d)
{
	size_t next = 0;
	if (d->count == 0)
		abort();
	check_text(d->session);
	for (size_t i = 0; i < d->count; i++) {
		const struct draft_request *r = &d->requests[i];
		if (r->first != next || r->first + r->count > d->message_count ||
		    (r->input_tokens != IPF_ABSENT && r->input_tokens < 0) ||
		    (r->output_tokens != IPF_ABSENT && r->output_tokens < 0) || (r->wait_ns != IPF_ABSENT && r->wait_ns < 0) ||
		    (r->count == 0 && r->input_tokens == IPF_ABSENT))
			abort();
		next += r->count;
		check_text(r->answer);
		check_text(r->id);
		check_text(r->model);
	}
	for (size_t i = 0; i < d->message_count; i++)
		check_text(d->messages[i].text);
}

static int take(struct sink *sink, struct draft *d, struct ipf_error *err)
{
	(void)sink;
	(void)err;
	if (d->failed)
		return 0;
	check_draft(d);
	struct draft *copy = draft_clone(d);
	if (!copy)
		abort();
	check_draft(copy);
	free(copy);
	return 0;
}

static void unusable(struct sink *sink, const char *why)
{
	(void)sink;
	if (!*why)
		abort();
}

static int64_t read_messages(const struct source_format *format, void *state, struct sink *sink,
                             struct byte_window *window)
{
	struct otlp_messages messages = {.window = window};
	struct slice text;
	struct jdoc json = {0};
	struct ipf_error err = {0};
	while (otlp_messages_next(&messages, &text, &err) != 0 && !messages.broken) {
		if (!err.kind && jdoc_parse(&json, text.data, text.len, &err) == 0) {
			struct source_record record = {.number = messages.number, .file = "fuzz", .json = &json};
			draft_reset(&sink->draft);
			sink->draft.number = record.number;
			if (format->read_record(state, &record, sink, &err) < 0 && (err.kind != IPF_INPUT || !err.text[0]))
				abort();
		}
		ipf_error_clear(&err);
	}
	jdoc_release(&json);
	int64_t number = messages.number;
	otlp_messages_release(&messages);
	return number;
}

static void read_records(const struct source_format *format, void *state, struct slice text)
{
	struct sink sink = {.take = take, .unusable = unusable, .no_request = unusable, .inexact = unusable};
	struct byte_window window = {.read = byte_window_read_slice, .data = &text};
	struct json_splitter splitter;
	struct slice one;
	struct jdoc json = {0};
	struct ipf_error err = {0};
	int64_t number = 0;
	if (format->begin_file)
		format->begin_file(state, NULL, &err);
	if (format->unit == UNIT_OTLP && otlp_begins(text))
		number = read_messages(format, state, &sink, &window);
	json_splitter_begin(&splitter, &window);
	while (json_splitter_next(&splitter, &one, &err) == 1) {
		if (jdoc_parse(&json, one.data, one.len, &err) == 0) {
			struct source_record record = {.number = ++number, .file = "fuzz", .line = splitter.line, .json = &json};
			draft_reset(&sink.draft);
			sink.draft.number = number;
			if (format->read_record(state, &record, &sink, &err) < 0 &&
			    ((err.kind != IPF_INPUT && err.kind != IPF_CUT) || !err.text[0]))
				abort();
		}
		ipf_error_clear(&err);
	}
	ipf_error_clear(&err); /* the splitter's */
	draft_reset(&sink.draft);
	if (format->finish && format->finish(state, &sink, &err) < 0 && err.kind != IPF_CUT)
		abort();
	byte_window_release(&window);
	jdoc_release(&json);
	draft_release(&sink.draft);
}

static const char *const names[] = {"sharegpt",
                                    "alpaca",
                                    "jsonl",
                                    "mooncake",
                                    "jsonl",
                                    "sharegpt",
                                    "openorca",
                                    "quac",
                                    "mtbench",
                                    "oasst",
                                    "llm-load-test",
                                    "openai-batch",
                                    "qwen-bailian",
                                    "weka",
                                    "ragpulse",
                                    "lmcache",
                                    "aibrix",
                                    "llmservingsim",
                                    "mlperf-agentic",
                                    "otel",
                                    "openai-log",
                                    "tracelab",
                                    "otel",
                                    "weka",
                                    "envoy-tap",
                                    "litellm-log",
                                    "sagemaker-capture",
                                    "trace",
                                    "dynamo-trace",
                                    "envoy-access",
                                    "tgi-log",
                                    "agentic-mooncake",
                                    "rl-rollout",
                                    "baseten",
                                    "aiperf-dag",
                                    "scaffolding",
                                    "rerank",
                                    "claude-code",
                                    "codex",
                                    "swe-rebench",
                                    "trie",
                                    "mooncake-delta",
                                    "sglang-agentic"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *fields[] = {"prompt=/a", "output=/b/0", "at_ms=/t",        "session=/s",
	                               "id=/i",     "wait=/w",     "input_tokens=/n", "messages=/m"};
	if (size == 0)
		return 0;
	size_t pick = data[0] % (sizeof names / sizeof *names);
	struct ipf_error err = {0};
	const struct source_format *format = source_find(names[pick], &err);
	struct distribution as_recorded = {.kind = DISTRIBUTION_DATASET};
	struct source_settings settings = {.lone = pick == 0,
	                                   .answers_optional = data[0] >= 128,
	                                   .n = IPF_ABSENT,
	                                   .from_ns = IPF_ABSENT,
	                                   .to_ns = IPF_ABSENT,
	                                   .input = &as_recorded};
	if (token_counter_open((struct token_counter **)(uintptr_t)&settings.tokens, "approx", &err) < 0)
		abort();
	if (pick == 4)
		settings.fields = (struct string_list){fields, sizeof fields / sizeof *fields};
	void *state = NULL;
	if (!format || source_open(format, &settings, &state, &err) < 0)
		abort();
	read_records(format, state, (struct slice){(const char *)data + 1, size - 1});
	source_close(format, state);
	token_counter_close((struct token_counter *)(uintptr_t)settings.tokens);
	return 0;
}

/* Any body under any status gives a row reading back, and the same row however the body was split into reads. The first
 * four bytes choose: the API, the status and the error, the options, and how the body is split. */
#include "absent.h"
#include "api/response.h"
#include "measure/measure.h"

#include <stdlib.h>
#include <string.h>

#define READS_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char ndjson[] =
	"{\"ipf\":\"api\",\"version\":1,\"name\":\"n\",\"method\":\"POST\",\"path\":\"/\",\"request\":{\"body\":{}},"
	"\"response\":{\"framing\":\"ndjson\",\"text_mode\":\"cumulative\",\"text\":[\"/text/*\",\"/text\"],\"error\":[\"/error\"],"
	"\"usage\":{\"output_tokens\":[\"/n\"]},\"end\":{\"eof\":true}}}";

static struct api *open_api(unsigned which)
{
	static struct api *apis[16];
	static const char *const names[] = {"openai-chat",
	                                    "openai-completions",
	                                    "openai-chat",
	                                    NULL,
	                                    "vllm-generate",
	                                    "jetstream-http",
	                                    "tgi",
	                                    "sglang",
	                                    "anthropic-messages",
	                                    "gemini",
	                                    "openai-responses",
	                                    "triton-generate",
	                                    "ollama",
	                                    "openai-embeddings",
	                                    "naive-transformers",
	                                    "llama-cpp"};
	struct ipf_error err = {0};

	which = (which & 3) | (which >> 3 & 3) << 2;
	if (apis[which])
		return apis[which];
	if (names[which]) {
		if (api_open(&apis[which], names[which], &err) < 0)
			abort();
	} else {
		json_t *json = json_loads(ndjson, 0, NULL);
		if (api_from_json(&apis[which], json, "ndjson", &err) < 0)
			abort();
		json_decref(json);
	}
	return apis[which];
}

static size_t split(struct record_read *reads, size_t len, size_t piece)
{
	size_t count = 0;

	for (size_t at = 0; at < len && count < READS_MAX; at += piece)
		reads[count++] = (struct record_read){7, (int64_t)(piece < len - at ? piece : len - at), 7};
	return count;
}

static void understand(struct record *record, unsigned how, unsigned which, const struct token_counter *tokens,
                       struct buffer *line)
{
	static struct response response;
	static struct measure measure;
	const struct response_options response_options = {
		.tokens = how & 1 ? tokens : NULL, .keep_text = how & 2, .keep_others = how & 32};
	const struct measure_options options = {.itl = (enum itl_mode)(how >> 2 & 3) % 3,
	                                        .stall_ns = how & 16 ? 3 : IPF_ABSENT,
	                                        .keep_events = how & 32,
	                                        .keep_text = how & 2,
	                                        .tokens = response_options.tokens};
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	struct result row;

	if (response_parse(&response, record, open_api(which), &response_options, &err) < 0 ||
	    measure_row(&measure, record, &response, &options, &row, &err) < 0)
		abort();
	if (row.coalesced != IPF_ABSENT)
		row.coalesced = 0;
	result_write(&row, line);
	if (jdoc_parse(&doc, line->data, line->len, &err) < 0 || row.ok == (row.error_kind.data != NULL))
		abort();
	jdoc_release(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int64_t statuses[] = {200, 200, 200, 503, IPF_ABSENT, 204, 404, 200};
	static struct record_read reads[READS_MAX];
	static struct token_counter *tokens;
	struct buffer first = {0}, second = {0};
	struct ipf_error err = {0};
	struct record record;

	if (size < 4 || size > READS_MAX || (!tokens && token_counter_open(&tokens, "approx", &err) < 0))
		return 0;
	record_init(&record);
	record.n = record.stage = 0;
	record.start_ns = data[3] & 64 ? INT64_MAX : 3;
	record.end_ns = 9;
	record.status = statuses[data[1] & 7];
	record.error = (enum record_error)((data[1] >> 3) % (RECORD_PROTOCOL + 1));
	record.streamed = !(data[0] & 4);
	record.prompt_bytes = data[2] & 64 ? data[3] % 16 : IPF_ABSENT;
	record.headers = data[2] & 128
	                     ? slice_of("{\"x-queue-time\":\"3.5\",\"x-prompt-tokens\":\"7\",\"x-total-time\":\"-\"}")
	                     : (struct slice){0};
	record.body = (struct slice){(const char *)data + 4, size - 4};
	record.reads = reads;
	record.reads_count = split(reads, record.body.len, 1);
	understand(&record, data[2], data[0], tokens, &first);
	record.reads_count = split(reads, record.body.len, 1 + data[3] % 64);
	understand(&record, data[2], data[0], tokens, &second);
	if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
		abort();
	buffer_release(&first);
	buffer_release(&second);
	return 0;
}

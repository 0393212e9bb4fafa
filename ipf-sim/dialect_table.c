#include "dialect.h"

#include "frame.h"
#include "request_metrics.h"
#include "json/jout.h"

#include <string.h>

/* ---- events common to many ---- */

#define SAY(...)  buffer_format(&a->json, __VA_ARGS__)
#define TEXT(b)   (int)(b).len, (b).data ? (b).data : ""
#define NUMBER(n) (long long)(n)

static const char *finish(const struct answer *a, const char *length, const char *stop)
{
	return strcmp(a->finish, "length") == 0 ? length : stop;
}

static double milliseconds(int64_t from, int64_t to)
{
	return (double)(to - from) / 1e6;
}

static void say_model(struct answer *a)
{
	struct jout w = {.out = &a->json};
	jout_string0(&w, a->model);
}

static void say_done(struct answer *a)
{
	buffer_text(&a->json, "[DONE]");
	dialect_send(a, NULL, false, true);
}

/* ---- OpenAI responses ---- */

static void responses_usage(struct answer *a)
{
	SAY("\"usage\":{\"input_tokens\":%lld,\"input_tokens_details\":{\"cached_tokens\":%lld},\"output_tokens\":%lld,"
	    "\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":%lld}",
	    NUMBER(a->prompt_tokens), NUMBER(a->cached_tokens), NUMBER(a->output_tokens),
	    NUMBER(a->prompt_tokens + a->output_tokens));
}

static void responses_status(struct answer *a)
{
	SAY("\"object\":\"response\",\"status\":\"%s\",\"error\":null,\"incomplete_details\":%s,",
	    finish(a, "incomplete", "completed"), finish(a, "{\"reason\":\"max_output_tokens\"}", "null"));
}

static void responses_output(struct answer *a)
{
	SAY("\"output\":[{\"type\":\"reasoning\",\"summary\":[]},{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
	    "\"output_text\",\"annotations\":[],\"text\":\"%.*s\"}]}],",
	    TEXT(a->so_far));
}

static void responses_begin(struct answer *a)
{
	SAY("{\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\",\"error\":null,"
	    "\"output\":[],\"usage\":null}}");
	dialect_send(a, "response.created", false, false);
	SAY("{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"content\":[]}}");
	dialect_send(a, "response.output_item.added", false, false);
}

static void responses_token(struct answer *a, bool last)
{
	(void)last;
	SAY("{\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"%.*s\"}",
	    TEXT(a->text));
	dialect_send(a, "response.output_text.delta", true, false);
}

static void responses_end(struct answer *a)
{
	char name[40];
	SAY("{\"type\":\"response.output_text.done\",\"text\":\"%.*s\"}", TEXT(a->so_far));
	dialect_send(a, "response.output_text.done", false, false);
	snprintf(name, sizeof name, "response.%s", finish(a, "incomplete", "completed"));
	SAY("{\"type\":\"%s\",\"response\":{", name);
	responses_status(a);
	responses_output(a);
	responses_usage(a);
	SAY("}}");
	dialect_send(a, name, false, true);
}

static void responses_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	SAY("{\"id\":\"resp_1\",");
	responses_status(a);
	responses_output(a);
	responses_usage(a);
	SAY("}");
}

static void embeddings_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	SAY("{\"object\":\"list\",\"data\":[{\"object\":\"embedding\",\"index\":0,\"embedding\":[0.25,-0.5,0.125]}],\"model\":");
	say_model(a);
	SAY(",\"usage\":{\"prompt_tokens\":%lld,\"total_tokens\":%lld}}", NUMBER(a->prompt_tokens),
	    NUMBER(a->prompt_tokens));
}

/* ---- Anthropic ---- */

static void anthropic_begin(struct answer *a)
{
	SAY("{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":");
	say_model(a);
	SAY(",\"stop_reason\":null,\"usage\":{\"input_tokens\":%lld,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}",
	    NUMBER(a->prompt_tokens));
	dialect_send(a, "message_start", false, false);
	SAY("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}");
	dialect_send(a, "content_block_start", false, false);
	SAY("{\"type\": \"ping\"}");
	dialect_send(a, "ping", false, false);
}

static void anthropic_token(struct answer *a, bool last)
{
	(void)last;
	SAY("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%.*s\"}}",
	    TEXT(a->text));
	dialect_send(a, "content_block_delta", true, false);
}

static void anthropic_end(struct answer *a)
{
	SAY("{\"type\":\"content_block_stop\",\"index\":0}");
	dialect_send(a, "content_block_stop", false, false);
	SAY("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"%s\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":%lld}}",
	    finish(a, "max_tokens", "end_turn"), NUMBER(a->output_tokens));
	dialect_send(a, "message_delta", false, false);
	SAY("{\"type\":\"message_stop\"}");
	dialect_send(a, "message_stop", false, true);
}

static void anthropic_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	SAY("{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"%.*s\"}],"
	    "\"stop_reason\":\"%s\",\"usage\":{\"input_tokens\":%lld,\"output_tokens\":%lld}}",
	    TEXT(a->so_far), finish(a, "max_tokens", "end_turn"), NUMBER(a->prompt_tokens), NUMBER(a->output_tokens));
}

/* ---- vLLM's first ---- */

static void vllm_say(struct answer *a)
{
	SAY("{\"text\": [\"%.*s%.*s\"]}", TEXT(a->ask->prompt), TEXT(a->so_far));
}

static void vllm_token(struct answer *a, bool last)
{
	(void)last;
	vllm_say(a);
	dialect_send(a, NULL, true, false);
}

static void vllm_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	vllm_say(a);
}

/* ---- vLLM's tokens in, tokens out ---- */

static void tokens_usage(struct answer *a)
{
	SAY("\"usage\":{\"prompt_tokens\":%lld,\"total_tokens\":%lld,\"completion_tokens\":%lld,\"prompt_tokens_details\":"
	    "{\"cached_tokens\":%lld}}",
	    NUMBER(a->prompt_tokens), NUMBER(a->prompt_tokens + a->output_tokens), NUMBER(a->output_tokens),
	    NUMBER(a->cached_tokens));
}

static void tokens_choice(struct answer *a, bool last)
{
	SAY("\"choices\":[{\"index\":0,\"finish_reason\":%s%s%s,\"token_ids\":[%.*s],\"logprobs\":null}]", last ? "\"" : "",
	    last ? a->finish : "null", last ? "\"" : "", TEXT(a->ids));
}

static void tokens_token(struct answer *a, bool last)
{
	SAY("{\"request_id\":\"generate-tokens-1\",\"usage\":null,");
	tokens_choice(a, last);
	SAY("}");
	dialect_send(a, NULL, true, false);
}

static void tokens_end(struct answer *a)
{
	SAY("{\"request_id\":\"generate-tokens-1\",");
	tokens_usage(a);
	SAY(",\"choices\":[]}");
	dialect_send(a, NULL, false, false);
	say_done(a);
}

static void tokens_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	SAY("{\"request_id\":\"generate-tokens-1\",");
	tokens_usage(a);
	SAY(",");
	tokens_choice(a, true);
	SAY("}");
}

/* ---- TGI ---- */

static void tgi_token(struct answer *a, bool last)
{
	SAY("{\"index\":%lld,\"token\":{\"id\":5,\"text\":\"%.*s\",\"logprob\":-0.5,\"special\":false},\"generated_text\":",
	    NUMBER(a->sent), TEXT(a->text));
	if (last)
		SAY("\"%.*s\",\"details\":{\"finish_reason\":\"%s\",\"generated_tokens\":%lld,\"seed\":null,\"input_length\":%lld}}",
		    TEXT(a->so_far), finish(a, "length", "eos_token"), NUMBER(a->output_tokens), NUMBER(a->prompt_tokens));
	else
		SAY("null,\"details\":null}");
	dialect_send(a, NULL, true, last);
}

static void tgi_whole(struct answer *a, struct buffer *headers)
{
	SAY("{\"generated_text\":\"%.*s\",\"details\":{\"finish_reason\":\"%s\",\"generated_tokens\":%lld,\"seed\":null,\"prefill\":[],"
	    "\"tokens\":[]}}",
	    TEXT(a->so_far), finish(a, "length", "eos_token"), NUMBER(a->output_tokens));
	buffer_format(
		headers,
		"x-prompt-tokens: %lld\r\nx-generated-tokens: %lld\r\nX-Queue-Time: %.0f\r\nx-inference-time: %.0f\r\n"
		"x-time-per-token: %.0f\r\nx-total-time: %.0f\r\n",
		NUMBER(a->prompt_tokens), NUMBER(a->output_tokens), milliseconds(a->arrival_ns, a->begun_ns),
		milliseconds(a->begun_ns, a->now_ns), milliseconds(a->begun_ns, a->now_ns) / (double)a->output_tokens,
		milliseconds(a->arrival_ns, a->now_ns));
}

/* ---- Triton ---- */

static void triton_say(struct answer *a, const struct buffer *text, bool times)
{
	SAY("{\"model_name\":");
	say_model(a);
	SAY(",\"model_version\":\"1\",\"sequence_end\":false,\"text_output\":\"%.*s\"", TEXT(*text));
	/* points in time, as its clock has them: not from zero */
	if (times)
		SAY(",\"arrival_time_ns\":%lld,\"first_scheduled_time_ns\":%lld,\"first_token_time_ns\":%lld,\"last_token_time_ns\":%lld",
		    NUMBER(a->arrival_ns), NUMBER(a->begun_ns), NUMBER(a->first_ns), NUMBER(a->now_ns));
	SAY("}");
}

static void trt_token(struct answer *a, bool last)
{
	triton_say(a, &a->text, last);
	dialect_send(a, NULL, true, last);
}

static void trt_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	triton_say(a, &a->so_far, true);
}

static void triton_token(struct answer *a, bool last)
{
	triton_say(a, &a->text, false);
	dialect_send(a, NULL, true, last);
}

static void triton_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	triton_say(a, &a->so_far, false);
}

static void kserve_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	SAY("{\"model_name\":");
	say_model(a);
	SAY(",\"model_version\":\"1\",\"outputs\":[{\"name\":\"cum_log_probs\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[0.0]},"
	    "{\"name\":\"text_output\",\"datatype\":\"BYTES\",\"shape\":[1],\"data\":[\"%.*s\"]}]}",
	    TEXT(a->so_far));
}

/* ---- SGLang ---- */

static void sglang_say(struct answer *a, int64_t tokens, bool last)
{
	SAY("{\"text\":\"%.*s\",\"meta_info\":{\"id\":\"1\",\"finish_reason\":", TEXT(a->so_far));
	if (last)
		SAY("{\"type\":\"%s\",\"length\":%lld}", a->finish, NUMBER(tokens));
	else
		SAY("null");
	SAY(",\"prompt_tokens\":%lld,\"completion_tokens\":%lld,\"cached_tokens\":%lld", NUMBER(a->prompt_tokens),
	    NUMBER(tokens), NUMBER(a->cached_tokens));
	request_metrics_cached(a);
	if (last) {
		SAY(",\"e2e_latency\":%.9f", milliseconds(a->arrival_ns, a->now_ns) / 1e3);
		request_metrics_sglang(a);
	}
	SAY("}}");
}

static void sglang_token(struct answer *a, bool last)
{
	sglang_say(a, a->sent, last);
	dialect_send(a, NULL, true, false);
}

static void sglang_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	sglang_say(a, a->output_tokens, true);
}

/* ---- llama.cpp ---- */

static void llama_end_of(struct answer *a, const struct buffer *text)
{
	SAY("{\"index\":0,\"content\":\"%.*s\",\"stop\":true,\"stop_type\":\"%s\",\"tokens_predicted\":%lld,\"tokens_evaluated\":%lld,"
	    "\"tokens_cached\":%lld,\"timings\":{\"cache_n\":%lld,\"prompt_ms\":%.6f,\"predicted_ms\":%.6f,\"predicted_per_token_ms\":%.6f",
	    TEXT(*text), finish(a, "limit", "eos"), NUMBER(a->output_tokens), NUMBER(a->prompt_tokens),
	    NUMBER(a->prompt_tokens + a->output_tokens - 1), NUMBER(a->cached_tokens),
	    milliseconds(a->begun_ns, a->first_ns), milliseconds(a->first_ns, a->now_ns),
	    milliseconds(a->first_ns, a->now_ns) / (double)a->output_tokens);
	if (a->spec && a->spec->tokens)
		SAY(",\"draft_n\":%lld,\"draft_n_accepted\":%lld", NUMBER(a->work->drafts * a->spec->tokens),
		    NUMBER(a->work->accepted));
	SAY("}}");
}

static void llama_token(struct answer *a, bool last)
{
	(void)last;
	SAY("{\"index\":0,\"content\":\"%.*s\",\"tokens\":[5],\"stop\":false,\"id_slot\":-1,\"tokens_predicted\":%lld,\"tokens_evaluated\":%lld}",
	    TEXT(a->text), NUMBER(a->sent), NUMBER(a->prompt_tokens));
	dialect_send(a, NULL, true, false);
}

static void llama_end(struct answer *a)
{
	const struct buffer nothing = {0};
	llama_end_of(a, &nothing);
	dialect_send(a, NULL, false, true);
}

static void llama_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	llama_end_of(a, &a->so_far);
}

/* ---- Ollama ---- */

static void ollama_say(struct answer *a, const struct buffer *text, bool done)
{
	bool chat = a->ask->dialect->messages != NULL;
	SAY("{\"model\":");
	say_model(a);
	SAY(",\"created_at\":\"2026-01-01T00:00:00Z\",");
	SAY(chat ? "\"message\":{\"role\":\"assistant\",\"content\":\"%.*s\"}," : "\"response\":\"%.*s\",", TEXT(*text));
	if (done)
		SAY("\"done\":true,\"done_reason\":\"%s\",\"total_duration\":%lld,\"load_duration\":0,\"prompt_eval_count\":%lld,"
		    "\"prompt_eval_duration\":%lld,\"eval_count\":%lld,\"eval_duration\":%lld}",
		    a->finish, NUMBER(a->now_ns - a->arrival_ns), NUMBER(a->prompt_tokens), NUMBER(a->first_ns - a->begun_ns),
		    NUMBER(a->output_tokens), NUMBER(a->now_ns - a->first_ns));
	else
		SAY("\"done\":false}");
}

static void ollama_token(struct answer *a, bool last)
{
	(void)last;
	ollama_say(a, &a->text, false);
	dialect_send(a, NULL, true, false);
}

static void ollama_end(struct answer *a)
{
	const struct buffer nothing = {0};
	ollama_say(a, &nothing, true);
	dialect_send(a, NULL, false, true);
}

static void ollama_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	ollama_say(a, &a->so_far, true);
}

/* ---- JetStream, Saxml, transformers ---- */

static void jetstream_token(struct answer *a, bool last)
{
	(void)last;
	SAY("{\n  \"streamContent\": {\n    \"samples\": [\n      {\n        \"text\": \"%.*s\",\n        \"tokenIds\": [\n          5\n"
	    "        ]\n      }\n    ]\n  }\n}",
	    TEXT(a->text));
	dialect_send(a, NULL, true, false);
}

static void jetstream_gke_token(struct answer *a, bool last)
{
	(void)last;
	SAY("{\"id\": \"1\", \"time_created\": 1700000000.5, \"text\": \"%.*s\"}", TEXT(a->text));
	dialect_send(a, NULL, true, false);
}

static void jetstream_gke_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	SAY("{\"response\": \"%.*s\"}", TEXT(a->so_far));
}

static void sax_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	SAY("{\"choices\":[{\"index\":0,\"text\":\"%.*s\",\"finish_reason\":\"%s\"}]}", TEXT(a->so_far), a->finish);
}

static void sax_gke_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	SAY("{\"completions\":[[\"%.*s\",-1.5]]}", TEXT(a->so_far));
}

static void transformers_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	SAY("{\"predictions\":[[{\"generated_text\":\"Prompt:\\n%.*s\\nOutput:\\n%.*s\"}]]}", TEXT(a->ask->prompt),
	    TEXT(a->so_far));
}

/* ---- Caikit, DeepSpeed-MII, Gemini ---- */

static void caikit_token(struct answer *a, bool last)
{
	SAY("{\"generated_text\":\"%.*s\",\"tokens\":[{\"text\":\"%.*s\"}],\"details\":{\"finish_reason\":\"%s\",\"generated_tokens\":%lld,"
	    "\"input_token_count\":%lld}}",
	    TEXT(a->text), TEXT(a->text), last ? finish(a, "MAX_TOKENS", "EOS_TOKEN") : "NOT_FINISHED", NUMBER(a->sent),
	    NUMBER(a->prompt_tokens));
	dialect_send(a, "message", true, last);
}

static void caikit_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	SAY("{\"generated_text\":\"%.*s\",\"generated_tokens\":%lld,\"finish_reason\":\"%s\",\"input_token_count\":%lld}",
	    TEXT(a->so_far), NUMBER(a->output_tokens), finish(a, "MAX_TOKENS", "EOS_TOKEN"), NUMBER(a->prompt_tokens));
}

static void mii_token(struct answer *a, bool last)
{
	(void)last;
	SAY("{\"text\":[\"%.*s\"]}", TEXT(a->text));
	dialect_send(a, NULL, true, false);
}

static void mii_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	SAY("{\"text\":[\"%.*s\"]}", TEXT(a->so_far));
}

static void gemini_say(struct answer *a, const struct buffer *text, bool last)
{
	SAY("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"%.*s\"}],\"role\":\"model\"},", TEXT(*text));
	if (last)
		SAY("\"finishReason\":\"%s\",", finish(a, "MAX_TOKENS", "STOP"));
	SAY("\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":%lld,\"candidatesTokenCount\":%lld,\"totalTokenCount\":%lld}}",
	    NUMBER(a->prompt_tokens), NUMBER(last ? a->output_tokens : a->sent), NUMBER(a->prompt_tokens + a->sent));
}

static void gemini_token(struct answer *a, bool last)
{
	gemini_say(a, &a->text, last);
	dialect_send(a, NULL, true, last);
}

static void gemini_whole(struct answer *a, struct buffer *headers)
{
	(void)headers;
	gemini_say(a, &a->so_far, true);
}

/* ---- one that is nobody's: the example of ipf-api(5) ---- */

static void mine_token(struct answer *a, bool last)
{
	SAY("{\n  \"said\": {\n    \"so\": {\"far\": \"%.*s\"},\n    \"words\": %lld\n  },\n  \"thought\": %.9f",
	    TEXT(a->so_far), NUMBER(a->sent), milliseconds(a->arrival_ns, a->first_ns) / 1e3);
	if (last)
		SAY(",\n  \"because\": \"%s\"", finish(a, "out of breath", "told all"));
	SAY("\n}");
	dialect_send(a, NULL, true, last);
}

/* ---- the table ---- */

const struct dialect dialects[] = {
	{.name = "openai-responses",
     .stream_path = "/v1/responses",
     .whole_path = "/v1/responses",
     .ready = "/health",
     .messages = "input",
     .content = "content",
     .model = "model",
     .max_tokens = "max_output_tokens",
     .stream = "stream",
     .begin = responses_begin,
     .token = responses_token,
     .end = responses_end,
     .whole = responses_whole},
	{.name = "openai-embeddings",
     .whole_path = "/v1/embeddings",
     .ready = "/health",
     .prompt = "input",
     .model = "model",
     .whole = embeddings_whole},
	{.name = "anthropic-messages",
     .stream_path = "/v1/messages",
     .whole_path = "/v1/messages",
     .ready = "/v1/models",
     .key_header = "x-api-key",
     .messages = "messages",
     .content = "content",
     .system = "system",
     .model = "model",
     .max_tokens = "max_tokens",
     .stream = "stream",
     .begin = anthropic_begin,
     .token = anthropic_token,
     .end = anthropic_end,
     .whole = anthropic_whole},
	{.name = "vllm-generate",
     .stream_path = "/generate",
     .whole_path = "/generate",
     .ready = "/health",
     .framing = DIALECT_LINES,
     .prompt = "prompt",
     .max_tokens = "max_tokens",
     .min_tokens = "min_tokens",
     .ignore_eos = "ignore_eos",
     .stream = "stream",
     .token = vllm_token,
     .whole = vllm_whole,
     .echoes = true},
	{.name = "vllm-tokens",
     .stream_path = "/inference/v1/generate",
     .whole_path = "/inference/v1/generate",
     .ready = "/health",
     .ids = "token_ids",
     .model = "model",
     .max_tokens = "sampling_params.max_tokens",
     .min_tokens = "sampling_params.min_tokens",
     .ignore_eos = "sampling_params.ignore_eos",
     .stream = "stream",
     .forced = "sampling_params.trace_decode_token_ids",
     .token = tokens_token,
     .end = tokens_end,
     .whole = tokens_whole},
	{.name = "tgi",
     .stream_path = "/generate_stream",
     .whole_path = "/generate",
     .ready = "/health",
     .prompt = "inputs",
     .model = "parameters.adapter_id",
     .max_tokens = "parameters.max_new_tokens",
     .token = tgi_token,
     .whole = tgi_whole},
	{.name = "triton-generate",
     .stream_path = "/v2/models/*/generate_stream",
     .whole_path = "/v2/models/*/generate",
     .ready = "/v2/health/ready",
     .prompt = "text_input",
     .max_tokens = "max_tokens",
     .min_tokens = "min_length",
     .token = trt_token,
     .whole = trt_whole},
	{.name = "triton-vllm",
     .stream_path = "/v2/models/*/generate_stream",
     .whole_path = "/v2/models/*/generate",
     .ready = "/v2/health/ready",
     .prompt = "text_input",
     .max_tokens = "sampling_parameters>max_tokens",
     .min_tokens = "sampling_parameters>min_tokens",
     .ignore_eos = "sampling_parameters>ignore_eos",
     .token = triton_token,
     .whole = triton_whole},
	{.name = "kserve-http",
     .whole_path = "/v2/models/*/infer",
     .ready = "/v2/health/ready",
     .prompt = "inputs.0.data.0",
     .max_tokens = "inputs.1.data.0",
     .min_tokens = "inputs.2.data.0",
     .whole = kserve_whole},
	{.name = "sglang",
     .stream_path = "/generate",
     .whole_path = "/generate",
     .ready = "/health",
     .prompt = "text",
     .ids = "input_ids",
     .model = "lora_path",
     .max_tokens = "sampling_params.max_new_tokens",
     .min_tokens = "sampling_params.min_new_tokens",
     .ignore_eos = "sampling_params.ignore_eos",
     .stream = "stream",
     .token = sglang_token,
     .end = say_done,
     .whole = sglang_whole},
	{.name = "llama-cpp",
     .stream_path = "/completion",
     .whole_path = "/completion",
     .ready = "/health",
     .prompt = "prompt",
     .ids = "prompt",
     .max_tokens = "n_predict",
     .ignore_eos = "ignore_eos",
     .stream = "stream",
     .token = llama_token,
     .end = llama_end,
     .whole = llama_whole},
	{.name = "ollama",
     .stream_path = "/api/generate",
     .whole_path = "/api/generate",
     .ready = "/api/version",
     .framing = DIALECT_LINES,
     .prompt = "prompt",
     .model = "model",
     .max_tokens = "options.num_predict",
     .stream = "stream",
     .token = ollama_token,
     .end = ollama_end,
     .whole = ollama_whole},
	{.name = "ollama-chat",
     .stream_path = "/api/chat",
     .whole_path = "/api/chat",
     .ready = "/api/version",
     .framing = DIALECT_LINES,
     .messages = "messages",
     .content = "content",
     .model = "model",
     .max_tokens = "options.num_predict",
     .stream = "stream",
     .token = ollama_token,
     .end = ollama_end,
     .whole = ollama_whole},
	{.name = "jetstream-http",
     .stream_path = "/v1/generate",
     .framing = DIALECT_BARE,
     .prompt = "text_content.text",
     .max_tokens = "max_tokens",
     .token = jetstream_token},
	{.name = "jetstream-gke",
     .stream_path = "/generate",
     .whole_path = "/generate",
     .framing = DIALECT_BARE,
     .prompt = "prompt",
     .max_tokens = "max_tokens",
     .stream = "stream",
     .token = jetstream_gke_token,
     .whole = jetstream_gke_whole},
	{.name = "sax",
     .whole_path = "/generate",
     .prompt = "prompt",
     .model = "model",
     .max_tokens = "max_tokens",
     .whole = sax_whole},
	{.name = "sax-gke",
     .whole_path = "/generate",
     .ready = "/",
     .prompt = "query",
     .model = "model",
     .max_tokens = "extra_inputs.per_example_max_decode_steps",
     .whole = sax_gke_whole},
	{.name = "naive-transformers",
     .whole_path = "/generate",
     .prompt = "instances.0.prompt",
     .max_tokens = "instances.0.max_length",
     .whole = transformers_whole,
     .echoes = true},
	{.name = "caikit-http",
     .stream_path = "/api/v1/task/server-streaming-text-generation",
     .whole_path = "/api/v1/task/text-generation",
     .ready = "/health",
     .prompt = "inputs",
     .model = "model_id",
     .max_tokens = "parameters.max_new_tokens",
     .min_tokens = "parameters.min_new_tokens",
     .token = caikit_token,
     .whole = caikit_whole},
	{.name = "deepspeed-mii",
     .stream_path = "/generate",
     .whole_path = "/generate",
     .ready = "/health",
     .prompt = "prompt",
     .max_tokens = "max_tokens",
     .stream = "stream",
     .token = mii_token,
     .end = say_done,
     .whole = mii_whole},
	{.name = "nim",
     .stream_path = "/v1/chat/completions",
     .whole_path = "/v1/chat/completions",
     .ready = "/v1/health/ready",
     .chat = true},
	{.name = "gemini",
     .stream_path = "/v1beta/models/*:streamGenerateContent",
     .whole_path = "/v1beta/models/*:generateContent",
     .ready = "/v1beta/models",
     .key_header = "x-goog-api-key",
     .messages = "contents",
     .content = "parts",
     .system = "systemInstruction.parts.0.text",
     .max_tokens = "generationConfig.maxOutputTokens",
     .token = gemini_token,
     .whole = gemini_whole},
	{.name = "mine",
     .stream_path = "/ask/*",
     .ready = "/awake",
     .framing = DIALECT_BARE,
     .prompt = "question",
     .max_tokens = "how>words",
     .token = mine_token},
	{.name = NULL},
};

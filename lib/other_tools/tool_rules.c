#include "other_tools/tool_rules.h"

#include "absent.h"

#include <math.h>
#include <string.h>

#define CONTENT  (1u << EVENT_TEXT | 1u << EVENT_REASONING | 1u << EVENT_TOOL)
#define ANYTHING ((1u << EVENT_KINDS) - 1)

const char *const tool_tokens_names[] = {"none", "usage", "tokenizer", "asked", "chunks"};
const char *const tool_figure_names[TOOL_FIGURES] = {"ttft",       "itl",           "tpot",    "e2e",
                                                     "throughput", "output_tokens", "failures"};

static const char span[] = "first start to last end, failures included";

const struct tool_rules tool_rules[TOOL_COUNT] = {
	[TOOL_VLLM] = {.name = "vllm",
                   .tool = "vLLM",
                   .version = "0.33.0",
                   .source = "vllm/benchmarks/serve.py, vllm/benchmarks/lib/endpoint_request_func.py",
                   .chunks = CONTENT | 1u << EVENT_EMPTY,
                   .end = TOOL_END_LAST_CHUNK,
                   .tpot = TOOL_TPOT_LAST_LESS_FIRST,
                   .itl = TOOL_ITL_GAPS,
                   .tokens = {TOOL_TOKENS_USAGE, TOOL_TOKENS_TOKENIZER, TOOL_TOKENS_CHUNKS},
                   .fails = TOOL_FAILS_MALFORMED | TOOL_FAILS_EMPTY,
                   .figures = {{"ttft", "first chunk with output, or with empty text and no role"},
                               {"itl", "gaps between such chunks, those with empty text included"},
                               {"tpot", "(e2el - ttft) / (output tokens - 1), of more than one token"},
                               {"e2el", "last such chunk; neither usage nor the end mark"},
                               {"throughput", span},
                               {"output_tokens", "usage; else the tokenizer's count"},
                               {"failed", "an error in the stream is none if a chunk came"}}},
	/* Not read in its source, but observed, with answers of twenty-two kinds. It stops reading at an event that is no
     * JSON; results do not have that place, so later events count here. */
	[TOOL_VLLM_RS] = {.name = "vllm-rs",
                      .tool = "vLLM's Rust client",
                      .version = "0.33.0",
                      .source = "vllm-rs bench serve, of the wheel of vllm 0.33.0: observed, not read",
                      .chunks = CONTENT | 1u << EVENT_EMPTY | 1u << EVENT_ROLE | 1u << EVENT_OTHER,
                      .end = TOOL_END_LAST_CHUNK,
                      .tpot = TOOL_TPOT_LAST_LESS_FIRST,
                      .itl = TOOL_ITL_GAPS,
                      .tokens = {TOOL_TOKENS_USAGE, TOOL_TOKENS_CHUNKS},
                      .zero_ttft = true,
                      .zero_e2e = true,
                      .one_token = true,
                      .figures = {{"ttft", "first chunk with a choice: the opening one; without one 0"},
                                  {"itl", "gaps between such chunks, the opening and the last one included"},
                                  {"tpot", "(e2el - ttft) / (output tokens - 1), of more than one token"},
                                  {"e2el", "last such chunk; neither usage nor the end mark; without one 0"},
                                  {"throughput", span},
                                  {"output_tokens", "usage; else the chunks with a choice, at least 1"},
                                  {"failed", "an error in the stream, or an empty answer, is none"}}},
	[TOOL_SGLANG] = {.name = "sglang",
                     .tool = "SGLang",
                     .version = "0.5.23",
                     .source = "sglang/benchmark/serving.py",
                     .chunks = 1u << EVENT_TEXT | 1u << EVENT_REASONING,
                     .end = TOOL_END_LAST_EVENT,
                     .tpot = TOOL_TPOT_END_LESS_FIRST,
                     .itl = TOOL_ITL_GAPS,
                     .tokens = {TOOL_TOKENS_USAGE, TOOL_TOKENS_ASKED},
                     .fails = TOOL_FAILS_MALFORMED,
                     .zero_ttft = true,
                     .zero_usage = true,
                     .figures = {{"ttft", "first chunk with text, not of tool calls; without one 0"},
                                 {"itl", "gaps between such chunks"},
                                 {"tpot", "(e2e_latency - ttft) / (output tokens - 1): the end mark included"},
                                 {"e2e_latency", "last line, which is the end mark"},
                                 {"throughput", span},
                                 {"output_tokens", "usage; else the number that was requested"},
                                 {"-", "an error in the stream, or an empty answer, is none"}}},
	[TOOL_GUIDELLM] =
		{.name = "guidellm",
         .tool = "GuideLLM",
         .version = "0.8.1",
         .source = "guidellm/backends/openai/http.py, guidellm/schemas/base/request_stats.py, "
                   "guidellm/schemas/base/statistics.py",
         .chunks = CONTENT,
         .end = TOOL_END_LAST_EVENT,
         .tpot = TOOL_TPOT_LAST_PER_TOKEN,
         .itl = TOOL_ITL_REQUEST_WEIGHTS,
         .tokens = {TOOL_TOKENS_USAGE, TOOL_TOKENS_CHUNKS},
         .percentile = TOOL_PERCENTILE_LEAST,
         .fails = TOOL_FAILS_ERROR | TOOL_FAILS_MALFORMED | TOOL_FAILS_EMPTY,
         .figures = {{"time_to_first_token_ms", "first chunk with content; percentiles are values that occurred, never "
                                                "between two"},
                     {"inter_token_latency_ms",
                      "(last - first) / (tokens - 1) of each request, weighted by tokens - 1"},
                     {"time_per_output_token_ms", "time to the last token / output tokens, weighted by output tokens"},
                     {"request_latency", "to the end mark, at which it stops reading"},
                     {"requests_per_second", "first start to last end; what happens at a moment / the "
                                             "time around it"},
                     {"output_token_count", "usage; else the chunks with content"},
                     {"errored", "an error in the stream, or no output, fails"}}},
	[TOOL_AIPERF] = {.name = "aiperf",
                     .tool = "AIPerf",
                     .version = "0.13.0",
                     .source = "aiperf/metrics/types, aiperf/endpoints/openai_chat.py",
                     .chunks = CONTENT,
                     .end = TOOL_END_LAST_CHUNK,
                     .tpot = TOOL_TPOT_NONE,
                     .itl = TOOL_ITL_REQUESTS,
                     .tokens = {TOOL_TOKENS_TOKENIZER, TOOL_TOKENS_USAGE, TOOL_TOKENS_CHUNKS},
                     .window = TOOL_WINDOW_CONTENT,
                     .fails = TOOL_FAILS_EMPTY,
                     .figures = {{"time_to_first_token", "first chunk with content"},
                                 {"inter_token_latency",
                                  "(request_latency - ttft) / (tokens - 1), a value per request"},
                                 {NULL, "it calls this inter_token_latency"},
                                 {"request_latency", "last chunk with content"},
                                 {"request_throughput", "first start to the last content of a success"},
                                 {"output_sequence_length", "the tokenizer's; usage with --use-server-token-count"},
                                 {"error_request_count", "no content fails; an error in the stream is none"}}},
	[TOOL_GENAI_PERF] = {.name = "genai-perf",
                         .tool = "genai-perf",
                         .version = "0.0.16",
                         .source = "genai_perf/profile_data_parser/llm_profile_data_parser.py",
                         .chunks = CONTENT,
                         .end = TOOL_END_LAST_CHUNK,
                         .tpot = TOOL_TPOT_NONE,
                         .itl = TOOL_ITL_REQUESTS,
                         .tokens = {TOOL_TOKENS_TOKENIZER, TOOL_TOKENS_USAGE, TOOL_TOKENS_CHUNKS},
                         .window = TOOL_WINDOW_CONTENT,
                         .whole_ns = TOOL_NEAREST_NS,
                         .two_for_itl = true,
                         .fails = TOOL_FAILS_ERROR | TOOL_FAILS_MALFORMED | TOOL_FAILS_EMPTY,
                         .figures = {{"time_to_first_token", "first chunk with content"},
                                     {"inter_token_latency",
                                      "(request_latency - ttft) / (tokens - 1), a value per request"},
                                     {NULL, "it calls this inter_token_latency"},
                                     {"request_latency", "last chunk with content"},
                                     {"request_throughput", "first start to the last content of a success"},
                                     {"output_sequence_length", "the tokenizer's"},
                                     {"-", "failures are left out"}}},
	[TOOL_INFERENCE_PERF] = {.name = "inference-perf",
                             .tool = "inference-perf",
                             .version = "0.7.0",
                             .source = "inference_perf/reportgen/base.py, inference_perf/apis/streaming_parser.py",
                             .chunks = 1u << EVENT_TEXT,
                             .end = TOOL_END_RESPONSE,
                             .tpot = TOOL_TPOT_LAST_LESS_FIRST,
                             .itl = TOOL_ITL_TOKENS,
                             .tokens = {TOOL_TOKENS_TOKENIZER, TOOL_TOKENS_USAGE, TOOL_TOKENS_CHUNKS},
                             .zero_usage = true,
                             .no_deviation = true,
                             .two_chunks = true,
                             .figures = {{"time_to_first_token", "first chunk with text, not reasoning; needs a second "
                                                                 "token"},
                                         {"inter_token_latency", "gaps between tokens: those of one chunk are 0 apart"},
                                         {"time_per_output_token", "(last - first chunk) / (tokens - 1)"},
                                         {"request_latency", "end of the response"},
                                         {"requests_per_sec", span},
                                         {"output_len", "the tokenizer's; usage if told so"},
                                         {"failures", "an error in the stream, or an empty answer, is none"}}},
	[TOOL_LPG] = {.name = "lpg",
                  .tool = "latency-profile-generator",
                  .version = "c29b163",
                  .source = "AI-Hypercomputer/inference-benchmark, benchmark_serving.py",
                  .chunks = ANYTHING,
                  .end = TOOL_END_RESPONSE,
                  .tpot = TOOL_TPOT_END_PER_TOKEN,
                  .itl = TOOL_ITL_GAPS,
                  .tokens = {TOOL_TOKENS_TOKENIZER, TOOL_TOKENS_USAGE, TOOL_TOKENS_CHUNKS},
                  .fails = TOOL_FAILS_ERROR | TOOL_FAILS_MALFORMED,
                  .sent_count = true,
                  .figures = {{"TTFT", "first chunk of the body, whatever is in it"},
                              {"ITL", "gaps between chunks, the end mark included"},
                              {"normalized_time_per_output_token", "latency / output tokens"},
                              {"latency", "end of the response"},
                              {"throughput_rps", "requests sent / first start to last end"},
                              {"output_len", "the tokenizer's, special tokens included"},
                              {"errors", "an event that is not a completion fails"}}},
	[TOOL_MLPERF] = {.name = "mlperf",
                     .tool = "MLPerf LoadGen",
                     .version = "6.0.17",
                     .source = "mlcommons/inference, loadgen/results.cc",
                     .chunks = CONTENT,
                     .end = TOOL_END_RESPONSE,
                     .tpot = TOOL_TPOT_END_LESS_FIRST,
                     .itl = TOOL_ITL_NONE,
                     .tokens = {TOOL_TOKENS_USAGE, TOOL_TOKENS_TOKENIZER, TOOL_TOKENS_CHUNKS},
                     .percentile = TOOL_PERCENTILE_FLOOR,
                     .window = TOOL_WINDOW_DUE,
                     .whole_ns = TOOL_FLOOR_NS,
                     .fails = TOOL_FAILS_ERROR | TOOL_FAILS_MALFORMED | TOOL_FAILS_EMPTY | TOOL_FAILS_NO_END,
                     .no_deviation = true,
                     .from_due = true,
                     .figures = {{"First Token latency", "from due; percentiles are not interpolated"},
                                 {NULL, "it has none"},
                                 {"Time per Output Token", "(latency - first token) / (tokens - 1)"},
                                 {"latency", "from due to the end of the response"},
                                 {"Completed samples per second",
                                  "(successes - 1) / first due to the end of the last one"},
                                 {"tokens", "as the system under test says"},
                                 {"errors", "as the system under test says"}}},
};

const char *const tool_names[] = {"vllm",       "vllm-rs",        "sglang", "guidellm", "aiperf",
                                  "genai-perf", "inference-perf", "lpg",    "mlperf",   NULL};

const struct tool_rules *tool_rules_find(struct slice name)
{
	for (int i = 0; i < TOOL_COUNT; i++)
		if (strlen(tool_rules[i].name) == name.len && memcmp(tool_rules[i].name, name.data, name.len) == 0)
			return &tool_rules[i];
	return NULL;
}

bool tool_counts(const struct tool_rules *rules, enum event_kind kind)
{
	return rules->chunks >> kind & 1;
}

int64_t tool_output_tokens(const struct tool_rules *rules, const struct tool_counts *counts, enum tool_tokens *source)
{
	const int64_t known[] = {
		[TOOL_TOKENS_NONE] = IPF_ABSENT,
		[TOOL_TOKENS_USAGE] = counts->usage == 0 && !rules->zero_usage ? IPF_ABSENT : counts->usage,
		[TOOL_TOKENS_TOKENIZER] = counts->tokenizer,
		[TOOL_TOKENS_ASKED] = counts->asked,
		[TOOL_TOKENS_CHUNKS] = counts->chunks == 0 && rules->one_token ? 1 : counts->chunks,
	};
	for (int i = 0; i < TOOL_TOKENS_MOST; i++)
		if (known[rules->tokens[i]] != IPF_ABSENT) {
			if (source)
				*source = rules->tokens[i];
			return known[rules->tokens[i]];
		}
	if (source)
		*source = TOOL_TOKENS_NONE;
	return IPF_ABSENT;
}

double tool_ttft(const struct tool_rules *rules, const struct tool_times *t)
{
	return rules->zero_ttft && t->chunks == 0 ? 0 : rules->two_chunks && t->chunks < 2 ? NAN : t->first;
}

double tool_e2e(const struct tool_rules *rules, const struct tool_times *t)
{
	if (rules->zero_e2e && t->chunks == 0)
		return 0;
	return rules->end == TOOL_END_LAST_CHUNK ? t->last : rules->end == TOOL_END_LAST_EVENT ? t->event : t->end;
}

static double per_token(const struct tool_rules *rules, double ns)
{
	return rules->whole_ns == TOOL_NEAREST_NS ? rint(ns) : rules->whole_ns == TOOL_FLOOR_NS ? floor(ns) : ns;
}

double tool_tpot(const struct tool_rules *rules, const struct tool_times *t, int64_t tokens)
{
	double later = tokens > 1 && !(rules->two_chunks && t->chunks < 2) ? (double)(tokens - 1) : NAN,
		   all = tokens > 0 ? (double)tokens : NAN;
	switch (rules->tpot) {
	case TOOL_TPOT_LAST_LESS_FIRST:
		return per_token(rules, (t->last - t->first) / later);
	case TOOL_TPOT_END_LESS_FIRST:
		return per_token(rules, (tool_e2e(rules, t) - tool_ttft(rules, t)) / later);
	case TOOL_TPOT_LAST_PER_TOKEN:
		return per_token(rules, (isnan(t->last) ? t->end : t->last) / all);
	case TOOL_TPOT_END_PER_TOKEN:
		return per_token(rules, tool_e2e(rules, t) / all);
	case TOOL_TPOT_NONE:
		break;
	}
	return NAN;
}

double tool_request_itl(const struct tool_rules *rules, const struct tool_times *t, int64_t tokens)
{
	bool known = tokens > 1 && !(rules->two_for_itl && t->chunks < 2);
	return known ? per_token(rules, (t->last - t->first) / (double)(tokens - 1)) : NAN;
}

double tool_percentile(const struct tool_rules *rules, struct samples *values, double p)
{
	if (rules->percentile != TOOL_PERCENTILE_FLOOR)
		return samples_percentile(values, p);
	size_t rank = (size_t)((double)values->count * (p / 100));
	return values->count ? samples_at_rank(values, rank < values->count ? rank : values->count - 1) : NAN;
}

bool tool_success(const struct tool_rules *rules, const struct tool_outcome *o)
{
	if (o->ok)
		return !(rules->fails & TOOL_FAILS_EMPTY) || o->chunks > 0;
	bool forgiven = o->error        ? !(rules->fails & TOOL_FAILS_ERROR)
	                : o->malformed  ? !(rules->fails & TOOL_FAILS_MALFORMED)
	                : o->incomplete ? o->end_mark || !(rules->fails & TOOL_FAILS_NO_END)
	                                : false;
	return forgiven && o->closed && (o->chunks > 0 || !(rules->fails & TOOL_FAILS_EMPTY));
}

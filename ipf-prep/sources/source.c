#include "sources/source.h"

#include "cli/nearest.h"

#include <stdlib.h>
#include <string.h>

/* The order in which `auto` asks the formats: specific ones before general ones. --list has them by group. */
/* clang-format off */
#define EACH_FORMAT(F) \
	F(sharegpt, DATASET) \
	F(openorca, DATASET) \
	F(alpaca, DATASET) \
	F(cnn_dailymail, DATASET) \
	F(stories, DATASET) \
	F(sonnet, DATASET) \
	F(quac, DATASET) \
	F(aiperf_dag, AGENTS) \
	F(aiperf, AGENTS) \
	F(mtbench, DATASET) \
	F(gsm8k, DATASET) \
	F(humaneval, DATASET) \
	F(oasst, DATASET) \
	F(llm_load_test, DATASET) \
	F(openai_batch, DATASET) \
	F(rerank, DATASET) \
	F(mlperf_samples, DATASET) \
	F(azure, TRACE) \
	F(burstgpt, TRACE) \
	F(vidur, TRACE) \
	F(baseten, TRACE) \
	F(claude_code, AGENTS) \
	F(codex, AGENTS) \
	F(agentic_mooncake, AGENTS) \
	F(mooncake, TRACE) \
	F(mooncake_delta, AGENTS) \
	F(qwen_bailian, AGENTS) \
	F(weka, AGENTS) \
	F(rl_rollout, AGENTS) \
	F(trie, AGENTS) \
	F(scaffolding, AGENTS) \
	F(tracelab, AGENTS) \
	F(ragpulse, AGENTS) \
	F(lmcache, AGENTS) \
	F(aibrix, TRACE) \
	F(llmservingsim, AGENTS) \
	F(otel, AGENTS) \
	F(servegen, TRACE) \
	F(mlperf_agentic, AGENTS) \
	F(swe_rebench, AGENTS) \
	F(sglang_agentic, AGENTS) \
	F(vllm_log, LOG) \
	F(sglang_log, LOG) \
	F(tgi_log, LOG) \
	F(envoy_tap, LOG) \
	F(envoy_access, LOG) \
	F(litellm_log, LOG) \
	F(sagemaker_capture, LOG) \
	F(dynamo_trace, LOG) \
	F(openai_log, LOG) \
	F(trace, TRACE) \
	F(jsonl, DATASET) \
	F(csv, DATASET) \
	F(text, DATASET) \
	F(synthetic, GENERATED) \
	F(prefix, GENERATED)
/* clang-format on */

#define DECLARE(name_, group_) extern const struct source_format source_##name_;
#define ADDRESS(name_, group_) &source_##name_,
#define GROUP(name_, group_)   SOURCE_GROUP_##group_,
EACH_FORMAT(DECLARE)

static const struct source_format *const formats[] = {EACH_FORMAT(ADDRESS)};
static const enum source_group groups[] = {EACH_FORMAT(GROUP)};

#define FORMATS (sizeof formats / sizeof *formats)

int source_open(const struct source_format *format, const struct source_settings *settings, void **state,
                struct ipf_error *err)
{
	*state = NULL;
	if (format->state_size == 0)
		return 0;
	void *made = calloc(1, format->state_size);
	if (!made)
		return ipf_error_memory(err);
	if (format->open && format->open(made, settings, err) < 0) {
		source_close(format, made);
		return -1;
	}
	*state = made;
	return 0;
}

void source_close(const struct source_format *format, void *state)
{
	if (state && format->close)
		format->close(state);
	free(state);
}

const struct source_format *source_at(size_t i)
{
	return i < FORMATS ? formats[i] : NULL;
}

enum source_group source_group_at(size_t i)
{
	return groups[i];
}

const struct source_format *source_find(const char *name, struct ipf_error *err)
{
	struct buffer known = {0};
	struct nearest near = {0};
	for (size_t i = 0; i < FORMATS; i++) {
		if (strcmp(formats[i]->name, name) == 0) {
			buffer_release(&known);
			return formats[i];
		}
		buffer_format(&known, "%s%s", i ? " " : "", formats[i]->name);
		nearest_try(&near, name, strlen(name), formats[i]->name);
	}
	ipf_error_set(err, IPF_USAGE, "unknown format \"%s\"%s%s%s (known: %s)", name, near.name ? ", did you mean \"" : "",
	              near.name ? near.name : "", near.name ? "\"?" : "", known.data ? known.data : "");
	buffer_release(&known);
	return NULL;
}

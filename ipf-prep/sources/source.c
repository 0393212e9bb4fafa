#include "sources/source.h"

#include "cli/nearest.h"

#include <stdlib.h>
#include <string.h>

/* The order of --list, and the order in which `auto` asks the formats: specific ones before general ones. */
/* clang-format off */
#define EACH_FORMAT(F) \
	F(sharegpt) \
	F(openorca) \
	F(alpaca) \
	F(cnn_dailymail) \
	F(stories) \
	F(sonnet) \
	F(quac) \
	F(mtbench) \
	F(gsm8k) \
	F(humaneval) \
	F(oasst) \
	F(llm_load_test) \
	F(openai_batch) \
	F(mlperf_samples) \
	F(azure) \
	F(burstgpt) \
	F(vidur) \
	F(agentic_mooncake) \
	F(mooncake) \
	F(qwen_bailian) \
	F(weka) \
	F(rl_rollout) \
	F(tracelab) \
	F(ragpulse) \
	F(lmcache) \
	F(aibrix) \
	F(llmservingsim) \
	F(otel) \
	F(servegen) \
	F(mlperf_agentic) \
	F(vllm_log) \
	F(sglang_log) \
	F(tgi_log) \
	F(envoy_tap) \
	F(envoy_access) \
	F(litellm_log) \
	F(sagemaker_capture) \
	F(dynamo_trace) \
	F(openai_log) \
	F(trace) \
	F(jsonl) \
	F(csv) \
	F(text) \
	F(synthetic) \
	F(prefix)
/* clang-format on */

#define DECLARE(name_) extern const struct source_format source_##name_;
#define ADDRESS(name_) &source_##name_,
EACH_FORMAT(DECLARE)

static const struct source_format *const formats[] = {EACH_FORMAT(ADDRESS)};

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

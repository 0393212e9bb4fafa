#include "sources/member_names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* In the order of strcasecmp(): it is searched by halves. */
static const struct member_name {
	const char *name;
	enum member_kind kind;
} names[] = {
	{"arrival_time", MEMBER_TIME},
	{"arrived_at", MEMBER_TIME},
	{"article", MEMBER_CONTEXT},
	{"available_tools", MEMBER_TOOLS},
	{"background", MEMBER_CONTEXT},
	{"chat_history", MEMBER_PROMPT},
	{"choice_A", MEMBER_CONTEXT},
	{"choice_B", MEMBER_CONTEXT},
	{"choice_C", MEMBER_CONTEXT},
	{"choice_D", MEMBER_CONTEXT},
	{"choices", MEMBER_CONTEXT},
	{"completion_tokens", MEMBER_OUTPUT_TOKENS},
	{"context", MEMBER_CONTEXT},
	{"contexts", MEMBER_CONTEXT},
	{"conversation", MEMBER_PROMPT},
	{"conversations", MEMBER_PROMPT},
	{"created", MEMBER_TIME},
	{"created_at", MEMBER_TIME},
	{"ctxs", MEMBER_CONTEXT},
	{"delay", MEMBER_TIME},
	{"dialog", MEMBER_PROMPT},
	{"dialogue", MEMBER_PROMPT},
	{"document", MEMBER_CONTEXT},
	{"documents", MEMBER_CONTEXT},
	{"evidence", MEMBER_CONTEXT},
	{"frequency_penalty", MEMBER_SAMPLING},
	{"function", MEMBER_TOOLS},
	{"functions", MEMBER_TOOLS},
	{"generated_tokens", MEMBER_OUTPUT_TOKENS},
	{"generationConfig", MEMBER_SAMPLING},
	{"history", MEMBER_PROMPT},
	{"ignore_eos", MEMBER_SAMPLING},
	{"input", MEMBER_PROMPT},
	{"input_length", MEMBER_INPUT_TOKENS},
	{"input_tokens", MEMBER_INPUT_TOKENS},
	{"instruction", MEMBER_PROMPT},
	{"instructions", MEMBER_PROMPT},
	{"logit_bias", MEMBER_SAMPLING},
	{"max_completion_tokens", MEMBER_OUTPUT_TOKENS},
	{"max_new_tokens", MEMBER_OUTPUT_TOKENS},
	{"max_output_tokens", MEMBER_OUTPUT_TOKENS},
	{"max_tokens", MEMBER_OUTPUT_TOKENS},
	{"maxOutputTokens", MEMBER_OUTPUT_TOKENS},
	{"messages", MEMBER_PROMPT},
	{"min_p", MEMBER_SAMPLING},
	{"min_tokens", MEMBER_SAMPLING},
	{"model", MEMBER_MODEL},
	{"model_name", MEMBER_MODEL},
	{"options", MEMBER_CONTEXT},
	{"output_length", MEMBER_OUTPUT_TOKENS},
	{"output_tokens", MEMBER_OUTPUT_TOKENS},
	{"output_tokens_count", MEMBER_OUTPUT_TOKENS},
	{"paragraphs", MEMBER_CONTEXT},
	{"passage", MEMBER_CONTEXT},
	{"passages", MEMBER_CONTEXT},
	{"presence_penalty", MEMBER_SAMPLING},
	{"prompt", MEMBER_PROMPT},
	{"prompt_tokens", MEMBER_INPUT_TOKENS},
	{"prompt_tokens_count", MEMBER_INPUT_TOKENS},
	{"query", MEMBER_PROMPT},
	{"question", MEMBER_PROMPT},
	{"questions", MEMBER_PROMPT},
	{"reasoning_effort", MEMBER_SAMPLING},
	{"repetition_penalty", MEMBER_SAMPLING},
	{"request_created_at", MEMBER_TIME},
	{"response_format", MEMBER_SAMPLING},
	{"response_tokens", MEMBER_OUTPUT_TOKENS},
	{"sampling_params", MEMBER_SAMPLING},
	{"seed", MEMBER_SAMPLING},
	{"start_time", MEMBER_TIME},
	{"startTime", MEMBER_TIME},
	{"stop", MEMBER_SAMPLING},
	{"system", MEMBER_SYSTEM},
	{"system_instruction", MEMBER_SYSTEM},
	{"system_instructions", MEMBER_SYSTEM},
	{"system_message", MEMBER_SYSTEM},
	{"system_prompt", MEMBER_SYSTEM},
	{"systemInstruction", MEMBER_SYSTEM},
	{"temperature", MEMBER_SAMPLING},
	{"thinking", MEMBER_SAMPLING},
	{"time", MEMBER_TIME},
	{"timestamp", MEMBER_TIME},
	{"tool_choice", MEMBER_TOOLS},
	{"tools", MEMBER_TOOLS},
	{"top_k", MEMBER_SAMPLING},
	{"top_p", MEMBER_SAMPLING},
	{"ts", MEMBER_TIME},
	{"turns", MEMBER_PROMPT},
};

static int compare(const void *key, const void *entry)
{
	const struct slice *wanted = key;
	const char *name = ((const struct member_name *)entry)->name;
	int order = strncasecmp(wanted->data, name, wanted->len);
	return order ? order : -(name[wanted->len] != '\0');
}

enum member_kind member_kind_of(struct slice name)
{
	const struct member_name *found = name.len
	                                      ? bsearch(&name, names, sizeof names / sizeof *names, sizeof *names, compare)
	                                      : NULL;
	return found ? found->kind : MEMBER_OTHER;
}

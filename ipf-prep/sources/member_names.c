#include "sources/member_names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *const prompts[] = {
	"prompt",       "question",      "questions",    "instruction", "instructions", "query",  "input",    "messages",
	"conversation", "conversations", "chat_history", "history",     "turns",        "dialog", "dialogue", NULL};
static const char *const contexts[] = {"context", "contexts", "passage",    "passages",   "document", "documents",
                                       "ctxs",    "article",  "background", "paragraphs", "evidence", NULL};
static const char *const choices[] = {"choices", "options", "choice_A", "choice_B", "choice_C", "choice_D", NULL};
static const char *const systems[] = {
	"system", "system_prompt", "system_message", "system_instruction", "system_instructions", "systemInstruction",
	NULL};
static const char *const tools[] = {"tools", "functions", "function", "available_tools", NULL};
static const char *const times[] = {
	"timestamp",    "time",       "ts",      "start_time",         "startTime", "created_at",
	"arrival_time", "arrived_at", "created", "request_created_at", "delay",     NULL};
static const char *const input_lengths[] = {"input_tokens", "input_length", "prompt_tokens", "prompt_tokens_count",
                                            NULL};
/* Lengths before limits. */
static const char *const output_lengths[] = {"output_tokens",         "output_tokens_count", "output_length",
                                             "completion_tokens",     "generated_tokens",    "response_tokens",
                                             "max_completion_tokens", "max_output_tokens",   "maxOutputTokens",
                                             "max_new_tokens",        "max_tokens",          NULL};
static const char *const sessions[] = {"session_id",     "sessionId", "conversation_id",
                                       "conversationId", "thread_id", NULL};
static const char *const models[] = {"model", "model_name", NULL};
static const char *const sampling[] = {"temperature",
                                       "top_p",
                                       "top_k",
                                       "min_p",
                                       "frequency_penalty",
                                       "presence_penalty",
                                       "repetition_penalty",
                                       "logit_bias",
                                       "seed",
                                       "stop",
                                       "ignore_eos",
                                       "min_tokens",
                                       "response_format",
                                       "reasoning_effort",
                                       "thinking",
                                       "tool_choice",
                                       "sampling_params",
                                       "reasoning",
                                       "thinkingConfig",
                                       "responseMimeType",
                                       "cachedContent",
                                       "previous_response_id",
                                       "dimensions",
                                       "encoding_format",
                                       "generationConfig",
                                       NULL};

static const char *const *const kinds[MEMBER_KINDS] = {
	[MEMBER_PROMPT] = prompts,
	[MEMBER_CONTEXT] = contexts,
	[MEMBER_CHOICES] = choices,
	[MEMBER_SYSTEM] = systems,
	[MEMBER_TOOLS] = tools,
	[MEMBER_TIME] = times,
	[MEMBER_INPUT_TOKENS] = input_lengths,
	[MEMBER_OUTPUT_TOKENS] = output_lengths,
	[MEMBER_SESSION] = sessions,
	[MEMBER_MODEL] = models,
	[MEMBER_SAMPLING] = sampling,
};

/* Most members of most records have no name of the table: their first letter and length say so. */
static bool may_be_known(struct slice name)
{
	static uint64_t lengths[256]; /* by the first letter, a bit each */
	static bool filled;
	for (size_t k = 0; k < MEMBER_KINDS && !filled; k++)
		for (size_t i = 0; kinds[k] && kinds[k][i]; i++)
			lengths[tolower((unsigned char)kinds[k][i][0])] |= UINT64_C(1) << strlen(kinds[k][i]);
	filled = true;
	return name.len > 0 && name.len < 64 && (lengths[tolower((unsigned char)*name.data)] >> name.len & 1);
}

enum member_kind member_kind_of(struct slice name)
{
	if (!may_be_known(name))
		return MEMBER_OTHER;
	for (size_t k = 0; k < MEMBER_KINDS; k++)
		for (size_t i = 0; kinds[k] && kinds[k][i]; i++)
			if (strlen(kinds[k][i]) == name.len && strncasecmp(kinds[k][i], name.data, name.len) == 0)
				return (enum member_kind)k;
	return MEMBER_OTHER;
}

const char *member_name_at(enum member_kind kind, size_t i)
{
	return kinds[kind] ? kinds[kind][i] : NULL;
}

jdoc_id member_of_kind(const struct jdoc *j, jdoc_id map, enum member_kind kind, const char **name)
{
	for (size_t i = 0; (*name = member_name_at(kind, i)); i++) {
		jdoc_id node = jdoc_get(j, map, *name);
		if (!jdoc_is_null(j, node))
			return node;
	}
	return JDOC_NONE;
}

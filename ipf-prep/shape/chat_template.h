/* What a server's chat template adds to a prompt, in tokens: as the user says, or as the server does when it is asked.
 */
#ifndef PREP_TEMPLATE_H
#define PREP_TEMPLATE_H

#include "tokenizer/token_counter.h"

#include <stddef.h>

struct chat_template_cost {
	int64_t chat;    /* around one message */
	int64_t message; /* for each further one; IPF_ABSENT: not known, every prompt gets `chat` alone */
	const char *how; /* the server's path that told; NULL: the user did */
};

/* `text`: "N", "N,M", or the http(s) URL of a server. It is asked for the counts of a chat of one message and of one of
 * three, by the first of these that it has: POST /tokenize with messages (vLLM), POST /apply-template and /tokenize
 * (llama.cpp), the usage of a chat completion of one token. NULL is no template. IPF_USAGE for another text, IPF_SYSTEM
 * where no server answers, IPF_INPUT where its answers cannot be. */
int chat_template_parse(struct chat_template_cost *cost, const char *text, const struct token_counter *tokens,
                        struct ipf_error *err);

/* For a prompt of so many messages; `goes_on`: they come behind a prompt that was counted and its answer. */
int64_t chat_template_adds(const struct chat_template_cost *cost, size_t messages, bool goes_on);

#endif

/* --template-tokens: how many tokens a server's chat template adds to a prompt. The user gives the numbers, or the URL
 * of a server to measure them at.
 *
 *     struct chat_template template = {.message = IPF_ABSENT};
 *     chat_template_parse("http://127.0.0.1:8000", &template, &err);
 *     chat_template_measure(&template, tokens, &err);
 *     int64_t added = chat_template_tokens(&template, 3, false);
 */
#ifndef PREP_CHAT_TEMPLATE_H
#define PREP_CHAT_TEMPLATE_H

#include "tokenizer/token_counter.h"

#include <stdbool.h>
#include <stddef.h>

struct chat_template {
	bool given;
	const char *url;  /* the server to ask; NULL: the user gave the numbers */
	int64_t chat;     /* tokens around a chat of one message; 0 without a template */
	int64_t message;  /* tokens around each further message; IPF_ABSENT: unknown, and each prompt gets `chat` alone */
	const char *path; /* the server's path for counts; NULL: the user gave the numbers */
};

/* An option_parser. `value` is "N", "N,M" or an http(s) URL; `variable` is a struct chat_template. IPF_USAGE. */
int chat_template_parse(const char *value, void *variable, struct ipf_error *err);

/* Asks the server for the token counts of a chat of one message and of one of three, by the first of these it supports:
 * POST /tokenize with messages (vLLM); POST /apply-template and /tokenize (llama.cpp); the usage of a chat completion
 * of one token. The template's tokens are these counts minus the tokens of the messages themselves. Without a URL it
 * does nothing. IPF_SYSTEM: the server cannot be reached; IPF_INPUT: its responses cannot be used. */
int chat_template_measure(struct chat_template *template, const struct token_counter *tokens, struct ipf_error *err);

/* How many tokens the template adds to a prompt of `messages` messages. `continues`: the messages follow the prompt and
 * the answer of the previous turn, which were counted before. */
int64_t chat_template_tokens(const struct chat_template *template, size_t messages, bool continues);

#endif

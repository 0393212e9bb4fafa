#include "answer_script.h"

#include "json/jout.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* -1: out of memory. */
static int set_token(struct written_token *token, struct slice bytes)
{
	struct buffer json = {0};
	struct jout w = {.out = &json};
	jout_escaped(&w, bytes);
	bool good = !json.failed && json.len < sizeof token->json;
	*token = (struct written_token){.len = bytes.len};
	if (good && json.len)
		memcpy(token->json, json.data, json.len);
	memcpy(token->bytes, bytes.data, bytes.len);
	buffer_release(&json);
	return good ? 0 : -1;
}

int answer_script_write(struct answer_script *s, struct slice text)
{
	int64_t count = (int64_t)((text.len + TOKEN_BYTES - 1) / TOKEN_BYTES);
	struct written_token *tokens = calloc((size_t)count + 1, sizeof *tokens);
	bool good = tokens;
	for (int64_t i = 0; good && i < count; i++) {
		size_t at = (size_t)i * TOKEN_BYTES, left = text.len - at;
		good = set_token(&tokens[i], (struct slice){text.data + at, left < TOKEN_BYTES ? left : TOKEN_BYTES}) == 0;
	}
	if (!good) {
		free(tokens);
		return -1;
	}
	free(s->tokens);
	s->tokens = tokens;
	s->count = count;
	return 0;
}

/* Letters and digits become others, so numbers stay numbers. */
void answer_script_alter(struct answer_script *s, int64_t number, struct slice bytes)
{
	char wrong[TOKEN_BYTES];
	bool changed = false;
	for (size_t i = 0; i < bytes.len; i++) {
		char c = bytes.data[i];
		wrong[i] = c == 'z' ? 'a' : c == 'Z' ? 'A' : c == '9' ? '1' : (char)(isalnum((unsigned char)c) ? c + 1 : c);
		changed |= wrong[i] != c;
	}
	if (!changed)
		memset(wrong, 'x', bytes.len);
	if (set_token(&s->altered, (struct slice){wrong, bytes.len}) == 0)
		s->altered_number = number;
}

int answer_script_copy(struct answer_script *s, const struct answer_script *other)
{
	struct written_token *tokens = NULL;
	if (other->tokens) {
		tokens = calloc((size_t)other->count + 1, sizeof *tokens);
		if (!tokens)
			return -1;
		memcpy(tokens, other->tokens, (size_t)other->count * sizeof *tokens);
	}
	free(s->tokens);
	*s = *other;
	s->tokens = tokens;
	return 0;
}

void answer_script_release(struct answer_script *s)
{
	free(s->tokens);
	s->tokens = NULL;
}

#include "stream/prompt_chain.h"

#include "text_hash.h"

#include <string.h>

#define TOKEN_BYTES 4
#define BLOCK_BYTES ((size_t)PROMPT_BLOCK * TOKEN_BYTES)
/* Marks are no tokens: they have a bit that no token of a text or list has. */
#define MARK UINT64_C(0x8000000000000000)

/* A step within a block: too weak to be the end of one. */
static uint64_t stir(uint64_t hash, uint64_t value)
{
	return (hash << 23 ^ hash >> 41 ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	uint64_t x = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 29;
}

static void add_mark(struct prompt_chain *c, struct slice what)
{
	c->hash = mix(c->hash, MARK | text_hash_mixed(what));
}

/* The server's tokens for it are unknown. */
static void add_unknown(struct prompt_chain *c, struct slice what)
{
	add_mark(c, what);
	c->partly = true;
}

static void add_token(struct prompt_chain *c, uint64_t token)
{
	c->hash = mix(c->hash, token & ~MARK);
	if (++c->tokens % PROMPT_BLOCK == 0)
		c->block(c);
}

/* Whole blocks at once, where one begins. */
static size_t add_blocks(struct prompt_chain *c, struct slice text)
{
	size_t i = 0;
	for (; c->tokens % PROMPT_BLOCK == 0 && text.len - i >= BLOCK_BYTES; i += BLOCK_BYTES) {
		uint64_t words[BLOCK_BYTES / sizeof(uint64_t)];
		memcpy(words, text.data + i, sizeof words);
		for (size_t k = 0; k < sizeof words / sizeof *words; k++)
			c->hash = stir(c->hash, words[k]);
		c->hash = mix(c->hash, 0);
		c->tokens += PROMPT_BLOCK;
		c->block(c);
	}
	return i;
}

static void add_text(struct prompt_chain *c, struct slice text)
{
	for (size_t i = add_blocks(c, text), len; i < text.len; i += len) {
		uint32_t token = 0;
		len = text.len - i < TOKEN_BYTES ? text.len - i : TOKEN_BYTES;
		memcpy(&token, text.data + i, len);
		add_token(c, (uint64_t)len << 32 | token);
		if (c->tokens % PROMPT_BLOCK == 0)
			i += add_blocks(c, (struct slice){text.data + i + len, text.len - i - len});
	}
}

void prompt_scratch_release(struct prompt_scratch *s)
{
	jdoc_release(&s->doc);
	buffer_release(&s->text);
}

void prompt_chain_begin(struct prompt_chain *c, struct slice model)
{
	*c = (struct prompt_chain){.block = c->block};
	if (model.data)
		add_mark(c, model);
}

/* A text, or a list of parts: the texts joined, and a mark for everything else. */
static void add_content(struct prompt_chain *c, jdoc_id content, struct prompt_scratch *s)
{
	const struct jdoc *doc = &s->doc;
	buffer_clear(&s->text);
	if (jdoc_type_of(doc, content) == JDOC_TEXT)
		jdoc_text(doc, content, &s->text);
	for (struct jdoc_each e = jdoc_each(doc, jdoc_type_of(doc, content) == JDOC_LIST ? content : JDOC_NONE);
	     jdoc_step(&e);) {
		jdoc_id text = jdoc_type_of(doc, e.value) == JDOC_TEXT ? e.value : jdoc_get(doc, e.value, "text");
		if (jdoc_type_of(doc, text) == JDOC_TEXT)
			jdoc_text(doc, text, &s->text);
		else
			add_unknown(c, jdoc_raw(doc, e.value));
	}
	add_text(c, buffer_all(&s->text));
}

static int add_messages(struct prompt_chain *c, struct prompt_scratch *s, struct ipf_error *err)
{
	const struct jdoc *doc = &s->doc;
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
		if (jdoc_type_of(doc, e.value) != JDOC_MAP)
			return jdoc_expected(doc, e.value, "messages", "a list of objects", err);
		add_mark(c, jdoc_raw(doc, jdoc_get(doc, e.value, "role")));
		for (struct jdoc_each member = jdoc_each(doc, e.value); jdoc_step(&member);) {
			if (jdoc_text_is(doc, member.key, "content"))
				add_content(c, member.value, s);
			else if (!jdoc_text_is(doc, member.key, "role"))
				add_unknown(c, jdoc_raw(doc, member.value));
		}
	}
	return 0;
}

static int add_ids(struct prompt_chain *c, jdoc_id list, const char *member, struct prompt_scratch *s,
                   struct ipf_error *err)
{
	for (struct jdoc_each e = jdoc_each(&s->doc, list); jdoc_step(&e);) {
		int64_t id;
		if (!jdoc_to_int(&s->doc, e.value, &id))
			return jdoc_expected(&s->doc, e.value, member, "a list of integers", err);
		add_token(c, (uint64_t)id);
	}
	return 0;
}

static int add_query(struct prompt_chain *c, struct slice query, struct prompt_scratch *s, struct ipf_error *err)
{
	if (jdoc_parse(&s->doc, query.data, query.len, err) < 0)
		return -1;
	add_mark(c, slice_of("\"query\""));
	add_content(c, JDOC_ROOT, s);
	return 0;
}

/* Each input is a prompt of its own to the server. */
static int add_inputs(struct prompt_chain *c, struct prompt_scratch *s, struct ipf_error *err)
{
	const struct jdoc *doc = &s->doc;
	c->partly = true;
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
		add_mark(c, slice_of("\"input\""));
		if (jdoc_type_of(doc, e.value) != JDOC_LIST)
			add_content(c, e.value, s);
		else if (add_ids(c, e.value, "inputs", s, err) < 0)
			return -1;
	}
	return 0;
}

int prompt_chain_add(struct prompt_chain *c, const struct trace_request *r, struct prompt_scratch *s,
                     struct ipf_error *err)
{
	struct slice json = trace_prompt(r);
	if (r->tools.data)
		add_unknown(c, r->tools);
	if (!json.data)
		return 0;
	if (r->query.data && add_query(c, r->query, s, err) < 0)
		return -1;
	if (jdoc_parse(&s->doc, json.data, json.len, err) < 0)
		return -1;
	if (r->messages.data)
		return add_messages(c, s, err);
	if (r->prompt_token_ids.data)
		return add_ids(c, JDOC_ROOT, "prompt_token_ids", s, err);
	if (r->inputs.data)
		return add_inputs(c, s, err);
	add_content(c, JDOC_ROOT, s);
	return 0;
}

void prompt_chain_message(struct prompt_chain *c, struct slice role, struct slice text)
{
	add_mark(c, role);
	add_text(c, text);
}

int prompt_chain_answer(struct prompt_chain *c, struct slice answer, struct prompt_scratch *s, struct ipf_error *err)
{
	if (jdoc_parse(&s->doc, answer.data, answer.len, err) < 0)
		return -1;
	if (jdoc_type_of(&s->doc, JDOC_ROOT) == JDOC_LIST)
		return add_ids(c, JDOC_ROOT, "answer_token_ids", s, err);
	add_mark(c, slice_of("\"assistant\""));
	add_content(c, JDOC_ROOT, s);
	return 0;
}

void prompt_chain_generated(struct prompt_chain *c, int64_t req, int64_t tokens)
{
	const uint64_t answer = UINT64_C(1) << 62 | (uint64_t)req << 20;
	add_mark(c, slice_of("\"assistant\""));
	for (int64_t i = 0; i < tokens; i++)
		add_token(c, mix(answer, (uint64_t)i));
}

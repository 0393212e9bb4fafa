#include "stat/context_lengths.h"

#include "absent.h"
#include "array.h"

#include <stdlib.h>
#include <string.h>

/* Where the length of an agent's last prompt is. NULL when out of memory. */
static int64_t *find_agent(struct context_lengths *c, struct slice agent)
{
	size_t known = c->agents.count, number = name_number(&c->agents, agent);
	c->failed |= number == NO_NUMBER || !array_room(c->tokens, c->cap, number + 1);
	if (c->failed)
		return NULL;
	if (number == known)
		c->tokens[number] = IPF_ABSENT;
	return &c->tokens[number];
}

bool context_lengths_add(struct context_lengths *c, struct slice tags, int64_t input_tokens, struct jdoc *j)
{
	static const char key[] = "\"agent\"";
	struct ipf_error ignored = {0};
	struct slice agent = {0};
	if (tags.data && memmem(tags.data, tags.len, key, sizeof key - 1) &&
	    jdoc_parse(j, tags.data, tags.len, &ignored) == 0)
		agent = jdoc_raw(j, jdoc_get(j, JDOC_ROOT, "agent"));
	int64_t *last = agent.data ? find_agent(c, agent) : &c->own;
	if (!last || input_tokens == IPF_ABSENT)
		return false;
	bool shorter = *last != IPF_ABSENT && input_tokens < *last;
	*last = input_tokens;
	return shorter;
}

void context_lengths_end(struct context_lengths *c)
{
	c->own = IPF_ABSENT;
	if (c->agents.count > 0)
		name_numbers_release(&c->agents);
}

void context_lengths_release(struct context_lengths *c)
{
	name_numbers_release(&c->agents);
	free(c->tokens);
	c->tokens = NULL;
	c->cap = 0;
}

#include "job/agent_names.h"

/* A text or a number. */
static bool is_name(const struct jdoc *doc, jdoc_id tag)
{
	return jdoc_type_of(doc, tag) == JDOC_TEXT || jdoc_type_of(doc, tag) == JDOC_NUMBER;
}

/* "SESSION/AGENT" */
static void join(struct slice session, const struct jdoc *doc, jdoc_id agent, struct buffer *name)
{
	struct slice raw = jdoc_raw(doc, agent);
	const bool text = jdoc_type_of(doc, agent) == JDOC_TEXT;
	buffer_append(name, session.data, session.len - 1);
	buffer_byte(name, '/');
	buffer_append(name, raw.data + text, raw.len - 2 * text);
	buffer_byte(name, '"');
}

bool agent_names_find(struct agent_names *n, struct slice session, struct slice tags)
{
	struct ipf_error ignored = {0};
	jdoc_id agent = JDOC_NONE, parent = JDOC_NONE;
	n->agent = session;
	n->parent = (struct slice){0};
	if (session.data && tags.data && jdoc_parse(&n->doc, tags.data, tags.len, &ignored) == 0) {
		agent = jdoc_get(&n->doc, JDOC_ROOT, "agent");
		parent = jdoc_get(&n->doc, JDOC_ROOT, "parent_agent");
	}
	if (agent == JDOC_NONE || !is_name(&n->doc, agent))
		return true;
	buffer_clear(&n->agent_text);
	join(session, &n->doc, agent, &n->agent_text);
	n->agent = buffer_all(&n->agent_text);
	n->parent = session;
	if (parent == JDOC_NONE || !is_name(&n->doc, parent))
		return !n->agent_text.failed;
	buffer_clear(&n->parent_text);
	join(session, &n->doc, parent, &n->parent_text);
	n->parent = buffer_all(&n->parent_text);
	return !n->agent_text.failed && !n->parent_text.failed;
}

void agent_names_release(struct agent_names *n)
{
	buffer_release(&n->agent_text);
	buffer_release(&n->parent_text);
	jdoc_release(&n->doc);
}

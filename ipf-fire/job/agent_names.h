/* Names for the agents of a session, for routers placing an agent beside its parent. The agent beginning the session
 * has the session's name; the others SESSION/AGENT, by ipf-prep's tag `agent` for requests of subagents, and their
 * parents, by the tag `parent_agent`, else the session's.
 *
 *     struct agent_names names = {0};
 *     agent_names_find(&names, request->session, request->tags);
 *     … names.agent, names.parent …                       // JSON texts
 *     agent_names_release(&names);
 */
#ifndef IPF_AGENT_NAMES_H
#define IPF_AGENT_NAMES_H

#include "buffer.h"
#include "json/jdoc.h"

struct agent_names {            /* zero-initialise */
	struct slice agent, parent; /* absent: none */
	struct buffer agent_text, parent_text;
	struct jdoc doc;
};

/* Both arguments are JSON, or absent. false: out of memory. */
bool agent_names_find(struct agent_names *names, struct slice session, struct slice tags);
void agent_names_release(struct agent_names *names);

#endif

/* Conversations that strict servers refuse: each tool call needs a result before the conversation goes on, each result
 * a call in the answer before it, and an answer has text or calls and follows no other answer. */
#ifndef SIM_TOOL_RESULTS_H
#define SIM_TOOL_RESULTS_H

#include "error.h"
#include "json/jdoc.h"

/* The messages of a chat. -1: err gives their fault; those that are no messages at all are left to others.
 */
int tool_results_check(const struct jdoc *doc, jdoc_id messages, struct ipf_error *err);

#endif

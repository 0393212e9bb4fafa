/* Names of members and columns that mean the same in many formats: one table for readers and for notes about members
 * that no reader used.
 *
 *     if (member_kind_of(name) == MEMBER_CONTEXT) …
 */
#ifndef PREP_MEMBER_NAMES_H
#define PREP_MEMBER_NAMES_H

#include "buffer.h"

enum member_kind {
	MEMBER_OTHER,
	MEMBER_PROMPT,
	MEMBER_CONTEXT,
	MEMBER_SYSTEM,
	MEMBER_TOOLS,
	MEMBER_TIME,
	MEMBER_INPUT_TOKENS,
	MEMBER_OUTPUT_TOKENS,
	MEMBER_MODEL,
	MEMBER_SAMPLING,
};

/* By the whole name; letters match in either case. */
enum member_kind member_kind_of(struct slice name);

#endif

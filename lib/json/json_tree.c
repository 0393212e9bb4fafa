#include "json/json_tree.h"

#include <stdio.h>
#include <string.h>

#define TEXT_OF_A_VALUE 16 /* bytes; members of reports and models are longer */

/* Each value but the first follows a bracket or a comma. */
static size_t count_values(struct slice text)
{
	size_t count = 1;
	bool quoted = false;
	for (size_t i = 0; i < text.len; i++) {
		const char c = text.data[i];
		if (c == '"')
			quoted = !quoted;
		else if (quoted && c == '\\')
			i++;
		else
			count += !quoted && (c == ',' || c == '[' || c == '{');
	}
	return count;
}

json_t *json_tree_load(struct slice text, size_t most, size_t flags, json_error_t *why)
{
	if (text.len > most / TEXT_OF_A_VALUE && count_values(text) > most / TEXT_OF_A_VALUE) {
		*why = (json_error_t){.line = -1, .column = -1};
		snprintf(why->text, sizeof why->text, "expected at most %zu values", most / TEXT_OF_A_VALUE);
		return NULL;
	}
	return json_loadb(text.len ? text.data : "", text.len, flags, why);
}

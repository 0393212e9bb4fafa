#include "draft/prefix_groups.h"

#include "cli/units.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX INT64_C(100000000)

/* COUNTxTOKENS or none */
static bool parse_group(const char *text, struct prefix_group *group)
{
	struct ipf_error ignored = {0};
	char count[64];
	if (strcmp(text, "none") == 0) {
		group->count = 1;
		return true;
	}
	const char *x = strchr(text, 'x');
	size_t len = x ? (size_t)(x - text) : sizeof count;
	if (len >= sizeof count)
		return false;
	memcpy(count, text, len);
	count[len] = '\0';
	return parse_count(count, &group->count, &ignored) == 0 && parse_count(x + 1, &group->tokens, &ignored) == 0 &&
	       group->count >= 1 && group->tokens >= 1 && group->tokens <= TOKENS_MAX;
}

int prefix_groups_parse(struct prefix_groups *prefixes, const char *text, struct ipf_error *err)
{
	static const char expected[] = "COUNTxTOKENS such as 10x512, or several in shares such as 2x512=0.7,8x1024=0.3";
	prefixes->count = 0;
	if (share_list_parse(&prefixes->shares, text, expected, err) < 0)
		return -1;
	free(prefixes->groups);
	prefixes->groups = calloc(prefixes->shares.count, sizeof *prefixes->groups);
	if (!prefixes->groups)
		return ipf_error_memory(err);
	for (size_t i = 0; i < prefixes->shares.count; i++) {
		struct prefix_group *group = &prefixes->groups[i];
		group->first = prefixes->count;
		if (!parse_group(prefixes->shares.items[i].name, group) ||
		    __builtin_add_overflow(prefixes->count, group->count, &prefixes->count))
			return ipf_error_set(err, IPF_USAGE, "expected %s, got \"%s\"", expected, text);
	}
	return 0;
}

void prefix_groups_release(struct prefix_groups *prefixes)
{
	share_list_release(&prefixes->shares);
	free(prefixes->groups);
	*prefixes = (struct prefix_groups){0};
}

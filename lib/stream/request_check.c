#include "stream/request_check.h"

#include "error.h"

#include <string.h>

/* Tags are parsed for few requests only. */
static bool names(struct slice tags, const char *member)
{
	return memmem(tags.data, tags.len, member, strlen(member)) != NULL;
}

enum request_check request_check_of(struct slice tags, struct jdoc *doc)
{
	if (!tags.data || (!names(tags, "\"canary\"") && !names(tags, "\"repeat\"")))
		return CHECK_NONE;
	struct ipf_error ignored = {0};
	if (jdoc_parse(doc, tags.data, tags.len, &ignored) < 0 || jdoc_type_of(doc, JDOC_ROOT) != JDOC_MAP) {
		ipf_error_clear(&ignored);
		return CHECK_NONE;
	}
	if (jdoc_type_of(doc, jdoc_get(doc, JDOC_ROOT, "canary")) == JDOC_MAP)
		return CHECK_CANARY;
	const jdoc_id repeat = jdoc_get(doc, JDOC_ROOT, "repeat");
	return jdoc_type_of(doc, repeat) == JDOC_BOOL && slice_is(jdoc_raw(doc, repeat), "true") ? CHECK_REPEAT
	                                                                                         : CHECK_NONE;
}

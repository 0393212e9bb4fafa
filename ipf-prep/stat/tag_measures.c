#include "stat/tag_measures.h"

#include <string.h>

static bool is_measure(const char *name, size_t len)
{
	static const char *const units[] = {"_s", "_ms", "_tokens"};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t unit = strlen(units[i]);
		if (len > unit && memcmp(name + len - unit, units[i], unit) == 0)
			return true;
	}
	return false;
}

static struct samples *find(struct tag_measures *t, const char *name, size_t len)
{
	int i = 0;
	while (i < t->count && (strlen(t->names[i]) != len || memcmp(t->names[i], name, len) != 0))
		i++;
	if (i == TAG_MEASURES_MAX || len >= sizeof t->names[0])
		return NULL;
	if (i == t->count) {
		memcpy(t->names[i], name, len);
		t->names[i][len] = '\0';
		t->count++;
	}
	return &t->samples[i];
}

void tag_measures_add(struct tag_measures *t, struct slice tags, struct jdoc *scratch)
{
	struct ipf_error ignored = {0}; /* tags are passed on unchecked */
	double value;
	if (!tags.data || jdoc_parse(scratch, tags.data, tags.len, &ignored) < 0 ||
	    jdoc_type_of(scratch, JDOC_ROOT) != JDOC_MAP)
		return;
	for (struct jdoc_each e = jdoc_each(scratch, JDOC_ROOT); jdoc_step(&e);) {
		struct slice key = jdoc_raw(scratch, e.key);
		struct samples *s = key.len > 2 && is_measure(key.data + 1, key.len - 2) &&
		                            jdoc_to_double(scratch, e.value, &value)
		                        ? find(t, key.data + 1, key.len - 2)
		                        : NULL;
		if (s)
			samples_add(s, value);
	}
}

void tag_measures_release(struct tag_measures *t)
{
	for (int i = 0; i < t->count; i++)
		samples_release(&t->samples[i]);
}

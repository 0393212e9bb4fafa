#include "sources/sniff.h"

#include <string.h>

/* Calls found(sniff, name) for each word of the list; false as soon as one is not found. */
static bool each_word(const char *names, bool (*found)(const struct sniff *sniff, const char *name),
                      const struct sniff *sniff)
{
	char name[64];
	while (*names) {
		size_t len = strcspn(names, " ");
		memcpy(name, names, len < sizeof name ? len : 0);
		name[len < sizeof name ? len : 0] = '\0';
		if (!found(sniff, name))
			return false;
		names += len + (names[len] == ' ');
	}
	return true;
}

static bool has_member(const struct sniff *sniff, const char *name)
{
	return jdoc_get(sniff->json, JDOC_ROOT, name) != JDOC_NONE;
}

static bool has_column(const struct sniff *sniff, const char *name)
{
	return csv_column(sniff->csv, name) >= 0;
}

bool sniff_members(const struct sniff *sniff, const char *names)
{
	return sniff->json && each_word(names, has_member, sniff);
}

bool sniff_columns(const struct sniff *sniff, const char *names)
{
	return sniff->csv && each_word(names, has_column, sniff);
}

bool sniff_text(const struct sniff *sniff, const char *text)
{
	return memmem(sniff->head.data, sniff->head.len, text, strlen(text)) != NULL;
}

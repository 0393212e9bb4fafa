#include "cli/key_values.h"

#include "cli/units.h"

#include <string.h>

#define MOST_PART 100
_Static_assert(KEY_VALUE_TEXT_SIZE > MOST_PART, "a text fits");

static int parse_choice(const char *text, const char *const *choices, int *choice, struct ipf_error *err)
{
	for (int i = 0; choices[i]; i++)
		if (strcmp(choices[i], text) == 0) {
			*choice = i;
			return 0;
		}
	return ipf_error_set(err, IPF_USAGE, "\"%s\" is not one of its values", text);
}

static int parse_value(const struct key_value *key, const char *text, void *into, struct ipf_error *err)
{
	void *at = (char *)into + key->offset;
	switch (key->kind) {
	case KEY_VALUE_COUNT:
		return parse_count(text, at, err);
	case KEY_VALUE_DURATION:
		return parse_duration(text, at, err);
	case KEY_VALUE_SIZE:
		return parse_size(text, at, err);
	case KEY_VALUE_SHARE:
		return parse_share(text, at, err);
	case KEY_VALUE_RATE:
		return parse_rate(text, at, err);
	case KEY_VALUE_TEXT:
		memcpy(at, text, strlen(text) + 1);
		return 0;
	case KEY_VALUE_CHOICE:
		break;
	}
	return parse_choice(text, key->choices, at, err);
}

static int parse_part(char *part, const struct key_value *keys, size_t count, void *into, struct ipf_error *err)
{
	char *equals = strchr(part, '=');
	struct ipf_error why = {0};
	if (equals)
		*equals = '\0';
	for (size_t i = 0; equals && i < count; i++) {
		if (strcmp(keys[i].name, part) != 0)
			continue;
		if (parse_value(&keys[i], equals + 1, into, &why) == 0)
			return 0;
		return ipf_error_set(err, IPF_USAGE, "%s: %s", part, why.text);
	}
	return ipf_error_set(err, IPF_USAGE, "unknown key \"%s\"", part);
}

int key_values_parse(const char *text, const struct key_value *keys, size_t count, void *into, struct ipf_error *err)
{
	while (*text) {
		char part[MOST_PART];
		size_t len = strcspn(text, ",");
		if (len >= sizeof part)
			return ipf_error_set(err, IPF_USAGE, "\"%s\" is too long", text);
		memcpy(part, text, len);
		part[len] = '\0';
		if (parse_part(part, keys, count, into, err) < 0)
			return -1;
		text += len + (text[len] == ',');
	}
	return 0;
}

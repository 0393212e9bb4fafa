#include "sources/field_names.h"

#include "clock.h"

#include <string.h>

static const struct {
	const char *name, *meaning;
} fields[FIELDS] = {
#define ROW(id, name_, meaning_) {name_, meaning_},
	EACH_FIELD(ROW)
#undef ROW
};

const char *field_name_of(enum field field)
{
	return fields[field].name;
}

const char *field_meaning(enum field field)
{
	return fields[field].meaning;
}

bool field_is_duration(enum field field)
{
	return field == FIELD_WAIT || field == FIELD_WAIT_AFTER || field == FIELD_DURATION ||
	       field == FIELD_RECORDED_TTFT || field == FIELD_RECORDED_E2E;
}

bool field_is_time(enum field field)
{
	return field == FIELD_AT || field == FIELD_END || field == FIELD_FIRST_TOKEN || field_is_duration(field);
}

enum field field_of_name(const char *name, size_t len, int64_t *unit_ns)
{
	static const struct {
		const char *suffix;
		int64_t ns;
	} units[] = {{"", NS_PER_S}, {"_s", NS_PER_S}, {"_ms", NS_PER_MS}, {"_us", NS_PER_US}, {"_ns", 1}};
	for (enum field f = 0; f < FIELDS; f++)
		for (size_t u = 0; u < (field_is_time(f) ? sizeof units / sizeof *units : 1); u++) {
			size_t base = strlen(fields[f].name), tail = strlen(units[u].suffix);
			if (len != base + tail || memcmp(name, fields[f].name, base) != 0 ||
			    memcmp(name + base, units[u].suffix, tail) != 0)
				continue;
			*unit_ns = units[u].ns;
			return f;
		}
	return FIELDS;
}

#include "gpu/gpu_sample.h"

#include "absent.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The members, in the order in which they are written. */
static const struct member {
	const char *key;
	enum { TEXT, INTEGER, NUMBER } type;
	size_t offset, size;
} members[] = {
#define TEXT_MEMBER(name_)                                                                                             \
	{                                                                                                                  \
		.key = #name_, .type = TEXT, .offset = offsetof(struct gpu_sample, name_),                                     \
		.size = sizeof((struct gpu_sample *)0)->name_                                                                  \
	}
#define INTEGER_MEMBER(name_)                                                                                          \
	{                                                                                                                  \
		.key = #name_, .type = INTEGER, .offset = offsetof(struct gpu_sample, name_)                                   \
	}
#define NUMBER_MEMBER(name_)                                                                                           \
	{                                                                                                                  \
		.key = #name_, .type = NUMBER, .offset = offsetof(struct gpu_sample, name_)                                    \
	}
	INTEGER_MEMBER(t_ns),
	TEXT_MEMBER(source),
	TEXT_MEMBER(host),
	TEXT_MEMBER(device),
	INTEGER_MEMBER(index),
	TEXT_MEMBER(model),
	NUMBER_MEMBER(utilization),
	INTEGER_MEMBER(memory_used_bytes),
	INTEGER_MEMBER(memory_total_bytes),
	NUMBER_MEMBER(memory_bandwidth),
	NUMBER_MEMBER(power_w),
	NUMBER_MEMBER(energy_j),
	INTEGER_MEMBER(sm_clock_hz),
	INTEGER_MEMBER(memory_clock_hz),
	NUMBER_MEMBER(temperature_c),
};

void gpu_sample_init(struct gpu_sample *s)
{
	*s = (struct gpu_sample){0};
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		char *field = (char *)s + members[i].offset;
		if (members[i].type == INTEGER)
			memcpy(field, &(int64_t){IPF_ABSENT}, sizeof(int64_t));
		else if (members[i].type == NUMBER)
			memcpy(field, &(double){NAN}, sizeof(double));
	}
}

void gpu_text_set(char *to, size_t size, struct slice text)
{
	size_t len = text.len < size ? text.len : size - 1;
	if (len < text.len) /* not within a character */
		while (len > 0 && ((unsigned char)text.data[len] & 0xc0) == 0x80)
			len--;
	if (len)
		memcpy(to, text.data, len);
	to[len] = '\0';
}

void gpu_sample_write(const struct gpu_sample *s, struct buffer *out)
{
	struct jout to = {.out = out};
	jout_begin_map(&to);
	jout_key(&to, "sample");
	jout_string0(&to, "gpu");
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		const struct member *m = &members[i];
		const char *field = (const char *)s + m->offset;
		int64_t integer;
		double number;
		if (m->type == TEXT) {
			if (*field)
				jout_member_string(&to, m->key, slice_of(field));
		} else if (m->type == INTEGER) {
			memcpy(&integer, field, sizeof integer);
			jout_member_int(&to, m->key, integer);
		} else {
			memcpy(&number, field, sizeof number);
			if (!isfinite(number))
				continue;
			jout_key(&to, m->key);
			jout_double(&to, number);
		}
	}
	if (s->mig) {
		jout_key(&to, "mig");
		jout_bool(&to, true);
	}
	jout_end_map(&to);
}

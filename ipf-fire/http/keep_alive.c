#include "http/keep_alive.h"

#include "clock.h"

#include <string.h>
#include <strings.h>

#define MARGIN_NS    NS_PER_S
#define SECONDS_MOST INT64_C(1000000000) /* more means: without end */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct slice trim(struct slice s)
{
	for (; s.len && is_blank(*s.data); s.len--)
		s.data++;
	while (s.len && is_blank(s.data[s.len - 1]))
		s.len--;
	return s;
}

/* `name=digits`, with quotes or without. */
static bool read_number(struct slice part, const char *name, int64_t *number)
{
	size_t len = strlen(name);
	if (part.len <= len || strncasecmp(part.data, name, len) != 0)
		return false;
	part = trim((struct slice){part.data + len, part.len - len});
	if (!part.len || *part.data != '=')
		return false;
	part = trim((struct slice){part.data + 1, part.len - 1});
	if (part.len > 2 && *part.data == '"' && part.data[part.len - 1] == '"')
		part = (struct slice){part.data + 1, part.len - 2};
	int64_t n = 0;
	for (size_t i = 0; i < part.len; i++) {
		if (part.data[i] < '0' || part.data[i] > '9')
			return false;
		if (n < SECONDS_MOST)
			n = 10 * n + (part.data[i] - '0');
	}
	*number = n < SECONDS_MOST ? n : SECONDS_MOST;
	return part.len > 0;
}

void keep_alive_read(struct keep_alive *k, struct slice value)
{
	while (value.len) {
		const char *comma = memchr(value.data, ',', value.len);
		struct slice part = {value.data, comma ? (size_t)(comma - value.data) : value.len};
		size_t used = part.len + (comma != NULL);
		int64_t n;
		value = (struct slice){value.data + used, value.len - used};
		part = trim(part);
		if (read_number(part, "timeout", &n))
			k->idle_ns = n * NS_PER_S < 2 * MARGIN_NS ? n * NS_PER_S / 2 : n * NS_PER_S - MARGIN_NS;
		else if (read_number(part, "max", &n) && n < k->requests)
			k->requests = n;
	}
}

void keep_alive_sent(struct keep_alive *k)
{
	if (k->requests != INT64_MAX && k->requests > 0)
		k->requests--;
}

bool keep_alive_over(const struct keep_alive *k, int64_t idle_ns)
{
	return k->requests == 0 || (k->idle_ns != INT64_MAX && idle_ns >= k->idle_ns);
}

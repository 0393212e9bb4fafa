#include "retry_after.h"

#include "absent.h"
#include "clock.h"
#include "http_date.h"

#include <strings.h>

#define MOST_NS RETRY_AFTER_MOST_NS

/* Takes a decimal number off the beginning of *text, in units of unit_ns. IPF_ABSENT: there is none. */
static int64_t take_number(struct slice *text, int64_t unit_ns)
{
	size_t i = 0, digits = 0;
	double value = 0, place = 1;
	for (; i < text->len && text->data[i] >= '0' && text->data[i] <= '9'; i++, digits++)
		value = value * 10 + (text->data[i] - '0');
	if (i < text->len && text->data[i] == '.')
		for (i++; i < text->len && text->data[i] >= '0' && text->data[i] <= '9'; i++, digits++)
			value += (text->data[i] - '0') * (place /= 10);
	if (!digits)
		return IPF_ABSENT;
	*text = (struct slice){text->data + i, text->len - i};
	double ns = value * (double)unit_ns + 0.5;
	return ns < (double)MOST_NS ? (int64_t)ns : MOST_NS;
}

/* "1m30s", as Go writes durations; "90", in seconds. IPF_ABSENT for anything else. */
static int64_t parse_go_duration(struct slice text)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"ns", 1},       {"us", 1000},         {"\xc2\xb5s", 1000},    {"ms", NS_PER_MS},
	             {"s", NS_PER_S}, {"m", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}, {"d", 86400 * NS_PER_S}};
	int64_t sum = 0;
	struct slice number = text;
	if (take_number(&number, 1) != IPF_ABSENT && !number.len)
		return take_number(&text, NS_PER_S);
	while (text.len) {
		size_t u = 0;
		number = text;
		if (take_number(&text, 1) == IPF_ABSENT)
			return IPF_ABSENT;
		while (u < sizeof units / sizeof *units &&
		       (strlen(units[u].name) > text.len || memcmp(units[u].name, text.data, strlen(units[u].name)) != 0))
			u++;
		if (u == sizeof units / sizeof *units)
			return IPF_ABSENT;
		sum += take_number(&number, units[u].ns);
		sum = sum < MOST_NS ? sum : MOST_NS;
		text = (struct slice){text.data + strlen(units[u].name), text.len - strlen(units[u].name)};
	}
	return sum;
}

/* A number and nothing else. */
static int64_t parse_number(struct slice text, int64_t unit_ns)
{
	int64_t ns = take_number(&text, unit_ns);
	return text.len ? IPF_ABSENT : ns;
}

void retry_after_note(struct retry_after *asked, struct slice name, struct slice value)
{
	static const char *const names[] = {NULL, "x-ratelimit-reset-requests", "retry-after", "retry-after-ms"};
	int rank = sizeof names / sizeof *names - 1;
	while (rank > 0 && (strlen(names[rank]) != name.len || strncasecmp(names[rank], name.data, name.len) != 0))
		rank--;
	if (rank <= asked->rank || !value.len)
		return;
	struct retry_after new = {.rank = rank};
	new.value = rank == 3   ? parse_number(value, NS_PER_MS)
	            : rank == 2 ? parse_number(value, NS_PER_S)
	                        : parse_go_duration(value);
	if (new.value == IPF_ABSENT && rank == 2) {
		new.value = http_date_parse(value);
		new.is_date = true;
	}
	if (new.value != IPF_ABSENT)
		*asked = new;
}

int64_t retry_after_ns(const struct retry_after *asked, int64_t now_s)
{
	if (!asked->rank)
		return IPF_ABSENT;
	if (!asked->is_date)
		return asked->value;
	int64_t seconds = asked->value - now_s;
	return seconds <= 0 ? 0 : seconds < MOST_NS / NS_PER_S ? seconds * NS_PER_S : MOST_NS;
}

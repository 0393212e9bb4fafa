#include "cache/cache_counters.h"

#include "metrics/server_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of a sample "NAME{labels} VALUE" or "NAME VALUE"; NAN: the line is another one. */
static double value_of(struct slice line, struct slice name)
{
	char number[40];
	if (line.len <= name.len + 1 || memcmp(line.data, name.data, name.len) != 0 || !strchr("{ ", line.data[name.len]))
		return NAN;
	/* a label may contain spaces and braces, but not the rest of the line */
	size_t begin = name.len;
	for (size_t i = line.len; line.data[name.len] == '{' && i-- > name.len;)
		if (line.data[i] == '}') {
			begin = i + 1;
			break;
		}
	while (begin < line.len && line.data[begin] == ' ')
		begin++;
	size_t len = line.len - begin < sizeof number - 1 ? line.len - begin : sizeof number - 1;
	memcpy(number, line.data + begin, len);
	number[len] = '\0';
	char *end;
	double value = strtod(number, &end);
	return end == number || !isfinite(value) ? NAN : value;
}

#define RANKS 2

/* By the rank of their names; -1: no such counter. */
struct sums {
	double queries[RANKS], hits[RANKS];
};

static void add(double sums[RANKS], const struct server_metric *m, struct slice line)
{
	double value = value_of(line, m->name);
	if (!isnan(value) && m->rank < RANKS)
		sums[m->rank] = fmax(0, sums[m->rank]) + value;
}

static void read_line(struct slice line, struct sums *sums)
{
	for (size_t i = 0; i < server_metrics_count; i++) {
		const struct server_metric *m = &server_metrics[i];
		if (m->label)
			continue;
		if (m->common == COMMON_CACHE_QUERY_TOKENS)
			add(sums->queries, m, line);
		else if (m->common == COMMON_CACHE_HIT_TOKENS)
			add(sums->hits, m, line);
	}
}

/* The lowest rank present counts: some servers have an old and a new name of one counter. */
static double lowest(const double sums[RANKS])
{
	for (int i = 0; i < RANKS; i++)
		if (sums[i] >= 0)
			return sums[i];
	return -1;
}

void cache_counters_read(struct slice text, struct cache_counters *counters)
{
	struct sums sums = {{-1, -1}, {-1, -1}};
	for (size_t at = 0; at < text.len;) {
		const char *newline = memchr(text.data + at, '\n', text.len - at);
		size_t end = newline ? (size_t)(newline - text.data) : text.len;
		if (end > at && text.data[at] != '#')
			read_line((struct slice){text.data + at, end - at}, &sums);
		at = end + 1;
	}
	*counters = (struct cache_counters){lowest(sums.queries), lowest(sums.hits)};
}

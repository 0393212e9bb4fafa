#include "objective/objective.h"

#include "buffer.h"
#include "cli/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct objective_rules objectives_any = {.of = OBJECTIVE_OF_BOTH};

/* The parts of "p99:ttft=500ms". */
struct parts {
	struct slice percentile; /* "99"; no data: none */
	struct slice name, limit;
};

/* "chat=ttft=500ms": of a class, a model or another part of the requests. */
static int wrong_place(const char *item, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "the objectives of a class belong to the trace: ipf-prep --slo %.200s", item);
}

static int wrong_form(const struct objective_rules *rules, const char *item, struct ipf_error *err)
{
	static const char *const examples[] = {[OBJECTIVE_OF_BOTH] = "ttft=500ms or p99:ttft=500ms",
	                                       [OBJECTIVE_OF_PERCENTILE] = "p99:ttft=500ms",
	                                       [OBJECTIVE_OF_REQUEST] = "ttft=500ms"};
	bool percentile = *item == 'p' && strchr(item, ':');
	return ipf_error_set(err, IPF_USAGE, "expected objectives such as %s, got \"%.200s\"%s", examples[rules->of], item,
	                     rules->of == OBJECTIVE_OF_REQUEST && percentile ? ": ipf-report --slo judges percentiles"
	                                                                     : "");
}

static bool is_allowed(const struct objective_rules *rules, enum metric m)
{
	return m < METRIC_COUNT && !metrics[m].server && (!rules->metrics || rules->metrics >> m & 1);
}

/* Lists the metrics allowed. */
static int wrong_name(const struct objective_rules *rules, const char *item, struct ipf_error *err)
{
	char names[320] = "";
	size_t len = 0;
	int left = 0;
	for (int m = 0; m < METRIC_COUNT; m++)
		left += is_allowed(rules, (enum metric)m);
	for (int m = 0; m < METRIC_COUNT && len < sizeof names; m++)
		if (is_allowed(rules, (enum metric)m)) {
			left--;
			len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", metrics[m].name,
			                        left > 1    ? ", "
			                        : left == 1 ? " or "
			                                    : "");
		}
	return ipf_error_set(err, IPF_USAGE, "expected %s before the \"=\", got \"%.100s\"", names, item);
}

static struct slice between(const char *from, const char *to)
{
	return (struct slice){from, (size_t)(to - from)};
}

/* Cuts an item into its parts. False: it is none. */
static bool cut(const char *item, struct parts *parts)
{
	const char *equals = strchr(item, '='), *end = item + strlen(item);
	if (!equals)
		return false;
	const char *colon = memchr(item, ':', (size_t)(equals - item));
	*parts = (struct parts){.name = between(colon ? colon + 1 : item, equals), .limit = between(equals + 1, end)};
	if (colon)
		parts->percentile = between(item + 1, colon);
	return !colon || *item == 'p';
}

static int read_percentile(struct slice text, double *percentile)
{
	char number[24];
	struct ipf_error ignored = {0};
	*percentile = NAN;
	if (!text.data)
		return 0;
	if (text.len == 0 || text.len >= sizeof number)
		return -1;
	snprintf(number, sizeof number, "%.*s", (int)text.len, text.data);
	return parse_number(number, percentile, &ignored) < 0 || *percentile <= 0 || *percentile >= 100 ? -1 : 0;
}

static int read_one(const char *item, const struct objective_rules *rules, struct objective *o, struct ipf_error *err)
{
	struct parts p;
	struct ipf_error reason = {0};
	char limit[sizeof o->text];
	if (!cut(item, &p) || read_percentile(p.percentile, &o->percentile) < 0 ||
	    (isnan(o->percentile) ? rules->of == OBJECTIVE_OF_PERCENTILE : rules->of == OBJECTIVE_OF_REQUEST))
		return wrong_form(rules, item, err);
	if (memchr(p.limit.data, '=', p.limit.len))
		return wrong_place(item, err);
	o->metric = metric_find(p.name.data, p.name.len);
	if (!is_allowed(rules, o->metric))
		return wrong_name(rules, item, err);
	snprintf(limit, sizeof limit, "%.*s", (int)p.limit.len, p.limit.data);
	if (parse_duration(limit, &o->limit_ns, &reason) < 0)
		return ipf_error_set(err, IPF_USAGE, "%s: %s", metrics[o->metric].name, reason.text);
	if (isnan(o->percentile))
		snprintf(o->text, sizeof o->text, "%s", item);
	else
		snprintf(o->text, sizeof o->text, "p%.*s:%.*s=%.*s", (int)p.percentile.len, p.percentile.data, (int)p.name.len,
		         p.name.data, (int)p.limit.len, p.limit.data);
	return 0;
}

int objectives_parse(const char *text, const struct objective_rules *rules, struct objective *list, int *count,
                     struct ipf_error *err)
{
	char item[sizeof list->text];
	do {
		size_t len = strcspn(text, ",");
		if (*count == OBJECTIVES_MOST)
			return ipf_error_set(err, IPF_USAGE, "expected at most %d objectives", OBJECTIVES_MOST);
		if (len >= sizeof item)
			return wrong_form(rules, text, err);
		memcpy(item, text, len);
		item[len] = '\0';
		if (read_one(item, rules, &list[*count], err) < 0)
			return -1;
		++*count;
		text += len;
	} while (*text++ == ',');
	return 0;
}

bool objective_begins(const char *text)
{
	size_t len = strcspn(text, "=,");
	const char *colon = memchr(text, ':', len);
	if (text[len] != '=')
		return false;
	if (!colon)
		return metric_find(text, len) < METRIC_COUNT;
	return *text == 'p' && metric_find(colon + 1, len - (size_t)(colon + 1 - text)) < METRIC_COUNT;
}

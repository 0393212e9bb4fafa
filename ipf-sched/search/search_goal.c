#include "search/search_goal.h"

#include "absent.h"
#include "cli/units.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset;
	bool from_start, of_stream;
} latencies[LATENCY_COUNT] = {
	[LATENCY_TTFT] = {"ttft", offsetof(struct result, ttft_ns), true, true},
	[LATENCY_TTFA] = {"ttfa", offsetof(struct result, ttfa_ns), true, true},
	[LATENCY_E2E] = {"e2e", offsetof(struct result, e2e_ns), true, false},
	[LATENCY_TPOT] = {"tpot", offsetof(struct result, tpot_ns), false, true},
	[LATENCY_NTPOT] = {"ntpot", offsetof(struct result, ntpot_ns), false, false},
	[LATENCY_ITL] = {"itl_mean", offsetof(struct result, itl_mean_ns), false, true},
};

static enum latency latency_find(const char *name, size_t len)
{
	int i = 0;

	while (i < LATENCY_COUNT && (strlen(latencies[i].name) != len || memcmp(latencies[i].name, name, len) != 0))
		i++;
	return (enum latency)i;
}

bool search_goal_begins(const char *text)
{
	return text[strcspn(text, "=,")] == '=' && latency_find(text, strcspn(text, "=")) < LATENCY_COUNT;
}

/* "99" or "99.9": what follows "@p". */
static int read_percentile(const char *text, double *share)
{
	struct ipf_error ignored = {0};
	double percent;

	if (parse_number(text, &percent, &ignored) < 0 || percent <= 0 || percent >= 100)
		return -1;
	*share = percent / 100;
	return 0;
}

static int read_one(const char *text, struct search_goal *goal, struct ipf_error *err)
{
	const char *equals = strchr(text, '='), *at = strstr(text, "@p");
	struct ipf_error what = {0};
	char limit[sizeof goal->text];

	snprintf(goal->text, sizeof goal->text, "%s", text);
	if (!equals || !at || at < equals || read_percentile(at + 2, &goal->share) < 0)
		return ipf_error_set(err, IPF_USAGE, "expected goals such as ttft=500ms@p99, got \"%.200s\"", text);
	goal->latency = latency_find(text, (size_t)(equals - text));
	if (goal->latency == LATENCY_COUNT)
		return ipf_error_set(
			err, IPF_USAGE, "expected ttft, ttfa, e2e, tpot, ntpot or itl_mean before the \"=\", got \"%.200s\"", text);
	snprintf(limit, sizeof limit, "%.*s", (int)(at - equals - 1), equals + 1);
	if (parse_duration(limit, &goal->limit_ns, &what) < 0)
		return ipf_error_set(err, IPF_USAGE, "%.*s: %s", (int)(equals - text), text, what.text);
	return 0;
}

int search_goals_parse(const char *text, struct search_goals *goals, struct ipf_error *err)
{
	char one[sizeof goals->list->text];

	for (;;) {
		size_t len = strcspn(text, ",");
		if (goals->count == (int)(sizeof goals->list / sizeof *goals->list))
			return ipf_error_set(err, IPF_USAGE, "expected at most %d goals", goals->count);
		if (len >= sizeof one)
			return ipf_error_set(err, IPF_USAGE, "expected goals such as ttft=500ms@p99, got \"%.200s\"", text);
		memcpy(one, text, len);
		one[len] = '\0';
		if (read_one(one, &goals->list[goals->count++], err) < 0)
			return -1;
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

const char *search_goal_of_stream(const struct search_goal *goal)
{
	return latencies[goal->latency].of_stream ? latencies[goal->latency].name : NULL;
}

int64_t latency_of(const struct result *result, enum latency latency)
{
	int64_t value;

	memcpy(&value, (const char *)result + latencies[latency].offset, sizeof value);
	if (value != IPF_ABSENT && latencies[latency].from_start && result->lag_ns != IPF_ABSENT)
		value += result->lag_ns;
	return value;
}

#include "engine_options.h"

#include "batching/batching.h"
#include "cli/key_values.h"
#include "cli/units.h"
#include "clock.h"

#include <string.h>

#define MOST_TIER_BLOCKS (1 << 26)

/* The text before `mark`, into `part` of `size` bytes; returns the text after it, NULL if there is no mark. */
static const char *split_at(const char *text, char mark, char *part, size_t size)
{
	const char *at = strchr(text, mark);
	size_t len = at ? (size_t)(at - text) : size;
	if (len >= size)
		return NULL;
	memcpy(part, text, len);
	part[len] = '\0';
	return at + 1;
}

int engine_parse_drift(const char *text, void *pace, struct ipf_error *err)
{
	struct batching_pace *p = pace;
	char share[32];
	struct ipf_error why = {0};
	bool rises = *text == '-';
	const char *period = split_at(text + rises, '/', share, sizeof share);
	if (!period || parse_share(share, &p->drift, &why) < 0 || parse_duration(period, &p->drift_ns, &why) < 0 ||
	    p->drift > 0.99 || p->drift_ns < NS_PER_MS)
		return ipf_error_set(err, IPF_USAGE, "expected SHARE/TIME such as 2%%/10s, got \"%s\"", text);
	if (rises)
		p->drift = -p->drift;
	return 0;
}

int engine_parse_warm_up(const char *text, void *pace, struct ipf_error *err)
{
	struct batching_pace *p = pace;
	char time[32];
	struct ipf_error why = {0};
	const char *factor = split_at(text, ':', time, sizeof time);
	if (!factor || parse_duration(time, &p->warm_ns, &why) < 0 || parse_number(factor, &p->warm_factor, &why) < 0 ||
	    !(p->warm_factor >= 0.01 && p->warm_factor <= 1000))
		return ipf_error_set(err, IPF_USAGE, "expected TIME:FACTOR such as 5s:3, got \"%s\"", text);
	return 0;
}

int engine_parse_pause(const char *text, void *pace, struct ipf_error *err)
{
	struct batching_pace *p = pace;
	char time[32];
	struct ipf_error why = {0};
	const char *period = split_at(text, '/', time, sizeof time);
	if (!period || parse_duration(time, &p->pause_ns, &why) < 0 ||
	    parse_duration(period, &p->pause_every_ns, &why) < 0 || p->pause_ns < 1 || p->pause_every_ns < NS_PER_MS)
		return ipf_error_set(err, IPF_USAGE, "expected TIME/TIME such as 50ms/2s, got \"%s\"", text);
	return 0;
}

int engine_parse_tier(const char *text, void *tier, struct ipf_error *err)
{
	static const struct key_value keys[] = {{"rate", KEY_VALUE_RATE, offsetof(struct batching_tier, rate), NULL}};
	struct batching_tier *t = tier;
	char blocks[32];
	struct ipf_error why = {0};
	const char *rest = split_at(text, ',', blocks, sizeof blocks);
	if (parse_count(rest ? blocks : text, &t->blocks, &why) < 0 || t->blocks > MOST_TIER_BLOCKS)
		return ipf_error_set(err, IPF_USAGE, "expected BLOCKS[,rate=TOKENS/S], at most %d blocks, got \"%s\"",
		                     MOST_TIER_BLOCKS, text);
	if (rest && key_values_parse(rest, keys, 1, tier, err) < 0)
		return -1;
	return t->rate > 0 ? 0 : ipf_error_set(err, IPF_USAGE, "rate: expected more than 0");
}

int engine_parse_spec(const char *text, void *spec, struct ipf_error *err)
{
	static const struct key_value keys[] = {
		{"tokens", KEY_VALUE_COUNT, offsetof(struct batching_spec, tokens), NULL},
		{"accept", KEY_VALUE_SHARE, offsetof(struct batching_spec, accept), NULL},
		{"draft", KEY_VALUE_DURATION, offsetof(struct batching_spec, draft_ns), NULL},
	};
	struct batching_spec *s = spec;
	if (key_values_parse(text, keys, sizeof keys / sizeof *keys, spec, err) < 0)
		return -1;
	if (s->tokens < 1 || s->tokens > BATCHING_MOST_DRAFT)
		return ipf_error_set(err, IPF_USAGE, "tokens: expected 1 to %d", BATCHING_MOST_DRAFT);
	return 0;
}

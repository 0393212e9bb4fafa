#include "verdict/declared_cache.h"

#include "safe_text.h"

#include <stdio.h>
#include <string.h>

const char *declared_cache_state(const json_t *header)
{
	const char *state = json_string_value(json_object_get(header, "cache"));
	return state && (!strcmp(state, "cold") || !strcmp(state, "warm")) ? state : "as-is";
}

/* `before`: "the run". */
static void judge_reset(struct verdict *v, const json_t *reset, const char *before)
{
	const char *outcome = json_string_value(json_object_get(reset, "outcome")),
			   *why = json_string_value(json_object_get(reset, "why"));
	if (!outcome || !strcmp(outcome, "verified"))
		return;
	if (!strcmp(outcome, "unverified"))
		verdict_note(v, VERDICT_SERVER, VERDICT_DOUBTFUL, "the prefix cache may not have been cold before %s: %s",
		             shown(before).text, shown(why ? why : "the reset is unverified").text);
	else
		verdict_note(v, VERDICT_SERVER, VERDICT_INVALID, "the prefix cache was not cold before %s, as declared: %s",
		             shown(before).text, shown(why ? why : outcome).text);
}

void declared_cache_begin(struct verdict *v, const json_t *header)
{
	const char *state = declared_cache_state(header);
	json_t *reset, *resets = json_object_get(header, "cache_reset"), *warm = json_object_get(header, "cache_warm");
	int64_t failed = json_integer_value(json_object_get(warm, "failed"));
	size_t i;
	if (!strcmp(state, "cold") && !json_array_size(resets))
		verdict_note(v, VERDICT_SERVER, VERDICT_INVALID, "the prefix cache was declared cold, but was not reset");
	if (!strcmp(state, "cold"))
		json_array_foreach(resets, i, reset) judge_reset(v, reset, "the run");
	if (!strcmp(state, "warm"))
		verdict_cache_filled(v);
	if (failed > 0)
		verdict_note(v, VERDICT_SERVER, VERDICT_DOUBTFUL,
		             "the prefix cache was not warm, as declared: %lld of %lld requests to fill it failed",
		             (long long)failed, (long long)json_integer_value(json_object_get(warm, "requests")));
}

void declared_cache_resets(struct verdict *v, const json_t *trailer, const struct schedule *schedule)
{
	json_t *reset;
	size_t i;
	char before[200];
	json_array_foreach(json_object_get(trailer, "cache_reset"), i, reset)
	{
		json_int_t stage = json_integer_value(json_object_get(reset, "stage"));
		if (schedule && stage >= 0 && (size_t)stage < schedule->count)
			snprintf(before, sizeof before, "stage %.150s", schedule->stages[stage].name);
		else
			snprintf(before, sizeof before, "stage %lld", (long long)stage + 1);
		judge_reset(v, reset, before);
	}
}

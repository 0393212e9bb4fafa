#include "run/retry_rule.h"

#include "absent.h"
#include "cli/key_values.h"
#include "cli/units.h"
#include "clock.h"
#include "stats/rng.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_LEAST_NS NS_PER_MS

struct parsed {
	char on[KEY_VALUE_TEXT_SIZE];
	int64_t first_ns, cap_ns;
};

static int add_status(struct retry_rule *rule, const char *word, struct ipf_error *err)
{
	char *end;
	long status = strtol(word, &end, 10);
	if (strcmp(word, "connect") == 0) {
		rule->connect = true;
		return 0;
	}
	if (*end || end == word || status < 300 || status > 599)
		return ipf_error_set(err, IPF_USAGE,
		                     "on: expected statuses from 300 to 599, or connect, such as 429+503, got \"%s\"", word);
	if (rule->status_count == RETRY_STATUSES_MOST)
		return ipf_error_set(err, IPF_USAGE, "on: expected at most %d statuses", RETRY_STATUSES_MOST);
	rule->statuses[rule->status_count++] = (int)status;
	return 0;
}

static int add_words(struct retry_rule *rule, char *on, struct ipf_error *err)
{
	for (char *word = on, *next; word; word = next) {
		if ((next = strchr(word, '+')))
			*next++ = '\0';
		if (add_status(rule, word, err) < 0)
			return -1;
	}
	return 0;
}

int retry_rule_parse(const char *text, void *variable, struct ipf_error *err)
{
	static const struct key_value keys[] = {
		{"on", KEY_VALUE_TEXT, offsetof(struct parsed, on), NULL},
		{"first", KEY_VALUE_DURATION, offsetof(struct parsed, first_ns), NULL},
		{"cap", KEY_VALUE_DURATION, offsetof(struct parsed, cap_ns), NULL},
	};
	struct retry_rule *rule = variable;
	struct parsed parsed = {.on = "429+503", .first_ns = NS_PER_S, .cap_ns = 60 * NS_PER_S};
	struct ipf_error why = {0};
	char count[16] = "";
	size_t len = strcspn(text, ",");
	memcpy(count, text, len < sizeof count ? len : 0);
	*rule = (struct retry_rule){.text = text, .seed = rule->seed};
	if (parse_count(count, &rule->most, &why) < 0 || rule->most < 1 || rule->most > RETRIES_MOST)
		return ipf_error_set(err, IPF_USAGE, "expected 1 to %d, and KEY=VALUE after commas, got \"%s\"", RETRIES_MOST,
		                     text);
	if (key_values_parse(text + len + (text[len] == ','), keys, sizeof keys / sizeof *keys, &parsed, err) < 0 ||
	    add_words(rule, parsed.on, err) < 0)
		return -1;
	if (parsed.first_ns < WAIT_LEAST_NS || parsed.cap_ns < parsed.first_ns)
		return ipf_error_set(err, IPF_USAGE, "expected first to be 1ms or more, and cap no less than first, got \"%s\"",
		                     text);
	rule->first_ns = parsed.first_ns;
	rule->cap_ns = parsed.cap_ns;
	return 0;
}

bool retry_rule_applies(const struct retry_rule *rule, bool connect_failed, int64_t status)
{
	if (connect_failed)
		return rule->connect;
	for (size_t i = 0; i < rule->status_count; i++)
		if (rule->statuses[i] == status)
			return true;
	return false;
}

int64_t retry_rule_wait(const struct retry_rule *rule, int64_t n, int64_t attempt, int64_t asked_ns)
{
	if (attempt > rule->most || (asked_ns != IPF_ABSENT && asked_ns > rule->cap_ns))
		return IPF_ABSENT;
	if (asked_ns != IPF_ABSENT)
		return asked_ns;
	int64_t most = rule->first_ns;
	for (int64_t i = 1; i < attempt && most < rule->cap_ns; i++)
		most = most > rule->cap_ns / 2 ? rule->cap_ns : 2 * most;
	struct rng rng;
	rng_init(&rng, rule->seed + (uint64_t)n, "retry", (uint64_t)attempt);
	return most - (int64_t)(0.5 * (double)most * rng_uniform(&rng));
}

json_t *retry_rule_json(const struct retry_rule *rule)
{
	json_t *json = json_pack("{s:I, s:[], s:I, s:I}", "most", (json_int_t)rule->most, "on", "first_ns",
	                         (json_int_t)rule->first_ns, "cap_ns", (json_int_t)rule->cap_ns);
	json_t *on = json_object_get(json, "on");
	int bad = json ? 0 : -1;
	for (size_t i = 0; json && i < rule->status_count; i++)
		bad |= json_array_append_new(on, json_integer(rule->statuses[i]));
	if (json && rule->connect)
		bad |= json_array_append_new(on, json_string("connect"));
	if (bad)
		json_decref(json);
	return bad ? NULL : json;
}

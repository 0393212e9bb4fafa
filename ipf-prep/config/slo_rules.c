#include "config/slo_rules.h"

#include "array.h"
#include "json/jout.h"
#include "objective/objective.h"

#include <stdlib.h>
#include <string.h>

static int wrong_form(const char *text, struct ipf_error *err)
{
	return ipf_error_set(
		err, IPF_USAGE,
		"expected METRIC=TIME,… such as ttft=500ms,tpot=50ms, optionally with KEY=VALUE: before it, got \"%s\"", text);
}

/* KEY=VALUE */
static int parse_condition(struct slo_rule *rule, const char *text, size_t len, const char *whole,
                           struct ipf_error *err)
{
	const char *equals = memchr(text, '=', len);
	if (!equals || equals == text || equals + 1 == text + len)
		return wrong_form(whole, err);
	rule->key = strndup(text, (size_t)(equals - text));
	rule->value = strndup(equals + 1, (size_t)(text + len - equals - 1));
	return rule->key && rule->value ? 0 : ipf_error_memory(err);
}

/* METRIC=TIME,… */
static int parse_objectives(struct slo_rule *rule, const char *text, struct ipf_error *err)
{
	const struct objective_rules rules = {.of = OBJECTIVE_OF_REQUEST};
	struct objective list[OBJECTIVES_MOST];
	struct jout w = {.out = &rule->objectives};
	int count = 0;
	if (objectives_parse(text, &rules, list, &count, err) < 0)
		return -1;
	jout_begin_map(&w);
	for (int i = 0; i < count; i++) {
		jout_key(&w, metrics[list[i].metric].name);
		jout_string(&w, slice_of(strchr(list[i].text, '=') + 1));
	}
	jout_end_map(&w);
	return rule->objectives.failed ? ipf_error_memory(err) : 0;
}

int slo_rules_add(struct slo_rules *rules, const char *text, struct ipf_error *err)
{
	if (!array_one_more(rules->items, rules->count))
		return ipf_error_memory(err);
	struct slo_rule *rule = &rules->items[rules->count++];
	*rule = (struct slo_rule){0};
	const char *colon = objective_begins(text) ? NULL : strrchr(text, ':');
	if (colon && parse_condition(rule, text, (size_t)(colon - text), text, err) < 0)
		return -1;
	return parse_objectives(rule, colon ? colon + 1 : text, err);
}

static bool applies(const struct slo_rule *rule, struct slice model, struct slice tags, struct jdoc *scratch)
{
	struct ipf_error ignored = {0};
	if (!rule->key)
		return true;
	if (strcmp(rule->key, "model") == 0 && model.data)
		return slice_is(model, rule->value);
	if (!tags.data || jdoc_parse(scratch, tags.data, tags.len, &ignored) < 0)
		return false;
	jdoc_id tag = jdoc_get(scratch, JDOC_ROOT, rule->key);
	return jdoc_type_of(scratch, tag) == JDOC_TEXT ? jdoc_text_is(scratch, tag, rule->value)
	                                               : tag != JDOC_NONE && slice_is(jdoc_raw(scratch, tag), rule->value);
}

struct slice slo_rules_apply(const struct slo_rules *rules, struct slice model, struct slice tags, struct jdoc *scratch)
{
	for (size_t i = rules->count; i-- > 0;)
		if (applies(&rules->items[i], model, tags, scratch))
			return buffer_all(&rules->items[i].objectives);
	return (struct slice){0};
}

void slo_rules_release(struct slo_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++) {
		free(rules->items[i].key);
		free(rules->items[i].value);
		buffer_release(&rules->items[i].objectives);
	}
	free(rules->items);
	*rules = (struct slo_rules){0};
}

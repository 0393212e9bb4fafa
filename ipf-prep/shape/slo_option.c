#include "shape/slo_option.h"

#include "json/jout.h"
#include "stream/metric.h"
#include "cli/units.h"

#include <stdlib.h>
#include <string.h>

#define FORM "--slo: expected METRIC=TIME,… such as ttft=500ms,tpot=50ms, and perhaps KEY=VALUE: before it, got \"%s\""

static int parse_whom(struct goal *g, const char *text, size_t len)
{
	const char *equals = memchr(text, '=', len);
	if (!equals || equals == text || equals + 1 == text + len)
		return -1;
	g->key = strndup(text, (size_t)(equals - text));
	g->value = strndup(equals + 1, (size_t)(text + len - equals - 1));
	return 0;
}

static int parse_limits(struct goal *g, const char *text, struct ipf_error *err)
{
	struct jout w = {.out = &g->json};
	jout_begin_map(&w);
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ","), name = strcspn(at, "=");
		char limit[32];
		int64_t ns;
		struct ipf_error why = {0};
		if (name >= len || len - name >= sizeof limit)
			return ipf_error_set(err, IPF_USAGE, FORM, text);
		enum metric metric = metric_find(at, name);
		if (metric == METRIC_COUNT)
			return ipf_error_set(err, IPF_USAGE, "--slo: \"%.*s\" is no metric of ipf-report's", (int)name, at);
		snprintf(limit, sizeof limit, "%.*s", (int)(len - name - 1), at + name + 1);
		if (parse_duration(limit, &ns, &why) < 0)
			return ipf_error_set(err, IPF_USAGE, "--slo: %s", why.text);
		jout_key(&w, metrics[metric].name);
		jout_string(&w, slice_of(limit));
		at += len;
		if (!*at)
			break;
	}
	jout_end_map(&w);
	return 0;
}

int slo_option_parse(struct slo_option *goals, const struct string_list *options, struct ipf_error *err)
{
	if (options->count == 0)
		return 0;
	goals->list = calloc(options->count, sizeof *goals->list);
	if (!goals->list)
		return ipf_error_memory(err);
	for (; goals->count < options->count; goals->count++) {
		struct goal *g = &goals->list[goals->count];
		const char *text = options->items[goals->count], *colon = strrchr(text, ':');
		int status = colon && parse_whom(g, text, (size_t)(colon - text)) < 0
		                 ? ipf_error_set(err, IPF_USAGE, FORM, text)
		                 : parse_limits(g, colon ? colon + 1 : text, err);
		if (status == 0 && (g->json.failed || (colon && (!g->key || !g->value))))
			status = ipf_error_memory(err);
		if (status < 0) {
			goals->count++; /* what there is of it is freed */
			return -1;
		}
	}
	return 0;
}

static bool fits(struct slo_option *goals, const struct goal *g, struct slice model, struct slice tags)
{
	struct ipf_error ignored = {0};
	if (!g->key)
		return true;
	if (strcmp(g->key, "model") == 0 && model.data)
		return slice_is(model, g->value);
	if (!tags.data || jdoc_parse(&goals->tags, tags.data, tags.len, &ignored) < 0)
		return false;
	jdoc_id tag = jdoc_get(&goals->tags, JDOC_ROOT, g->key);
	return jdoc_type_of(&goals->tags, tag) == JDOC_TEXT
	           ? jdoc_text_is(&goals->tags, tag, g->value)
	           : tag != JDOC_NONE && slice_is(jdoc_raw(&goals->tags, tag), g->value);
}

struct slice slo_option_of(struct slo_option *goals, struct slice model, struct slice tags)
{
	for (size_t i = goals->count; i-- > 0;)
		if (fits(goals, &goals->list[i], model, tags))
			return buffer_all(&goals->list[i].json);
	return (struct slice){0};
}

void slo_option_release(struct slo_option *goals)
{
	for (size_t i = 0; i < goals->count; i++) {
		free(goals->list[i].key);
		free(goals->list[i].value);
		buffer_release(&goals->list[i].json);
	}
	free(goals->list);
	jdoc_release(&goals->tags);
}

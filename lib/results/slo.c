#include "results/slo.h"

#include "absent.h"
#include "cli/units.h"

#include <math.h>
#include <string.h>

int slo_parse(struct slo *slo, const char *text, struct ipf_error *err)
{
	int status = objectives_parse(text, &objectives_any, slo->list, &slo->count, err);
	for (int i = 0; i < slo->count; i++)
		slo->per_request |= isnan(slo->list[i].percentile);
	return status;
}

enum attained { MISSED, MET, UNMEASURED };

/* The meaning of a missing figure of a successful answer for its objective. */
static enum attained attains_without(const struct result *result, enum metric m)
{
	if (m >= METRIC_LATENCIES || ((m == METRIC_ATTEMPT_TTFT || m == METRIC_ATTEMPT_E2E) && result->attempts < 2))
		return MET;
	if (metrics[m].of_tokens && result->output_tokens == 1)
		return MET;
	return metrics[m].of_stream && result_not_streamed(result) != RESULT_STREAMED ? UNMEASURED : MISSED;
}

static enum attained attains(const struct result *result, enum metric m, int64_t limit_ns)
{
	int64_t value = metric_of_result(result, m);
	if (!result->ok)
		return MISSED;
	if (value == IPF_ABSENT)
		return attains_without(result, m);
	if (metrics[m].from_due && result->lag_ns != IPF_ABSENT)
		value += result->lag_ns;
	return value <= limit_ns ? MET : MISSED;
}

/* Reads an objective of the request itself: its metric and limit. 1; 0: the metric is unknown; -1: invalid. */
static int own_objective(const struct jdoc *doc, const struct jdoc_each *e, enum metric *m, int64_t *limit_ns,
                         struct ipf_error *err)
{
	struct slice key = jdoc_raw(doc, e->key);
	if (key.len < 3)
		return 0;
	const char *name = key.data + 1;
	size_t len = key.len - 2;
	bool ms = len > 3 && memcmp(name + len - 3, "_ms", 3) == 0, ns = len > 3 && memcmp(name + len - 3, "_ns", 3) == 0;
	*m = metric_find(name, ms || ns ? len - 3 : len);
	if (*m == METRIC_COUNT)
		return 0;
	char what[48];
	snprintf(what, sizeof what, "slo.%.*s", (int)len, name);
	double number;
	if (ms || ns) {
		if (!jdoc_to_double(doc, e->value, &number) || number < 0 || number > 1e15)
			return jdoc_expected(doc, e->value, what, "a number of 0 or more", err);
		*limit_ns = (int64_t)llround(ms ? number * 1e6 : number);
		return 1;
	}
	struct slice raw = jdoc_raw(doc, e->value);
	char text[32];
	struct ipf_error ignored = {0};
	snprintf(text, sizeof text, "%.*s", raw.len > 2 && raw.len < sizeof text ? (int)raw.len - 2 : 0, raw.data + 1);
	if (jdoc_type_of(doc, e->value) != JDOC_TEXT || parse_duration(text, limit_ns, &ignored) < 0)
		return jdoc_expected(doc, e->value, what, "a duration such as \"500ms\"", err);
	return 1;
}

static enum attained worse(enum attained a, enum attained b)
{
	return a == MISSED || b == MISSED ? MISSED : a == UNMEASURED || b == UNMEASURED ? UNMEASURED : MET;
}

/* The request's own objectives. 0; -1: they are invalid. */
static int judge_own(const struct result *result, struct jdoc *doc, bool own[METRIC_COUNT + 1], enum attained *worst,
                     struct ipf_error *err)
{
	if (jdoc_parse(doc, result->slo.data, result->slo.len, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
		enum metric m;
		int64_t limit_ns;
		int got = own_objective(doc, &e, &m, &limit_ns, err);
		if (got < 0)
			return -1;
		if (got == 0)
			continue;
		own[m] = own[METRIC_COUNT] = true;
		*worst = worse(*worst, attains(result, m, limit_ns));
	}
	return 0;
}

int slo_judge(const struct slo *slo, const struct result *result, struct jdoc *doc, struct slo_marks *marks,
              struct ipf_error *err)
{
	bool own[METRIC_COUNT + 1] = {false}; /* the last one: any of them */
	enum attained worst = result->ok ? MET : MISSED;
	*marks = (struct slo_marks){0};
	if (result_check(result) != RESULT_CHECKS)
		return SLO_NONE;
	if (result->slo.data && judge_own(result, doc, own, &worst, err) < 0)
		return -1;
	for (int i = 0; i < slo->count; i++) {
		const struct objective *objective = &slo->list[i];
		enum attained a = attains(result, objective->metric, objective->limit_ns);
		if (a == MET)
			marks->met |= UINT32_C(1) << i;
		else if (a == UNMEASURED)
			marks->unmeasured |= UINT32_C(1) << i;
		else if (result->ok && metric_of_result(result, objective->metric) == IPF_ABSENT)
			marks->absent |= UINT32_C(1) << i;
		if (isnan(objective->percentile) && !own[objective->metric])
			worst = worse(worst, a);
	}
	if (!slo->per_request && !own[METRIC_COUNT])
		return SLO_NONE;
	if (result_uncounted(result))
		return SLO_LEFT_OUT;
	return worst == MET ? SLO_GOOD : worst == MISSED ? SLO_MISSED : SLO_UNMEASURED;
}

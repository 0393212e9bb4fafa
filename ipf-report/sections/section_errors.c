/* Why requests failed, and which objectives were met. */
#include "sections/sections.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REASONS_BRIEF = 6 };

static double requests_of(json_t *block)
{
	double ok = figure_at(block, "requests/ok"), failed = figure_at(block, "requests/failed"),
		   hung_up = figure_at(block, "requests/hung_up");
	return (isnan(ok) ? 0 : ok) + (isnan(failed) ? 0 : failed) + (isnan(hung_up) ? 0 : hung_up);
}

/* "503 ×30: model is loading", with what may help. The most frequent come first. */
static void tell_reasons(const struct telling *t)
{
	json_t *reasons = json_at(t->report, "errors"), *reason;
	int64_t rest = 0;
	char a[40];
	size_t i;
	json_array_foreach(reasons, i, reason)
	{
		const char *text = text_at(reason, "text"), *hint = text_at(reason, "hint");
		json_int_t count = json_integer_value(json_at(reason, "count"));
		if (t->brief && i >= REASONS_BRIEF && json_array_size(reasons) > REASONS_BRIEF + 1) {
			rest += count;
			continue;
		}
		const char *what = isnan(figure_at(reason, "status")) ? text_at(reason, "kind")
		                                                      : doc_say(t->d, "%.0f", figure_at(reason, "status"));
		struct doc_part *part = doc_fact(t->d, doc_say(t->d, "%s ×%s", what, show_count(count, a)), "%s",
		                                 text ? text : "");
		part->hint = doc_copy(t->d, hint);
	}
	if (rest > 0)
		doc_fact(t->d, NULL, "%s more for other reasons", show_count(rest, a));
}

void section_errors(const struct telling *t)
{
	json_t *requests = json_at(t->total, "requests"), *count;
	double ok = figure_at(requests, "ok"), failed = figure_at(requests, "failed"), all = ok + failed;
	struct buffer kinds = {0};
	char a[40], b[40], c[40];
	const char *kind;
	if (requests_of(t->total) == 0 || isnan(failed)) /* not known */
		return;
	if (failed == 0)
		doc_fact(t->d, NULL, "none in %s request%s", show_whole(all, a), plural(all));
	else
		doc_fact(t->d, NULL, "%s of %s request%s failed, %s", show_whole(failed, a), show_whole(all, b),
		         plural(all), show_percent(failed / all, c))
			->tone = TONE_BAD;
	if (!(t->brief && json_array_size(json_at(t->report, "errors"))))
		json_object_foreach(json_at(requests, "errors"), kind, count)
			buffer_format(&kinds, "%s%s %s", kinds.len ? ", " : "", kind, show_count(json_integer_value(count), a));
	if (kinds.len)
		doc_fact(t->d, "kinds", "%s", kinds.data);
	t->d->failed |= kinds.failed;
	buffer_release(&kinds);
	if (figure_at(requests, "stale_resets") > 0)
		doc_fact(t->d, NULL, "%s of the resets: kept-alive connections that the server had already closed",
		         show_whole(figure_at(requests, "stale_resets"), a));
	tell_reasons(t);
	if (figure_at(requests, "hung_up") > 0)
		doc_fact(t->d, NULL, "%s more: disconnected by ipf-fire on purpose",
		         show_whole(figure_at(requests, "hung_up"), a));
	if (json_at(t->total, "after_end")) {
		double events = figure_at(t->total, "after_end/events"), of = figure_at(t->total, "after_end/responses");
		doc_fact(t->d, NULL, "after the end mark: %s content event%s of %s response%s", show_whole(events, a),
		         plural(events), show_whole(of, b), plural(of));
	}
}

/* ---- objectives ---- */

/* "met: 84.5 ms", "98.2 % of the requests" */
static void tell_objective(const struct telling *t, json_t *objective)
{
	const char *text = text_at(objective, "objective");
	double share = figure_at(objective, "share"), value = figure_at(objective, "value_ms");
	json_t *met = json_at(objective, "met");
	char a[40];
	struct doc_part *part;
	if (met && isinf(value))
		part = doc_fact(t->d, text, "missed: among the failed requests");
	else if (met)
		part = doc_fact(t->d, text, "%s: %s ms", json_is_true(met) ? "met" : "missed", show_number(value, a));
	else if (!isnan(share))
		part = doc_fact(t->d, text, "%s of the requests", show_percent(share, a));
	else
		part = doc_fact(t->d, text, "%s",
		                figure_at(objective, "unmeasured") > 0 ? "not measurable: not streamed"
		                                                       : "no request to compare");
	part->tone = !met ? TONE_PLAIN : json_is_true(met) ? TONE_GOOD : TONE_BAD;
}

void section_goodput(const struct telling *t)
{
	json_t *goodput = json_at(t->total, "goodput"), *objective;
	double share = figure_at(goodput, "share"), unmeasured = figure_at(goodput, "unmeasured"),
		   of = figure_at(goodput, "of"), left_out = figure_at(goodput, "left_out");
	char a[40], b[40];
	size_t i;
	if (!goodput)
		return;
	if (!isnan(share))
		doc_fact(t->d, NULL, "%s requests/s, %s of the requests met %s",
		         show_number(figure_at(goodput, "requests_per_s"), a), show_percent(share, b),
		         t->brief && json_array_size(json_at(goodput, "objectives")) == 1
		             ? text_at(goodput, "objectives/0/objective")
		             : "all objectives");
	else if (unmeasured > 0)
		doc_fact(t->d, NULL, "not measurable: %s of %s requests were not streamed", show_whole(unmeasured, a),
		         show_whole(unmeasured + (isnan(of) ? 0 : of), b));
	if (!isnan(share) && unmeasured > 0)
		doc_fact(t->d, NULL, "%s excluded: not streamed", show_whole(unmeasured, a));
	if (left_out > 0)
		doc_fact(t->d, NULL, "%s excluded: disconnected on purpose", show_whole(left_out, a));
	/* one objective of each request says what the line above says */
	if (t->brief && json_array_size(json_at(goodput, "objectives")) == 1 && !isnan(share) &&
	    !json_at(goodput, "objectives/0/met"))
		return;
	json_array_foreach(json_at(goodput, "objectives"), i, objective) tell_objective(t, objective);
}

/* Requests the server refused: how many, its Retry-After, and the fate of those that were retried. */
#include "sections/sentence.h"

#include "document/shown_numbers.h"

#include <math.h>

/* Users wait from the first start, the server works from the last one. */
static void tell_latency(const struct telling *t, const char *label, const char *users, const char *server)
{
	json_t *of_users = json_at(t->total, users), *of_server = json_at(t->total, server);
	json_t *from_start = json_at(of_users, "from_start");
	if (!from_start || !of_server)
		return;
	const char *first = sentence(t->d, from_start, "p50 {p50} ms, p99 {p99} ms from the first start");
	const char *last = sentence(t->d, of_server, "p50 {p50} ms, p99 {p99} ms from the last attempt");
	if (first && last)
		doc_fact(t->d, label, "%s; %s", first, last);
}

static void tell_asked(const struct telling *t, json_t *refusals)
{
	tell(
		t, "Retry-After", refusals,
		"in {asked#} answer{s:asked}: at least {asked_min_ms} ms, {asked_mean_ms} ms on average, at most {asked_max_ms} ms");
	if (figure_at(refusals, "early") > 0)
		tell(t, NULL, refusals, "{early#} attempt{s:early} came earlier")->tone = TONE_BAD;
	else if (!isnan(figure_at(refusals, "early")))
		doc_fact(t->d, NULL, "no attempt came earlier");
}

/* A fact for each stage, if they are several. */
static void tell_stages(const struct telling *t)
{
	json_t *stages = json_at(t->report, "stages"), *stage;
	size_t i, measured = 0;
	json_array_foreach(stages, i, stage) measured += json_is_true(json_at(stage, "measured"));
	if (measured < 2)
		return;
	json_array_foreach(stages, i, stage) if (json_is_true(json_at(stage, "measured")))
		tell(t, doc_say(t->d, "stage %s", text_at(stage, "name")), json_at(stage, "refusals"),
	         "{requests#} refused, {share%}[, {attempts#} attempts, {waited_share%} of the time waiting]");
}

void section_refusals(const struct telling *t)
{
	json_t *refusals = json_at(t->total, "refusals");
	if (!refusals)
		return;
	tell(t, "refused", refusals,
	     "{requests#} request{s:requests} ({share%}), by {answers#} answer{s:answers} with status 429 or 503");
	tell(t, "retried", refusals,
	     "{retried#} request{s:retried}, of which {retried_ok#} ended well; {attempts#} attempts of all requests");
	if (isnan(figure_at(refusals, "retried")))
		doc_fact(t->d, "retried", "none: see ipf-fire --retry");
	tell(t, "waiting", refusals, "{waited_s} s between attempts, {waited_share%} of the time of all requests");
	tell_asked(t, refusals);
	tell_latency(t, "TTFT", "latency/ttft_ms", "latency/attempt_ttft_ms");
	tell_latency(t, "E2E", "latency/e2e_ms", "latency/attempt_e2e_ms");
	tell_stages(t);
}

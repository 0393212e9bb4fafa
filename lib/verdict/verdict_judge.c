/* Drawing the conclusions from what verdict.c gathered. */
#include "cli/units.h"
#include "verdict/verdict_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const question_names[VERDICT_QUESTIONS] = {
	[VERDICT_LOAD] = "load_delivered",
	[VERDICT_CLIENT] = "client_headroom",
	[VERDICT_SERVER] = "server_answers",
	[VERDICT_SAMPLES] = "enough_samples",
};

static const struct {
	enum verdict_question question;
	const char *text;
} rules[] = {
	{VERDICT_LOAD, "DOUBTFUL where less than 99 % of the scheduled load of a measured stage was delivered, "
                   "INVALID below 95 %: the share of its requests that were started, times the time that their starts "
                   "should have spread over by the time that they did (spreads below 1 s count as 1 s)."},
	{VERDICT_LOAD, "DOUBTFUL where the client's own lateness (client_lag) exceeds 10 ms at p99, INVALID above "
                   "100 ms."},
	{VERDICT_LOAD,
     "DOUBTFUL where more than 1 % of the requests of open-loop stages waited longer than 1 ms "
     "for a slot: that is not the client's fault, but the load was not delivered as scheduled. Starts that "
     "are spread out by slots alone are DOUBTFUL, never INVALID."},
	{VERDICT_LOAD, "DOUBTFUL where part of the run is missing (a stream that was cut, a run that was stopped), "
                   "INVALID without any measured request."},
	{VERDICT_CLIENT,
     "DOUBTFUL where the sending thread used more than 80 % of a core, waited for one for more "
     "than 10 % of the time, or came more than 10 ms late to a socket or a request (loop lag) or, at p99, to "
     "what the kernel had (delay), in one second of twenty; INVALID above 95 %, 50 %, 100 ms and 100 ms. "
     "DOUBTFUL where the client left no samples to tell."},
	{VERDICT_CLIENT,
     "DOUBTFUL where requests could not be sent since the client was out of open files, INVALID "
     "above 1 % of those started. DOUBTFUL where more than 1 % of the kernel's stamps could not be, or the "
     "queue of what is to be written was more than 90 % full."},
	{VERDICT_CLIENT,
     "DOUBTFUL where more than 5 % of the content events shared their read with another one "
     "(coalesced): the inter-token figures then show the network's packets and not the server's steps."},
	{VERDICT_SERVER,
     "DOUBTFUL where more than 1 % of the requests failed, INVALID above 5 %. Requests that "
     "ipf-fire cancelled at the end and resets of kept connections that the server had closed already (stale) "
     "are counted apart; more than 1 % cancelled is DOUBTFUL. "
     "Those on which it hung up on purpose are none of the requests here."},
	{VERDICT_SERVER, "DOUBTFUL where the output tokens of the successes differ by more than 10 % from what was "
                     "asked for."},
	{VERDICT_SAMPLES, "OK from 459 successes on (enough for p99 at 99 % confidence), DOUBTFUL below, INVALID "
                      "without any; DOUBTFUL where a measured stage has no success or nothing to do."},
};

const char *verdict_status_name(enum verdict_status status)
{
	static const char *const names[] = {"OK", "DOUBTFUL", "INVALID"};
	return names[status];
}

const char *verdict_rule(size_t i, const char **about)
{
	if (i >= sizeof rules / sizeof *rules)
		return NULL;
	*about = question_names[rules[i].question];
	return rules[i].text;
}

static double ms_of(const struct histogram *h, double p)
{
	return histogram_percentile(h, p) / 1e6;
}

static bool lateness_figures(json_t *to, const char *name, const struct histogram *h)
{
	if (histogram_count(h) == 0)
		return true;
	json_t *map = json_object();
	return json_object_set_new(to, name, map) == 0 && verdict_figure(map, "p50", ms_of(h, 50)) &&
	       verdict_figure(map, "p99", ms_of(h, 99)) && verdict_figure(map, "p99.9", ms_of(h, 99.9)) &&
	       verdict_figure(map, "max", (double)histogram_max(h) / 1e6);
}

static int64_t scheduled_of(const struct verdict *v, const struct verdict_stage *stage)
{
	return v->shards ? stage->scheduled_most : stage->scheduled;
}

/* How much longer its starts were spread than planned, as the share of the plan's rate; 1 where it is no longer. */
static double pace_of(const struct verdict_stage *stage)
{
	double planned = (double)stage->due_span, taken = (double)stage->start_span;
	double floor_ns = fmax(planned, 1e9);
	return taken > planned ? floor_ns / (floor_ns + taken - planned) : 1;
}

struct load {
	int64_t scheduled, begun, free, timed,
		waited;       /* begun: of the scheduled ones; free: started where nothing is scheduled */
	double delivered; /* of the worst stage; NAN */
};

static void judge_stage_load(const struct verdict *v, const struct verdict_stage *stage, struct verdict_check *check,
                             struct load *load)
{
	load->timed += stage->timed;
	load->waited += stage->waited;
	int64_t scheduled = stage->cycle ? 0 : scheduled_of(v, stage);
	if (scheduled == 0) {
		load->free += stage->started;
		return;
	}
	load->scheduled += scheduled;
	load->begun += stage->started;
	double begun = (double)stage->started / (double)scheduled, pace = pace_of(stage);
	load->delivered = fmin(isnan(load->delivered) ? 1 : load->delivered, fmin(begun, 1) * pace);
	char share[32];
	if (begun < VERDICT_DELIVERED_DOUBTFUL)
		verdict_say(check, begun < VERDICT_DELIVERED_INVALID ? VERDICT_INVALID : VERDICT_DOUBTFUL,
		            "%s: only %lld of %lld scheduled requests were started", stage->name, (long long)stage->started,
		            (long long)scheduled);
	if (pace >= VERDICT_DELIVERED_DOUBTFUL)
		return;
	bool slots = (double)stage->waited > VERDICT_SLOTS_DOUBTFUL * (double)stage->timed;
	verdict_say(check, slots || pace >= VERDICT_DELIVERED_INVALID ? VERDICT_DOUBTFUL : VERDICT_INVALID,
	            "%s: started at %s of the scheduled pace%s", stage->name, verdict_percent(pace, share),
	            slots ? ", held back by its slots" : "");
}

static bool judge_load(struct verdict *v, struct verdict_check *check)
{
	struct load load = {.delivered = NAN};
	char a[32], b[32];
	if (v->missing[0])
		verdict_say(check, VERDICT_DOUBTFUL, "part of the run is missing: %s", v->missing);
	if (v->rows == 0)
		verdict_say(check, VERDICT_INVALID, "no measured request at all");
	for (size_t i = 0; i < v->count; i++)
		if (v->stages[i].measured)
			judge_stage_load(v, &v->stages[i], check, &load);
	double late = histogram_count(v->client_lag) ? ms_of(v->client_lag, 99) : 0;
	if (load.scheduled > 0 && load.begun == load.scheduled)
		verdict_say(check, VERDICT_OK,
		            load.begun == 1 ? "the one scheduled request was started"
		                            : "all %lld scheduled requests were started",
		            (long long)load.begun);
	if (load.free > 0)
		verdict_say(check, VERDICT_OK, "%lld request%s in closed loop", (long long)load.free,
		            verdict_plural(load.free));
	if (histogram_count(v->client_lag) > 0)
		verdict_say(check, verdict_above(late, VERDICT_LATE_DOUBTFUL_MS, VERDICT_LATE_INVALID_MS),
		            "the client was %s late at p99, %s at most", verdict_duration(late, a),
		            verdict_duration((double)histogram_max(v->client_lag) / 1e6, b));
	double waited = load.timed ? (double)load.waited / (double)load.timed : 0;
	if (load.waited > 0)
		verdict_say(
			check, verdict_above(waited, VERDICT_SLOTS_DOUBTFUL, INFINITY),
			"%s of the requests waited for a slot, p99 of the waits %s: the stage's own limit, yet not the load as scheduled",
			verdict_percent(waited, a), verdict_duration(ms_of(v->slot_wait, 99), b));
	json_t *f = check->figures;
	return (load.scheduled == 0 || verdict_count(f, "scheduled", load.scheduled)) &&
	       verdict_count(f, "started", load.begun + load.free) && verdict_figure(f, "delivered", load.delivered) &&
	       lateness_figures(f, "lag_ms", v->lag) && lateness_figures(f, "client_lag_ms", v->client_lag) &&
	       lateness_figures(f, "slot_wait_ms", v->slot_wait) &&
	       (load.timed == 0 || verdict_figure(f, "waited_for_slot", waited));
}

/* "3 timeout, 1 cut", of the kinds between first and last. */
static void list_kinds(const struct verdict *v, char *text, size_t size)
{
	text[0] = 0;
	for (size_t i = 0; i < VERDICT_KINDS; i++) {
		size_t len = strlen(text);
		if (v->errors[i] > 0 && i != VERDICT_HUNG_UP)
			snprintf(text + len, size - len, "%s%lld %s", len ? ", " : "", (long long)v->errors[i], verdict_kinds[i]);
	}
}

static bool judge_errors(struct verdict *v, struct verdict_check *check)
{
	json_t *f = check->figures, *kinds = json_object();
	int64_t hung_up = v->errors[VERDICT_HUNG_UP], asked = v->rows - hung_up, failed = asked - v->ok,
			cancelled = v->errors[VERDICT_CANCELLED];
	int64_t theirs = failed - cancelled - v->stale;
	bool ok = verdict_count(f, "requests", v->rows) && verdict_count(f, "failed", failed);
	ok = json_object_set_new(f, "errors", kinds) == 0 && ok && (!hung_up || verdict_count(f, "hung_up", hung_up));
	for (size_t i = 0; ok && i < VERDICT_KINDS; i++)
		ok = v->errors[i] == 0 || i == VERDICT_HUNG_UP || verdict_count(kinds, verdict_kinds[i], v->errors[i]);
	if (v->rows == 0) {
		verdict_say(check, VERDICT_INVALID, "nothing was asked");
		return ok;
	}
	char list[256], share[32];
	double rows = asked ? (double)asked : 1;
	list_kinds(v, list, sizeof list);
	if (failed == 0)
		verdict_say(check, VERDICT_OK, "no errors in %lld request%s", (long long)asked, verdict_plural(asked));
	else
		verdict_say(check, verdict_above((double)theirs / rows, VERDICT_ERRORS_DOUBTFUL, VERDICT_ERRORS_INVALID),
		            "%lld of %lld request%s failed (%s): %s", (long long)failed, (long long)asked,
		            verdict_plural(asked), verdict_percent((double)failed / rows, share), list);
	if ((double)cancelled / rows > VERDICT_CANCELLED_DOUBTFUL)
		verdict_say(check, VERDICT_DOUBTFUL, "the client gave up on %s of them at the end",
		            verdict_percent((double)cancelled / rows, share));
	if (hung_up > 0)
		verdict_say(check, VERDICT_OK, "the client hung up on %lld more, on purpose", (long long)hung_up);
	if (v->stale > 0)
		verdict_say(check, VERDICT_OK,
		            "%lld reset%s on kept connections that had expired (ipf-fire --connections fresh avoids them)",
		            (long long)v->stale, verdict_plural(v->stale));
	return ok && verdict_figure(f, "error_share", (double)theirs / rows) && verdict_count(f, "stale_resets", v->stale);
}

static bool judge_lengths(struct verdict *v, struct verdict_check *check)
{
	if (v->asked_rows == 0 || v->asked_tokens == 0)
		return true;
	double got = (double)v->got_tokens / (double)v->asked_tokens;
	char share[32];
	double off = fabs((double)(v->got_tokens - v->asked_tokens)),
		   least = VERDICT_LENGTH_DOUBTFUL * (double)v->asked_tokens;
	verdict_say(check, verdict_above(off, least, INFINITY), "outputs came to %s of the tokens asked for",
	            verdict_percent(got, share));
	json_t *f = check->figures;
	return verdict_count(f, "asked_output_tokens", v->asked_tokens) &&
	       verdict_count(f, "output_tokens", v->got_tokens) && verdict_figure(f, "output_share", got) &&
	       verdict_figure(f, "exactly_as_asked", (double)v->as_asked / (double)v->asked_rows);
}

static bool judge_samples(struct verdict *v, struct verdict_check *check)
{
	json_t *f = check->figures, *empty = json_array();
	int64_t p90 = (int64_t)samples_needed(90), p99 = (int64_t)samples_needed(99);
	bool ok = verdict_count(f, "samples", v->ok) && verdict_count(f, "needed_p90", p90) &&
	          verdict_count(f, "needed_p99", p99);
	if (v->ok == 0)
		verdict_say(check, VERDICT_INVALID, "not one answer to take a figure from");
	else if (v->ok < p90)
		verdict_say(check, VERDICT_DOUBTFUL, "%lld answer%s: too few even for p90, which needs %lld", (long long)v->ok,
		            verdict_plural(v->ok), (long long)p90);
	else if (v->ok < p99)
		verdict_say(check, VERDICT_DOUBTFUL, "%lld answers are enough for p90 but not for p99, which needs %lld",
		            (long long)v->ok, (long long)p99);
	else
		verdict_say(check, VERDICT_OK, "%lld answers, enough for p99 (%lld)", (long long)v->ok, (long long)p99);
	for (size_t i = 0; ok && i < v->count; i++) {
		const struct verdict_stage *stage = &v->stages[i];
		if (!stage->measured || stage->ok > 0 || v->ok == 0)
			continue;
		verdict_say(check, VERDICT_DOUBTFUL, "%s has %s", stage->name,
		            scheduled_of(v, stage) > 0 ? "no answer" : "no requests");
		ok = json_array_append_new(empty, json_string(stage->name)) == 0;
	}
	ok = (json_array_size(empty) == 0 || json_object_set(f, "empty_stages", empty) == 0) && ok;
	json_decref(empty);
	return ok;
}

/* Stages that no schedule named. */
static bool name_stages(struct verdict *v)
{
	char text[32];
	for (size_t i = 0; i < v->count; i++) {
		snprintf(text, sizeof text, "stage %zu", i);
		if (!v->stages[i].name && !(v->stages[i].name = strdup(text)))
			return false;
	}
	return true;
}

const struct verdict_finding *verdict_judge(struct verdict *v)
{
	verdict_fold(v);
	if (v->failed || verdict_client_failed(v) || !name_stages(v))
		return NULL;
	struct verdict_finding *finding = &v->finding;
	for (size_t i = 0; i < VERDICT_QUESTIONS; i++) {
		json_decref(finding->checks[i].figures);
		finding->checks[i] = (struct verdict_check){.name = question_names[i], .figures = json_object()};
		if (!finding->checks[i].figures)
			return NULL;
	}
	if (!judge_load(v, &finding->checks[VERDICT_LOAD]) || !verdict_judge_client(v, &finding->checks[VERDICT_CLIENT]) ||
	    !judge_errors(v, &finding->checks[VERDICT_SERVER]) || !judge_lengths(v, &finding->checks[VERDICT_SERVER]) ||
	    !judge_samples(v, &finding->checks[VERDICT_SAMPLES]))
		return NULL;
	finding->status = VERDICT_OK;
	for (size_t i = 0; i < VERDICT_QUESTIONS; i++)
		if (finding->checks[i].status > finding->status)
			finding->status = finding->checks[i].status;
	return finding;
}

json_t *verdict_json(struct verdict *v)
{
	const struct verdict_finding *finding = verdict_judge(v);
	json_t *checks = json_array();
	json_t *verdict = finding
	                      ? json_pack("{s:s, s:O}", "status", verdict_status_name(finding->status), "checks", checks)
	                      : NULL;
	for (size_t i = 0; verdict && i < VERDICT_QUESTIONS; i++) {
		const struct verdict_check *check = &finding->checks[i];
		json_t *one = json_pack("{s:s, s:s, s:s}", "name", check->name, "status", verdict_status_name(check->status),
		                        "detail", check->detail);
		if (!one || json_object_update_missing(one, check->figures) < 0 || json_array_append_new(checks, one) < 0) {
			json_decref(verdict);
			verdict = NULL;
		}
	}
	json_decref(checks);
	return verdict;
}

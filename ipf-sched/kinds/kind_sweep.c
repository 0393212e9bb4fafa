/* A sweep is shorthand for several stages, one for each rate or number of users, with optional rests between them. */
#include "kinds/stage_checks.h"

#include "absent.h"
#include "buffer.h"
#include "clock.h"
#include "inputs/stage_inputs.h"
#include "search/sustained_rate.h"
#include "stats/exact_math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Values no user means without saying so: requests of a sweep, and users at the knee as a multiple of those
 * measured. */
#define SWEEP_MOST_REQUESTS 1e7
#define KNEE_MOST           10.0

static const struct stage_key keys[] = {
	STAGE_KEY("rates", "RATE,…", KEY_RATES, rates, "one open-loop stage for each rate"),
	STAGE_KEY("users", "COUNT,…", KEY_COUNTS, rates, "instead: one closed-loop stage for each number of users"),
	STAGE_KEY("concurrency", "COUNT,…", KEY_COUNTS, rates, "instead: the same for each number in flight"),
	STAGE_KEY("from", "FILE", KEY_TEXT, file, "instead: rates around the sustained rate of these results"),
	STAGE_KEY("closed", NULL, KEY_FLAG, by_users, "with from=: numbers of users around the knee, not rates"),
	STAGE_KEY("points", "COUNT", KEY_COUNT, point_number, "with from=: number of stages (default: 10)"),
	STAGE_KEY("upto", "NUMBER", KEY_NUMBER, upto, "with from=: highest rate / sustained rate (default: 1.2)"),
	STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "length of each stage"),
	STAGE_KEY("n", "COUNT", KEY_COUNT, n, "number of requests or sessions in each stage"),
	STAGE_KEY("rampup", "TIME", KEY_DURATION, rampup_ns, "with users=: new users start one after another"),
	STAGE_KEY("rest", "TIME", KEY_DURATION, off_ns, "a rest of this length between stages"),
	PROCESS_KEYS,
	KEY_SLOTS,
	STAGE_KEY("name", "NAME", KEY_TEXT, name, "beginning of the stages' names (default: sweep)"),
	KEY_PHASES,
	KEY_END,
};

static int sweep_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->file && stage->rates.count > 0)
		return ipf_error_set(err, IPF_USAGE, "from= and %s= cannot be combined",
		                     stage->by_concurrency ? "concurrency"
		                     : stage->rates.counts ? "users"
		                                           : "rates");
	if (!stage->file && (stage->point_number != IPF_ABSENT || stage->upto != 1.2))
		return ipf_error_set(err, IPF_USAGE, "%s: requires from=FILE", stage->upto != 1.2 ? "upto" : "points");
	if (!stage->file && stage->by_users)
		return ipf_error_set(err, IPF_USAGE, "closed: requires from=FILE");
	if (stage->file && (stage->upto < 0.2 || stage->upto > 100))
		return ipf_error_set(err, IPF_USAGE, "upto: expected a number between 0.2 and 100, got %g", stage->upto);
	if (stage->file && stage->point_number != IPF_ABSENT && (stage->point_number < 2 || stage->point_number > 1000))
		return ipf_error_set(err, IPF_USAGE, "points: expected a count between 2 and 1000, got %lld",
		                     (long long)stage->point_number);
	if (stage->rates.count == 0 && !stage->file)
		return ipf_error_set(err, IPF_USAGE,
		                     "rates=RATE,…, users=COUNT,…, concurrency=COUNT,… or from=FILE is required");
	for (size_t i = 0; i < stage->rates.count; i++)
		if (stage->rates.list[i] <= 0)
			return ipf_error_set(err, IPF_USAGE, "rates: expected rates above 0");
	if (stage->for_ns == IPF_ABSENT && stage->n == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "for=TIME or n=COUNT is required");
	if (limits_check(stage, err) < 0 ||
	    rampup_check(stage, stage->rates.counts || stage->by_users, "users=, concurrency= or closed", err) < 0)
		return -1;
	if (!stage->rates.counts && !stage->by_users)
		return process_check(stage, err);
	if (stage->slots != IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "slots: does not apply to a closed loop");
	if (stage->process_given || !isnan(stage->cv))
		return ipf_error_set(err, IPF_USAGE, "%s: does not apply to a closed loop",
		                     stage->process_given ? "process" : "cv");
	return 0;
}

/* The points as multiples of the sustained rate, denser near 1. Below 1 (some seven of ten points) the distances to it
 * shrink geometrically from 0.9 to 0.05; above 1 they grow again. */
static void lay_points(double *points, size_t count, double upto)
{
	size_t above = upto > 1.05 ? (count * 3 + 5) / 10 : 0, below;
	double nearest = upto > 1.05 ? 0.05 : fmax(0.01, 1 - upto), farthest = 0.9;

	if (above == 0 && upto > 1.05)
		above = 1;
	below = count - above;
	for (size_t i = 0; i < below; i++)
		points[i] = 1 - farthest * exact_exp(exact_log(nearest / farthest) *
		                                     (below > 1 ? (double)i / (double)(below - 1) : 1));
	for (size_t i = 0; i < above; i++)
		points[below + i] = 1 + (upto - 1) * exact_exp(exact_log(0.5) * (double)(above - 1 - i));
}

/* Why no stage shows a sustained rate. */
static int too_few_answers(const struct earlier_runs *runs, struct ipf_error *err)
{
	size_t most = 0;

	for (size_t i = 0; i < runs->count; i++) {
		size_t ok = 0;
		for (size_t k = 0; runs->stages[i].measured && k < runs->stages[i].count; k++)
			ok += runs->stages[i].rows[k].ok;
		most = ok > most ? ok : most;
	}
	const char *file = runs->stages ? runs->stages[0].file : NULL;
	if (most < SUSTAINED_RATE_LEAST)
		return ipf_error_at(err, IPF_INPUT, file, 0,
		                    "no measured stage has the %d successful answers that the sustained rate requires, but at "
		                    "most %zu: run a longer stage",
		                    SUSTAINED_RATE_LEAST, most);
	return ipf_error_at(err, IPF_INPUT, file, 0,
	                    "%zu answers came too close together to show a rate: run a stage that lasts, such as "
	                    "closed:users=64,for=30s",
	                    most);
}

/* Refuses an estimate with next to no information, and names a run that would be enough. */
static int refuse_uncertain(const struct sustained_rate *s, const struct earlier_stage *of, struct ipf_error *err)
{
	double enough_s = ceil(sustained_rate_enough_s(s)), length_s = s->end_s - s->begin_s;
	char why[160];

	if (length_s < s->latency_s)
		snprintf(why, sizeof why, "but over %.3g s, less than a request takes (%.3g s), which no server sustains",
		         length_s, s->latency_s);
	else
		snprintf(why, sizeof why, "but %.4g to %.4g/s (95 %% confidence) after %.3g s of answers is too uncertain",
		         s->least, s->most, length_s);
	return ipf_error_at(
		err, IPF_INPUT, of->file, 0,
		"stage %s: sustained %.4g/s, %s: run a stage with about %.0f s of answers (%.0f requests at this "
		"rate), or take it as it is with --force",
		of->name, s->rate, why, enough_s, ceil(enough_s * s->rate));
}

/* The measured stage with the highest sustained rate, among those showing it well enough; all of them with `force`.
 */
static int sustained_most(const struct earlier_runs *runs, bool force, struct sustained_rate *most,
                          const struct earlier_stage **of, struct ipf_error *err)
{
	const struct earlier_stage *uncertain = NULL;
	struct sustained_rate best = {0};

	*of = NULL;
	for (size_t i = 0; i < runs->count; i++) {
		struct sustained_rate found;
		int got = runs->stages[i].measured ? sustained_rate_find(&runs->stages[i], &found, err) : 0;
		if (got < 0)
			return -1;
		if (got == 0)
			continue;
		if (!force && !sustained_rate_useful(&found)) {
			if (!uncertain || found.rate > best.rate) {
				best = found;
				uncertain = &runs->stages[i];
			}
		} else if (!*of || found.rate > most->rate) {
			*most = found;
			*of = &runs->stages[i];
		}
	}
	if (!*of)
		return uncertain ? refuse_uncertain(&best, uncertain, err) : too_few_answers(runs, err);
	return 0;
}

static void note_sustained(const struct sustained_rate *s, const struct earlier_stage *of, struct buffer *out)
{
	buffer_format(out,
	              "%s: stage %s: sustained %.4g/s, %.4g to %.4g/s (95 %% confidence), measured from %.3g s to %.3g s",
	              of->file, of->name, s->rate, s->least, s->most, s->begin_s, s->end_s);
	if (of->users != IPF_ABSENT)
		buffer_format(out, ", with %lld users", (long long)of->users);
	if (!s->saturated)
		buffer_format(out, "; only %.4g/s were requested, and the server may sustain more", of->rate);
	if (earlier_stage_client_late(of))
		buffer_text(out, "; the client itself was late, and may be the limit");
	if (!sustained_rate_useful(s))
		buffer_text(out, "; this is too uncertain to plan by");
	if (of->incomplete)
		buffer_format(out, "; the run is incomplete: %s", of->incomplete);
	buffer_text(out, "\n");
}

/* The knee: the number of users that just keeps the server busy. It is the highest rate divided by the rate of a single
 * user that does not wait for others, which the stage with the fewest users shows. */
static int find_knee(const struct earlier_runs *runs, const struct sustained_rate *most, double *knee,
                     struct buffer *notes, struct ipf_error *err)
{
	const struct earlier_stage *fewest = NULL, *largest = NULL, *skipped = NULL;
	double rate = 0, alone = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct earlier_stage *stage = &runs->stages[i];
		int got = !earlier_stage_is_closed(stage, false) || !stage->measured
		              ? -2
		              : sustained_rate_unsaturated(stage, &rate, err);
		if (got == -1)
			return -1;
		if (got == 0 && (!skipped || stage->users < skipped->users))
			skipped = stage;
		if (got != 1)
			continue;
		if (!fewest || stage->users < fewest->users) {
			fewest = stage;
			alone = rate;
		}
		if (!largest || stage->users > largest->users)
			largest = stage;
	}
	if (!fewest || fewest->users == largest->users)
		return ipf_error_at(err, IPF_INPUT, runs->stages ? runs->stages[0].file : NULL, 0,
		                    "closed: expected closed stages with at least two numbers of users and %d answers each",
		                    UNSATURATED_LEAST);
	*knee = most->rate * (double)fewest->users / alone;
	buffer_format(notes, "%s: stage %s: %.4g/s with %lld user%s: the knee is at %.4g users", fewest->file, fewest->name,
	              alone, (long long)fewest->users, fewest->users == 1 ? "" : "s", *knee);
	if (*knee > (double)largest->users)
		buffer_format(notes, "; no stage had more than %lld, and the knee may be higher", (long long)largest->users);
	if (alone > 0.9 * most->rate)
		buffer_text(notes, "; these users already kept the server busy, and the knee may be lower");
	if (skipped && skipped->users < fewest->users)
		buffer_format(notes, "; stage %s was ignored: it has fewer than %d answers", skipped->name, UNSATURATED_LEAST);
	buffer_text(notes, "\n");
	return 0;
}

/* Turns multiples of the knee into whole numbers of users, each once. */
static void round_users(struct rates *rates, double knee)
{
	size_t count = 0;

	for (size_t i = 0; i < rates->count; i++) {
		double users = fmax(1, floor(rates->list[i] * knee + 0.5));
		if (count == 0 || users > rates->list[count - 1])
			rates->list[count++] = users;
	}
	rates->count = count;
	rates->counts = true;
}

/* Refuses the results of an estimate that is far off. */
static int check_size(const struct stage *sweep, double knee, const struct earlier_runs *runs, struct ipf_error *err)
{
	double requests = 0, most_users = 0;

	for (size_t i = 0; i < sweep->rates.count && !sweep->by_users; i++)
		requests += sweep->for_ns == IPF_ABSENT ? (double)sweep->n : sweep->rates.list[i] * (double)sweep->for_ns / 1e9;
	for (size_t i = 0; i < runs->count; i++)
		if (runs->stages[i].users != IPF_ABSENT)
			most_users = fmax(most_users, (double)runs->stages[i].users);
	if (requests > SWEEP_MOST_REQUESTS)
		return ipf_error_at(
			err, IPF_INPUT, sweep->file, 0,
			"the sweep would send %.0f requests, more than %.0f: shorten for=, or write it with --force", requests,
			SWEEP_MOST_REQUESTS);
	if (sweep->by_users && knee > KNEE_MOST * most_users)
		return ipf_error_at(err, IPF_INPUT, sweep->file, 0,
		                    "the knee would be at %.4g users, more than %.0f times the %.0f that were measured: run a "
		                    "stage with more users, or take it as it is with --force",
		                    knee, KNEE_MOST, most_users);
	return 0;
}

/* Sets the sweep's points, given the sustained rate. */
static int set_points(struct stage *sweep, const struct earlier_runs *runs, const struct sustained_rate *s,
                      struct stage_inputs *inputs, struct ipf_error *err)
{
	size_t count = sweep->point_number == IPF_ABSENT ? 10 : (size_t)sweep->point_number;
	char text[32];
	double knee = 0;

	sweep->rates.list = calloc(count, sizeof *sweep->rates.list);
	if (!sweep->rates.list)
		return ipf_error_memory(err);
	if (sweep->by_users && find_knee(runs, s, &knee, &inputs->notes, err) < 0)
		return -1;
	sweep->rates.count = count;
	lay_points(sweep->rates.list, count, sweep->upto);
	if (sweep->by_users)
		round_users(&sweep->rates, knee);
	for (size_t i = 0; i < count && !sweep->by_users; i++) {
		snprintf(text, sizeof text, "%.4g", sweep->rates.list[i] * s->rate);
		sweep->rates.list[i] = strtod(text, NULL);
	}
	return inputs->force ? 0 : check_size(sweep, knee, runs, err);
}

static int sweep_resolve(struct stage *sweep, struct stage_inputs *inputs, struct ipf_error *err)
{
	struct earlier_runs runs = {
		.headers = inputs->earlier.headers, .digests = inputs->earlier.digests, .sent = inputs->earlier.sent};
	struct sustained_rate s = {0};
	const struct earlier_stage *of;
	int status;

	if (!sweep->file)
		return 0;
	status = earlier_runs_read(&runs, sweep->file, err);
	inputs->earlier.headers = json_incref(runs.headers);
	inputs->earlier.digests = json_incref(runs.digests);
	inputs->earlier.sent = runs.sent;
	runs.sent = (struct sent_prompts){0};
	inputs->first_req = runs.next_req;
	if (status == 0 && (status = sustained_most(&runs, inputs->force, &s, &of, err)) == 0) {
		note_sustained(&s, of, &inputs->notes);
		status = set_points(sweep, &runs, &s, inputs, err);
	}
	earlier_runs_release(&runs);
	return status;
}

/* Appends key=TIME, in the largest unit in which the time is a whole number. */
static void put_time(struct buffer *out, const char *key, int64_t ns)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"s", NS_PER_S}, {"ms", NS_PER_MS}, {"us", NS_PER_US}, {"ns", 1}};
	size_t i = 0;

	while (ns % units[i].ns != 0)
		i++;
	buffer_format(out, "%s=%lld%s", key, (long long)(ns / units[i].ns), units[i].name);
}

static void rest_stage(const struct stage *sweep, struct stage *stage, struct buffer *spec)
{
	stage->kind = &kind_rest;
	stage->for_ns = sweep->off_ns;
	buffer_text(spec, "rest:");
	put_time(spec, "for", sweep->off_ns);
}

static void point_stage(const struct stage *sweep, double value, struct stage *stage, struct buffer *spec)
{
	static const struct stage_kind *const renewals[] = {
		[GAPS_POISSON] = &kind_poisson, [GAPS_CONSTANT] = &kind_constant, [GAPS_GAMMA] = &kind_gamma,
		[GAPS_WEIBULL] = &kind_weibull, [GAPS_UNIFORM] = &kind_uniform,
	};
	bool users = sweep->rates.counts;

	stage->kind = users ? &kind_closed : renewals[sweep->process];
	stage->for_ns = sweep->for_ns;
	stage->n = sweep->n;
	stage->cv = sweep->cv;
	stage->rate = users ? NAN : value;
	stage->slots = users ? (int64_t)value : sweep->slots;
	stage->by_concurrency = sweep->by_concurrency;
	stage->idle_max_ns = sweep->idle_max_ns;
	stage->salt = sweep->salt;
	stage->rampup_ns = sweep->rampup_ns;
	stage->warmup = sweep->warmup;
	stage->cooldown = sweep->cooldown;
	stage->drain = sweep->drain;
	stage->overlap = sweep->overlap;
	stage->cold = sweep->cold;
	buffer_format(spec, "%s:%s=%.12g,", stage->kind->name,
	              !users                  ? "rate"
	              : sweep->by_concurrency ? "concurrency"
	                                      : "users",
	              value);
	if (!isnan(stage->cv))
		buffer_format(spec, "cv=%.12g,", stage->cv);
	if (stage->for_ns != IPF_ABSENT)
		put_time(spec, "for", stage->for_ns);
	else
		buffer_format(spec, "n=%lld", (long long)stage->n);
	if (!users && stage->slots != IPF_ABSENT)
		buffer_format(spec, ",slots=%lld", (long long)stage->slots);
	if (stage->rampup_ns != IPF_ABSENT) {
		buffer_byte(spec, ',');
		put_time(spec, "rampup", stage->rampup_ns);
	}
	if (stage->idle_max_ns != IPF_ABSENT) {
		buffer_byte(spec, ',');
		put_time(spec, "idle-max", stage->idle_max_ns);
	}
	buffer_format(spec, "%s%s%s%s%s%s", stage->salt ? ",salt" : "", stage->warmup ? ",warmup" : "",
	              stage->cooldown ? ",cooldown" : "", stage->drain ? ",drain" : "", stage->overlap ? ",overlap" : "",
	              stage->cold ? ",cache=cold" : "");
}

static int sweep_expand(const struct stage *sweep, size_t index, struct stage *stage, struct ipf_error *err)
{
	bool rests = sweep->off_ns != IPF_ABSENT;
	size_t point = rests ? index / 2 : index;
	const char *base = sweep->name ? sweep->name : "sweep";
	struct buffer spec = {0}, name = {0};

	if (point >= sweep->rates.count || (rests && index == 2 * sweep->rates.count - 1))
		return 0;
	if (rests && index % 2) {
		rest_stage(sweep, stage, &spec);
		buffer_format(&name, "%s rest %zu", base, point + 1);
	} else {
		double value = sweep->rates.list[point];
		point_stage(sweep, value, stage, &spec);
		buffer_format(&name, "%s %.12g%s", base, value, !sweep->rates.counts ? "/s" : closed_unit(sweep, value));
	}
	stage->spec = stage->own_spec = spec.data;
	stage->name = name.data;
	return spec.failed || name.failed ? ipf_error_memory(err) : 1;
}

const struct stage_kind kind_sweep = {
	.name = "sweep",
	.summary = "shorthand for several stages: one for each rate or number of users",
	.keys = keys,
	.check = sweep_check,
	.resolve = sweep_resolve,
	.expand = sweep_expand,
};

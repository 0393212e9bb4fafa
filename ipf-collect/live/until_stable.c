#include "live/until_stable.h"

#include "absent.h"
#include "cli/units.h"
#include "clock.h"
#include "stats/student.h"
#include "stats/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_LEAST_NS (100 * NS_PER_MS)
#define WINDOW_MOST_NS  (3600 * NS_PER_S)
#define TIME_MOST       INT64_C(1000000000000000000) /* sums of times within it do not overflow */
#define LATE_PART       10                           /* a window is judged this part of its length after its end */

enum {
	PARTS = 10,    /* a window's, for the drift */
	LOOK_BACK = 32 /* windows at most */
};
/* A row comes at most a window and a part after the last judged window: two windows are open. */
#define RING ((size_t)(LOOK_BACK + 3) * PARTS)

struct part {
	int64_t ok;
	double latency_ns; /* sum */
};

struct until_stable {
	struct until_stable_rule rule;
	const struct schedule *schedule;
	int64_t part_ns;
	int64_t zero_ns;   /* where the windows of the stage begin; IPF_ABSENT: nothing of it has been seen */
	int64_t judged;    /* windows of the stage so far */
	struct part *ring; /* part i is at i % RING */
	double *series;    /* the parts', for the drift */
	struct jdoc doc;
	struct stable_finding finding;
};

/* ---- the rule ---- */

static int parse_member(const char *item, struct until_stable_rule *rule, struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	const int64_t most = UNTIL_STABLE_WINDOWS_MOST;
	if (strncmp(item, "windows=", 8) == 0) {
		if (parse_count(item + 8, &rule->windows, &ignored) < 0 || rule->windows < 2 || rule->windows > most)
			return ipf_error_set(err, IPF_USAGE, "windows: expected 2 to %lld, got \"%.100s\"", (long long)most,
			                     item + 8);
		return 0;
	}
	if (strncmp(item, "window=", 7) == 0) {
		if (parse_duration(item + 7, &rule->window_ns, &ignored) < 0 || rule->window_ns < WINDOW_LEAST_NS ||
		    rule->window_ns > WINDOW_MOST_NS)
			return ipf_error_set(err, IPF_USAGE, "window: expected 100ms to 1h, got \"%.100s\"", item + 7);
		return 0;
	}
	if (parse_share(item, &rule->tolerance, &ignored) < 0 || rule->tolerance <= 0 || rule->tolerance > 0.5)
		return ipf_error_set(
			err, IPF_USAGE, "expected a share of at most 50%%, such as 5%% or 5%%,windows=3,window=10s, got \"%.100s\"",
			item);
	return 0;
}

int until_stable_parse(const char *text, struct until_stable_rule *rule, struct ipf_error *err)
{
	*rule = (struct until_stable_rule){.text = text, .tolerance = NAN, .windows = 3, .window_ns = 10 * NS_PER_S};
	char *copy = strdup(text), *rest = copy;
	int bad = copy ? 0 : ipf_error_memory(err);
	for (char *item; bad == 0 && (item = strsep(&rest, ","));)
		bad = parse_member(item, rule, err);
	if (bad == 0 && isnan(rule->tolerance))
		bad = ipf_error_set(err, IPF_USAGE, "expected a share such as 5%%, got \"%.100s\"", text);
	free(copy);
	return bad;
}

/* ---- windows ---- */

struct until_stable *until_stable_new(const struct until_stable_rule *rule, const struct schedule *schedule)
{
	struct until_stable *u = calloc(1, sizeof *u);
	if (!u)
		return NULL;
	u->rule = *rule;
	u->schedule = schedule;
	u->part_ns = rule->window_ns / PARTS;
	u->rule.window_ns = u->part_ns * PARTS;
	u->zero_ns = IPF_ABSENT;
	u->ring = calloc(RING, sizeof *u->ring);
	u->series = calloc(RING, sizeof *u->series);
	u->finding = (struct stable_finding){.stage = IPF_ABSENT,
	                                     .at_ns = IPF_ABSENT,
	                                     .from_ns = IPF_ABSENT,
	                                     .to_ns = IPF_ABSENT,
	                                     .throughput_drift = NAN,
	                                     .latency_drift = NAN,
	                                     .why_not = "no measured request ended"};
	if (u->ring && u->series)
		return u;
	until_stable_free(u);
	return NULL;
}

void until_stable_free(struct until_stable *u)
{
	if (!u)
		return;
	free(u->ring);
	free(u->series);
	jdoc_release(&u->doc);
	free(u);
}

const struct stable_finding *until_stable_finding(const struct until_stable *u)
{
	return u ? &u->finding : NULL;
}

static struct part sum_of(const struct until_stable *u, int64_t first, int64_t count)
{
	struct part sum = {0};
	for (int64_t i = first; i < first + count; i++) {
		const struct part *p = &u->ring[(size_t)i % RING];
		sum.ok += p->ok;
		sum.latency_ns += p->latency_ns;
	}
	return sum;
}

static struct part window_of(const struct until_stable *u, int64_t window)
{
	return sum_of(u, window * PARTS, PARTS);
}

struct range {
	double low, high;
};

static void widen(struct range *r, double value)
{
	r->low = fmin(r->low, value);
	r->high = fmax(r->high, value);
}

/* ---- judging ---- */

/* The most the drift over the time of N windows can be, as a share of the mean. */
static double drift_of(const struct until_stable *u, size_t count, int64_t per_window)
{
	double mean = 0;
	for (size_t i = 0; i < count; i++)
		mean += u->series[i] / (double)count;
	struct trend t = trend_of(u->series, count);
	double steps = (double)(u->rule.windows * per_window);
	return (fabs(t.slope) + t.error * student_quantile(STUDENT_99_9, t.degrees)) * steps / mean;
}

/* Looks for a drift in the last `windows` windows up to `last`, in the finest parts of which none is empty. */
static void find_drift(struct until_stable *u, int64_t last, int64_t windows)
{
	static const int64_t divisors[] = {10, 5, 2, 1};
	const int64_t first = (last + 1 - windows) * PARTS;
	size_t k = 0, count;
	bool empty;
	do {
		int64_t parts = PARTS / divisors[k];
		count = (size_t)(windows * divisors[k]);
		empty = false;
		for (size_t i = 0; i < count && !empty; i++)
			empty = sum_of(u, first + (int64_t)i * parts, parts).ok == 0;
	} while (empty && ++k < sizeof divisors / sizeof *divisors - 1);
	const int64_t parts = PARTS / divisors[k];
	for (size_t i = 0; i < count; i++)
		u->series[i] = (double)sum_of(u, first + (int64_t)i * parts, parts).ok;
	u->finding.throughput_drift = drift_of(u, count, divisors[k]);
	for (size_t i = 0; i < count; i++) {
		struct part sum = sum_of(u, first + (int64_t)i * parts, parts);
		u->series[i] = sum.latency_ns / (double)sum.ok;
	}
	u->finding.latency_drift = drift_of(u, count, divisors[k]);
	u->finding.judged = windows;
}

/* How many of the last windows up to `last` are within the tolerance of each other? Fills the finding for the last N.
 */
static int64_t agreeing(struct until_stable *u, int64_t last, struct range *throughput, struct range *latency)
{
	struct stable_finding *f = &u->finding;
	int64_t count = 0, most = last + 1 < LOOK_BACK ? last + 1 : LOOK_BACK;
	*throughput = *latency = (struct range){INFINITY, 0};
	for (; count < most; count++) {
		struct part sum = window_of(u, last - count);
		struct range t = *throughput, l = *latency;
		double rate = (double)sum.ok * 1e9 / (double)u->rule.window_ns, mean = sum.latency_ns / (double)sum.ok;
		widen(&t, rate);
		widen(&l, sum.ok ? mean : NAN);
		const double limit = 1 + u->rule.tolerance;
		bool agrees = sum.ok > 0 && t.high <= limit * t.low && l.high <= limit * l.low;
		if (count < u->rule.windows) {
			f->throughput[u->rule.windows - 1 - count] = rate;
			f->latency_ns[u->rule.windows - 1 - count] = sum.ok ? mean : NAN;
			*throughput = t;
			*latency = l;
		} else if (agrees) {
			*throughput = t;
			*latency = l;
		} else {
			break;
		}
	}
	return count;
}

static void explain_range(struct until_stable *u, const struct range *throughput, const struct range *latency)
{
	struct stable_finding *f = &u->finding;
	const bool by_latency = throughput->high <= (1 + u->rule.tolerance) * throughput->low;
	const struct range *r = by_latency ? latency : throughput;
	if (throughput->low > 0)
		snprintf(f->why_not, sizeof f->why_not, "%s of the last %lld windows differs by %.3g %%",
		         by_latency ? "latency" : "throughput", (long long)u->rule.windows, 100 * (r->high / r->low - 1));
	else
		snprintf(f->why_not, sizeof f->why_not, "no request succeeded in one of the last %lld windows",
		         (long long)u->rule.windows);
}

static void judge(struct until_stable *u, int64_t last)
{
	struct stable_finding *f = &u->finding;
	struct range throughput, latency;
	const double limit = 1 + u->rule.tolerance;
	f->judged = 0;
	f->throughput_drift = f->latency_drift = NAN;
	if (last + 1 < u->rule.windows) {
		snprintf(f->why_not, sizeof f->why_not, "only %lld of %lld windows so far", (long long)last + 1,
		         (long long)u->rule.windows);
		return;
	}
	f->to_ns = u->zero_ns + (last + 1) * u->rule.window_ns;
	f->from_ns = f->to_ns - u->rule.windows * u->rule.window_ns;
	int64_t windows = agreeing(u, last, &throughput, &latency);
	if (!(throughput.low > 0 && throughput.high <= limit * throughput.low && latency.high <= limit * latency.low)) {
		explain_range(u, &throughput, &latency);
		return;
	}
	find_drift(u, last, windows);
	f->stable = f->throughput_drift <= u->rule.tolerance && f->latency_drift <= u->rule.tolerance;
	if (f->stable) {
		f->why_not[0] = 0;
		return;
	}
	bool by_latency = f->throughput_drift <= u->rule.tolerance;
	double drift = by_latency ? f->latency_drift : f->throughput_drift;
	if (isfinite(drift))
		snprintf(f->why_not, sizeof f->why_not, "%s may drift by %.3g %% over %lld windows",
		         by_latency ? "latency" : "throughput", 100 * drift, (long long)u->rule.windows);
	else
		snprintf(f->why_not, sizeof f->why_not, "a drift of %s cannot be excluded",
		         by_latency ? "latency" : "throughput");
}

/* Judges each window final at this time. */
static bool advance(struct until_stable *u, int64_t t_ns)
{
	const int64_t late_ns = u->rule.window_ns / LATE_PART;
	if (u->finding.stable || u->zero_ns == IPF_ABSENT || t_ns > TIME_MOST)
		return u->finding.stable;
	int64_t over = (t_ns - late_ns - u->zero_ns) / u->rule.window_ns; /* ended windows */
	if (over - u->judged > LOOK_BACK) {                               /* a gap after which no earlier window counts */
		memset(u->ring, 0, RING * sizeof *u->ring);
		u->judged = over - 1;
	}
	while (u->judged < over && !u->finding.stable) {
		judge(u, u->judged++);
		/* the parts coming into use now */
		for (int64_t i = (u->judged + 2) * PARTS; i < (u->judged + 3) * PARTS; i++)
			u->ring[(size_t)i % RING] = (struct part){0};
	}
	if (u->finding.stable)
		u->finding.at_ns = t_ns;
	return u->finding.stable;
}

static void begin_stage(struct until_stable *u, const struct result *row)
{
	memset(u->ring, 0, RING * sizeof *u->ring);
	u->finding.stage = row->stage;
	u->finding.from_ns = u->finding.to_ns = IPF_ABSENT;
	u->zero_ns = row->start_ns;
	u->judged = 0;
	snprintf(u->finding.why_not, sizeof u->finding.why_not, "only 0 of %lld windows so far",
	         (long long)u->rule.windows);
}

static bool valid(int64_t t_ns)
{
	return t_ns >= -TIME_MOST && t_ns <= TIME_MOST;
}

static bool is_measured(const struct until_stable *u, int64_t stage)
{
	return (size_t)stage >= u->schedule->count || u->schedule->stages[stage].measured;
}

bool until_stable_row(struct until_stable *u, const struct result *row)
{
	if (!u)
		return false;
	if (!valid(row->end_ns) || !valid(row->start_ns))
		return u->finding.stable;
	if (advance(u, row->end_ns))
		return true;
	if (row->stage < 0 || !is_measured(u, row->stage))
		return false;
	if (u->finding.stage == IPF_ABSENT || row->stage > u->finding.stage)
		begin_stage(u, row);
	int64_t since = row->end_ns - u->zero_ns, part = since / u->part_ns, oldest = (u->judged - LOOK_BACK) * PARTS;
	if (!row->ok || row->stage != u->finding.stage || row->e2e_ns < 0 || since < 0 || part < oldest)
		return false;
	u->ring[(size_t)part % RING].ok++;
	u->ring[(size_t)part % RING].latency_ns += (double)row->e2e_ns;
	return false;
}

bool until_stable_time(struct until_stable *u, int64_t t_ns)
{
	return u && (valid(t_ns) ? advance(u, t_ns) : u->finding.stable);
}

bool until_stable_client(struct until_stable *u, struct slice line)
{
	struct ipf_error ignored = {0};
	int64_t t_ns;
	if (!u)
		return false;
	if (jdoc_parse(&u->doc, line.data, line.len, &ignored) < 0 ||
	    !jdoc_to_int(&u->doc, jdoc_get(&u->doc, JDOC_ROOT, "t_ns"), &t_ns))
		return u->finding.stable;
	return until_stable_time(u, t_ns);
}

/* ---- output ---- */

/* Six significant digits, so the text does not depend on the last bit. */
static json_t *number(double value)
{
	char text[32];
	snprintf(text, sizeof text, "%.6g", value);
	return isfinite(value) ? json_real(strtod(text, NULL)) : json_null();
}

json_t *until_stable_json(const struct until_stable *u)
{
	const struct stable_finding *f = &u->finding;
	json_t *json = json_pack("{s:o, s:I, s:I}", "tolerance", number(u->rule.tolerance), "windows",
	                         (json_int_t)u->rule.windows, "window_ns", (json_int_t)u->rule.window_ns);
	json_t *throughput = json_array(), *latency = json_array();
	int bad = !json;
	if (f->stage != IPF_ABSENT)
		bad |= json_object_set_new(json, "stage", json_integer((json_int_t)f->stage));
	if (!f->stable)
		bad |= json_object_set_new(json, "reason", json_string(f->why_not));
	for (int64_t i = 0; f->from_ns != IPF_ABSENT && i < u->rule.windows; i++) {
		bad |= json_array_append_new(throughput, number(f->throughput[i]));
		bad |= json_array_append_new(latency, number(f->latency_ns[i]));
	}
	if (f->from_ns != IPF_ABSENT) {
		bad |= json_object_set_new(json, "from_ns", json_integer((json_int_t)f->from_ns));
		bad |= json_object_set_new(json, "to_ns", json_integer((json_int_t)f->to_ns));
		bad |= json_object_set(json, "requests_per_s", throughput);
		bad |= json_object_set(json, "e2e_ns", latency);
	}
	if (f->stable) {
		bad |= json_object_set_new(json, "at_ns", json_integer((json_int_t)f->at_ns));
		bad |= json_object_set_new(json, "drift_windows", json_integer((json_int_t)f->judged));
		bad |= json_object_set_new(json, "requests_drift", number(f->throughput_drift));
		bad |= json_object_set_new(json, "e2e_drift", number(f->latency_drift));
	}
	json_decref(throughput);
	json_decref(latency);
	if (!bad)
		return json;
	json_decref(json);
	return NULL;
}

void until_stable_describe(const struct until_stable *u, struct buffer *out)
{
	const struct stable_finding *f = &u->finding;
	char from[32], to[32], window[32];
	if (!f->stable) {
		buffer_format(out, "--until-stable %s: not reached: %s", u->rule.text, f->why_not);
		return;
	}
	buffer_format(out, "stable from %s to %s (--until-stable %s): %lld windows of %s agree",
	              format_duration(f->from_ns, from), format_duration(f->to_ns, to), u->rule.text,
	              (long long)u->rule.windows, format_duration(u->rule.window_ns, window));
}

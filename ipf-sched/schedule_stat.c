#include "schedule_stat.h"

#include "absent.h"
#include "clock.h"
#include "kolmogorov.h"
#include "safe_text.h"
#include "stream/schedule.h"
#include "stages.h"
#include "stats/samples.h"
#include "cli/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The arrivals of a stage. */
struct stage_arrivals {
	struct samples at; /* seconds from the stage's beginning, of its heads */
	int64_t untimed;   /* heads without a time */
	int64_t followers;
};

/* ---- figures ---------------------------------------------------------------------------------------------------- */

static char *span(double seconds, char text[32])
{
	return format_duration(llrint(seconds * 1e9), text);
}

/* Gaps between heads, in seconds. -1: out of memory. */
static int gaps_between(const struct samples *at, struct samples *gaps)
{
	for (size_t i = 0; i + 1 < at->count; i++)
		samples_add(gaps, at->values[i + 1] - at->values[i]);
	return gaps->failed ? -1 : 0;
}

static void show_gaps(struct samples *gaps, struct buffer *out)
{
	char mean[32], p50[32], p99[32], most[32];
	double average = samples_mean(gaps), cv = samples_std(gaps) / average;

	buffer_format(out, "  gaps         mean %s, ", span(average, mean));
	if (isfinite(cv))
		buffer_format(out, "cv %.3f, ", cv);
	buffer_format(out, "p50 %s, p99 %s, max %s\n", span(samples_percentile(gaps, 50), p50),
	              span(samples_percentile(gaps, 99), p99), span(samples_percentile(gaps, 100), most));
}

/* Variance over mean of the counts in windows. */
static double dispersion(const struct samples *at, double window, size_t windows)
{
	double sum = 0, squares = 0;
	size_t i = 0;

	for (size_t w = 1; w <= windows; w++) {
		size_t before = i;
		while (i < at->count && at->values[i] < (double)w * window)
			i++;
		sum += (double)(i - before);
		squares += (double)(i - before) * (double)(i - before);
	}
	return (squares - sum * sum / (double)windows) / ((double)windows - 1) / (sum / (double)windows);
}

/* For windows of which the stage has at least 30, with one arrival or more each on average. */
static void show_dispersion(const struct samples *at, double length, struct buffer *out)
{
	static const double scales[] = {0.001, 0.01, 0.05, 0.2, 1, 5, 20, 60, 600};
	bool first = true;
	char text[32];

	for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
		double windows = floor(length / scales[i]);
		if (windows < 30 || (double)at->count / windows < 1)
			continue;
		double index = dispersion(at, scales[i], (size_t)windows);
		if (!isfinite(index)) /* all arrivals are behind the last whole window */
			continue;
		buffer_format(out, "%s%.2f over %s", first ? "  dispersion   " : ", ", index, span(scales[i], text));
		first = false;
	}
	if (!first)
		buffer_text(out, "\n");
}

static void show_over_time(const struct samples *at, double length, struct buffer *out)
{
	enum { PARTS = 10 };
	size_t i = 0;
	char text[32];

	buffer_text(out, "  over time   ");
	for (int part = 1; part <= PARTS; part++) {
		size_t before = i;
		while (i < at->count && (part == PARTS || at->values[i] < length * part / PARTS))
			i++;
		buffer_format(out, " %s", format_count((double)(i - before) * PARTS / length, text));
	}
	buffer_text(out, " per second\n");
}

/* ---- claims ----------------------------------------------------------------------------------------------------- */

static void claim_constant(const struct samples *at, double rate, struct buffer *out)
{
	double most = 0;

	for (size_t i = 0; i < at->count; i++)
		most = fmax(most, fabs(at->values[i] - (double)i / rate));
	/* Half a nanosecond of rounding, plus the precision of a double over a day. */
	buffer_format(out, "  as claimed   %s: arrivals at k/rate, to %.2g ns\n", most < 1e-9 ? "yes" : "no", most * 1e9);
}

static void claim_poisson(struct samples *gaps, double rate, struct buffer *out)
{
	double most = 0, p;

	samples_sort(gaps);
	for (size_t i = 0; i < gaps->count; i++) {
		double f = 1 - exp(-gaps->values[i] * rate);
		most = fmax(most, fmax(f - (double)i / (double)gaps->count, (double)(i + 1) / (double)gaps->count - f));
	}
	p = kolmogorov_p(most, (double)gaps->count);
	buffer_format(out, "  as claimed   %s: exponential gaps, Kolmogorov-Smirnov D %.4f, p %.3g\n",
	              p >= 0.001 ? "yes" : "no", most, p);
}

/* Is the coefficient of variation within four standard deviations of the requested one? The delta method gives its
 * deviation from the moments of the gaps. */
static void claim_cv(const struct samples *gaps, double wanted, struct buffer *out)
{
	double mean = samples_mean(gaps), moments[5] = {0}, n = (double)gaps->count, cv, deviation;

	for (size_t i = 0; i < gaps->count; i++)
		for (int k = 2; k <= 4; k++)
			moments[k] += pow(gaps->values[i] / mean - 1, k) / n;
	cv = sqrt(moments[2]);
	deviation = cv * sqrt(((moments[4] / (moments[2] * moments[2]) - 1) / 4 - moments[3] / moments[2] + cv * cv) / n);
	buffer_format(out, "  as claimed   %s: cv %.3f +- %.3f, requested %.3f\n",
	              fabs(cv - wanted) <= 4 * deviation ? "yes" : "no", cv, 2 * deviation, wanted);
}

static void claim(const struct stage *stage, const struct samples *at, struct samples *gaps, struct buffer *out)
{
	double least, most;

	if (strcmp(stage->kind->name, "constant") == 0) {
		claim_constant(at, stage->rate, out);
	} else if (strcmp(stage->kind->name, "poisson") == 0) {
		claim_poisson(gaps, stage->rate, out);
	} else if (stage->kind->gaps != GAPS_POISSON && !isnan(stage->rate)) {
		gaps_bounds(stage->kind->gaps, &least, &most);
		claim_cv(gaps, isnan(stage->cv) ? most : stage->cv, out);
	}
}

/* Tests whether the arrivals follow the distribution the spec names. */
static void show_claim(const struct schedule_stage *s, const struct samples *at, struct samples *gaps,
                       struct buffer *out)
{
	struct ipf_error ignored = {0}; /* a spec of another program: nothing to test */
	struct stages stages;

	if (s->all_arrivals > 0) /* a shard of a Poisson process is not a Poisson process */
		return;
	if (stages_parse(&stages, &(char *){s->spec}, 1, NULL, &ignored) == 0 && stages.count == 1 && gaps->count >= 20)
		claim(&stages.list[0], at, gaps, out);
	stages_release(&stages);
}

/* ---- stages ----------------------------------------------------------------------------------------------------- */

static void show_times(const struct schedule_stage *s, const struct samples *at, double length, struct buffer *out)
{
	struct samples gaps = {0};
	char achieved[32], planned[32];

	if (length > 0) {
		buffer_format(out, "  rate         %s/s", format_count((double)at->count / length, achieved));
		if (isfinite(s->rate))
			buffer_format(out, ", planned %s/s", format_count(s->rate, planned));
		buffer_text(out, "\n");
		show_over_time(at, length, out);
		show_dispersion(at, length, out);
	}
	if (gaps_between(at, &gaps) < 0)
		out->failed = true;
	else if (gaps.count > 0 && at->values[at->count - 1] > at->values[0]) {
		/* The claims first, since percentiles sort the gaps. */
		struct buffer claimed = {0};
		show_claim(s, at, &gaps, &claimed);
		show_gaps(&gaps, out);
		if (claimed.len)
			buffer_slice(out, buffer_all(&claimed));
		out->failed |= claimed.failed;
		buffer_release(&claimed);
	}
	samples_release(&gaps);
}

static void show_stage(const struct schedule_stage *s, const struct stage_arrivals *arrivals, struct buffer *out)
{
	double length = s->end_ns == IPF_ABSENT ? NAN : (double)(s->end_ns - s->begin_ns) / 1e9;
	char begin[32], text[32];

	buffer_text(out, "\n");
	safe_text_append(out, slice_of(s->name));
	buffer_text(out, ": ");
	safe_text_append(out, slice_of(s->spec));
	buffer_format(out, "%s\n  arrivals     %lld", s->measured ? "" : " (not measured)",
	              (long long)arrivals->at.count + arrivals->untimed);
	if (isnan(length))
		buffer_text(out, ", until the last request has ended");
	else
		buffer_format(out, " in %s, beginning at %s", span(length, text), format_duration(s->begin_ns, begin));
	if (arrivals->followers)
		buffer_format(out, ", and %lld followers", (long long)arrivals->followers);
	if (s->closed)
		buffer_format(out, ", %lld at a time%s%s", (long long)s->slots, s->cycle ? ", repeating the trace" : "",
		              s->salt ? " with other beginnings of its prompts" : "");
	else if (s->slots != IPF_ABSENT)
		buffer_format(out, ", at most %lld at a time", (long long)s->slots);
	buffer_text(out, "\n");
	if (s->closed && arrivals->followers)
		buffer_format(out,
		              s->sessions ? "  users        %lld people: each holds one session and thinks between its "
		                            "turns, so fewer requests than %lld may be in flight\n"
		                          : "  concurrency  %lld requests in flight: while the user of a session thinks, "
		                            "another session is sent; users=%lld are people who think\n",
		              (long long)s->slots, (long long)s->slots);
	if (arrivals->at.count > 0)
		show_times(s, &arrivals->at, isnan(length) ? 0 : length, out);
}

static void show_whole(const struct schedule *schedule, json_t *header, int64_t lines, struct buffer *out)
{
	const char *tool = json_string_value(json_object_get(header, "tool"));
	json_t *seed = json_object_get(header, "seed");

	buffer_format(out, "%lld lines, %zu stage%s", (long long)lines, schedule->count, schedule->count == 1 ? "" : "s");
	if (schedule->shards)
		buffer_format(out, ", shard %lld of %lld", (long long)schedule->shard, (long long)schedule->shards);
	if (tool)
		buffer_format(out, ", by %s", shown(tool).text);
	if (json_is_integer(seed))
		buffer_format(out, ", seed %lld", (long long)json_integer_value(seed));
	else if (json_is_string(seed))
		buffer_format(out, ", seed %s", shown(json_string_value(seed)).text);
	if (schedule->trace_requests != IPF_ABSENT)
		buffer_format(out, ", for a trace of %lld requests (%.12s…)", (long long)schedule->trace_requests,
		              shown(schedule->trace_sha256).text);
	buffer_text(out, "\n");
}

static int read_arrivals(struct schedule_reader *reader, struct stage_arrivals *arrivals, struct ipf_error *cut,
                         struct ipf_error *err)
{
	const struct schedule *schedule = schedule_reader_header(reader);
	struct schedule_arrival a;
	int got;

	while ((got = schedule_reader_next(reader, &a, err)) == 1) {
		struct stage_arrivals *s = &arrivals[a.stage];
		if (a.after_count)
			s->followers++;
		else if (a.at_ns == IPF_ABSENT)
			s->untimed++;
		else
			samples_add(&s->at, (double)(a.at_ns - schedule->stages[a.stage].begin_ns) / 1e9);
		if (s->at.failed)
			return ipf_error_memory(err);
	}
	if (got < 0 && err->kind == IPF_CUT) {
		*cut = *err;
		ipf_error_clear(err);
		got = 0;
	}
	return got;
}

/* From the beginning of the first stage to the end of the last one, or its last arrival. */
static void fill_plot(const struct schedule *schedule, const struct stage_arrivals *arrivals, struct rate_plot *plot)
{
	double end = 0;

	for (size_t i = 0; i < schedule->count; i++) {
		const struct schedule_stage *s = &schedule->stages[i];
		const struct samples *at = &arrivals[i].at;
		double begin = (double)s->begin_ns / 1e9;
		end = fmax(end, s->end_ns == IPF_ABSENT ? begin + (at->count ? at->values[at->count - 1] : 0)
		                                        : (double)s->end_ns / 1e9);
	}
	rate_plot_init(plot, 0, end);
	for (size_t i = 0; i < schedule->count; i++)
		for (size_t k = 0; k < arrivals[i].at.count; k++)
			rate_plot_add(plot, (double)schedule->stages[i].begin_ns / 1e9 + arrivals[i].at.values[k]);
}

int schedule_stat_describe(const char *path, struct rate_plot *plot, struct buffer *out, struct ipf_error *cut,
                           struct ipf_error *err)
{
	struct schedule_reader *reader = NULL;
	const struct schedule *schedule = NULL;
	struct stage_arrivals *arrivals = NULL;
	int status = -1;

	if (schedule_reader_open(&reader, path, err) < 0)
		goto out;
	schedule = schedule_reader_header(reader);
	arrivals = calloc(schedule->count ? schedule->count : 1, sizeof *arrivals);
	if (!arrivals) {
		ipf_error_memory(err);
		goto out;
	}
	if (read_arrivals(reader, arrivals, cut, err) < 0)
		goto out;
	show_whole(schedule, stream_reader_header(schedule_reader_stream(reader)),
	           stream_reader_lines(schedule_reader_stream(reader)), out);
	for (size_t i = 0; i < schedule->count; i++)
		show_stage(&schedule->stages[i], &arrivals[i], out);
	if (plot)
		fill_plot(schedule, arrivals, plot);
	status = out->failed ? ipf_error_memory(err) : 0;
out:
	for (size_t i = 0; arrivals && i < schedule->count; i++)
		samples_release(&arrivals[i].at);
	free(arrivals);
	schedule_reader_close(reader);
	return status;
}

#include "view/run_view.h"

#include "absent.h"
#include "view/screen.h"
#include "view/sparkline.h"
#include "cli/terminal.h"
#include "cli/units.h"
#include "clock.h"
#include "stats/histogram.h"
#include "view/live_samples.h"
#include "view/recent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN_EVERY  (200 * NS_PER_MS)
#define JUDGED_EVERY NS_PER_S
/* "Now" is the mean of this many seconds. */
#define NOW_SECONDS 5
#define LABEL       "%-10s"
/* The columns of the course of a figure: a fifth of the width, and no more than these. */
#define COURSE_MOST 40

struct run_view {
	const char *name;
	const struct schedule *schedule;
	struct screen screen;
	struct buffer line;
	int64_t planned; /* requests of the whole schedule; 0: not known */
	bool utf8;
	int64_t next_draw_ns, next_judge_ns;
	struct recent recent;
	struct histogram *ttft, *itl;
	struct live_samples samples;
	struct jdoc client;
	int64_t in_flight, waiting; /* from the last client line; IPF_ABSENT */
	int64_t begun_ns;           /* clock_now() at the start of the run, as far as is known */
	size_t spark_columns;
	bool over, empty; /* the run; no request of a measured stage has ended */
	bool predicted;   /* by a twin */
	enum verdict_status status;
	char why[1024];
};

/* 0: a stage repeats its requests until its time is over. */
static int64_t planned_requests(const struct schedule *schedule)
{
	int64_t sum = 0;
	for (size_t i = 0; i < schedule->count; i++) {
		if (schedule->stages[i].cycle)
			return 0;
		sum += schedule->stages[i].arrivals;
	}
	return sum;
}

struct run_view *run_view_new(const char *name, const struct schedule *schedule)
{
	struct run_view *v = calloc(1, sizeof *v);
	if (!v)
		return NULL;
	v->name = name;
	v->schedule = schedule;
	v->utf8 = terminal_is_utf8();
	v->in_flight = v->waiting = IPF_ABSENT;
	v->begun_ns = clock_now();
	v->planned = planned_requests(schedule);
	v->ttft = histogram_new();
	v->itl = histogram_new();
	if (v->ttft && v->itl) {
		terminal_take();
		return v;
	}
	run_view_free(v);
	return NULL;
}

void run_view_free(struct run_view *v)
{
	if (!v)
		return;
	terminal_give();
	screen_release(&v->screen);
	buffer_release(&v->line);
	histogram_free(v->ttft);
	histogram_free(v->itl);
	live_samples_release(&v->samples);
	jdoc_release(&v->client);
	free(v);
}

/* ---- input ---- */

void run_view_row(struct run_view *v, const struct observation *o)
{
	if (!v)
		return;
	recent_row(&v->recent, o);
	if (!o->row->ok)
		return;
	if (o->row->ttft_ns != IPF_ABSENT)
		histogram_add(v->ttft, o->row->ttft_ns, 1);
	for (size_t i = 0; i < o->measure->samples_count; i++)
		histogram_add(v->itl, o->measure->samples[i].value_ns, o->measure->samples[i].count);
}

void run_view_client(struct run_view *v, struct slice client)
{
	struct ipf_error ignored = {0};
	if (!v || jdoc_parse(&v->client, client.data, client.len, &ignored) < 0)
		return;
	int64_t t_ns;
	if (jdoc_to_int(&v->client, jdoc_get(&v->client, JDOC_ROOT, "t_ns"), &t_ns))
		v->begun_ns = clock_now() - t_ns;
	jdoc_to_int(&v->client, jdoc_get(&v->client, JDOC_ROOT, "in_flight"), &v->in_flight);
	jdoc_to_int(&v->client, jdoc_get(&v->client, JDOC_ROOT, "waiting"), &v->waiting);
}

void run_view_sample(struct run_view *v, struct slice line)
{
	if (!v)
		return;
	int64_t t_ns = live_samples_add(&v->samples, line);
	double waiting = live_samples_servers(&v->samples).waiting;
	if (t_ns != IPF_ABSENT && !isnan(waiting))
		recent_waiting(&v->recent, t_ns, waiting);
}

/* ---- the lines ---- */

static void begin(struct run_view *v, const char *label)
{
	buffer_clear(&v->line);
	buffer_format(&v->line, LABEL, label);
}

static void end(struct run_view *v)
{
	if (!v->line.failed)
		screen_line(&v->screen, v->line.data);
}

/* The course of the last seconds, always as wide, so the columns after it align. */
static void append_course(struct run_view *v, enum recent_figure figure)
{
	double values[RECENT_SECONDS];
	size_t count = recent_values(&v->recent, figure, values), most = v->spark_columns;
	size_t shown = count < most ? count : most;
	sparkline(&v->line, values + count - shown, shown, v->utf8);
	buffer_format(&v->line, "%*s", (int)(most - shown), "");
}

/* The stage running at this time of the run: the last one begun. */
static size_t stage_at(const struct schedule *schedule, int64_t t_ns)
{
	size_t stage = 0;
	for (size_t i = 0; i < schedule->count; i++)
		if (schedule->stages[i].begin_ns <= t_ns)
			stage = i;
	return stage;
}

static const char *show_time(int64_t ns, char text[32])
{
	long long seconds = ns / NS_PER_S;
	snprintf(text, 32, "%lld:%02lld", seconds / 60, seconds % 60);
	return text;
}

/* The time at which the schedule ends; IPF_ABSENT: requests decide. */
static int64_t planned_end(const struct schedule *schedule)
{
	int64_t end = 0;
	for (size_t i = 0; i < schedule->count && end != IPF_ABSENT; i++)
		end = schedule->stages[i].end_ns;
	return schedule->count ? end : IPF_ABSENT;
}

/* The finished share of the run, and how long the rest will take: by the schedule's time where every stage has one,
 * else by the ended requests, in proportion. */
static void append_progress(struct run_view *v, int64_t t_ns, const struct run_counts *counts)
{
	char left[32];
	int64_t end = planned_end(v->schedule), left_ns = IPF_ABSENT;
	double done = NAN;
	if (end != IPF_ABSENT && end > 0) {
		done = (double)t_ns / (double)end;
		left_ns = end > t_ns ? end - t_ns : 0;
	} else if (v->planned > 0) {
		done = (double)counts->rows / (double)v->planned;
		if (counts->rows > 0 && done < 1)
			left_ns = (int64_t)((double)t_ns * (1 - done) / done);
	}
	if (isnan(done))
		return;
	/* requests in flight after the schedule's end belong to the run */
	if (v->over)
		done = v->planned > 0 && counts->rows >= v->planned ? 1 : fmin(done, 1);
	else
		done = fmin(done, 0.99);
	buffer_format(&v->line, "%.0f %%  ", floor(100 * done));
	if (left_ns != IPF_ABSENT && left_ns > 0 && !v->over)
		buffer_format(&v->line, "%s left  ", show_time(left_ns + NS_PER_S - 1, left));
}

static void show_head(struct run_view *v, const struct run_counts *counts)
{
	int64_t t_ns = clock_now() - v->begun_ns;
	char time[32];
	begin(v, show_time(t_ns, time));
	append_progress(v, t_ns, counts);
	if (v->name)
		buffer_format(&v->line, "%s  ", v->name);
	if (v->schedule->count) {
		size_t i = stage_at(v->schedule, t_ns);
		buffer_format(&v->line, "stage %zu/%zu: %s", i + 1, v->schedule->count, v->schedule->stages[i].spec);
		if (!v->schedule->stages[i].measured)
			buffer_text(&v->line, "  (not measured)");
	}
	end(v);
}

static void append_rate(struct run_view *v, enum recent_figure figure, const char *unit)
{
	char text[32];
	double rate = recent_mean(&v->recent, figure, NOW_SECONDS);
	if (!isnan(rate))
		buffer_format(&v->line, "  %s %s", format_count(rate, text), unit);
}

static void show_requests(struct run_view *v, const struct run_counts *counts)
{
	begin(v, "requests");
	append_course(v, RECENT_REQUESTS);
	append_rate(v, RECENT_REQUESTS, "ended/s");
	buffer_format(&v->line, "  %lld ended", (long long)counts->rows);
	if (v->in_flight != IPF_ABSENT)
		buffer_format(&v->line, "  %lld in flight", (long long)v->in_flight);
	if (v->waiting != IPF_ABSENT && v->waiting > 0)
		buffer_format(&v->line, "  %lld waiting", (long long)v->waiting);
	end(v);
	begin(v, "tokens");
	append_course(v, RECENT_OUTPUT_TOKENS);
	append_rate(v, RECENT_OUTPUT_TOKENS, "output tokens/s");
	end(v);
}

static void show_latency(struct run_view *v, const char *label, enum recent_figure figure, const struct histogram *all)
{
	char text[32];
	double now = recent_mean(&v->recent, figure, NOW_SECONDS);
	if (!histogram_count(all))
		return;
	begin(v, label);
	append_course(v, figure);
	if (!isnan(now))
		buffer_format(&v->line, "  now %s", format_duration((int64_t)now, text));
	buffer_format(&v->line, "  p50 %s", format_duration((int64_t)histogram_percentile(all, 50), text));
	buffer_format(&v->line, "  p99 %s", format_duration((int64_t)histogram_percentile(all, 99), text));
	buffer_format(&v->line, "  max %s", format_duration(histogram_max(all), text));
	end(v);
}

/* Appends as much of a text as there is room for on the line. */
static void append_cut(struct run_view *v, const char *text)
{
	size_t room = v->screen.columns - 1, taken = terminal_width_of(buffer_all(&v->line));
	size_t len = room > taken ? terminal_cut(text, room - taken) : 0;
	if (text[len] && len)
		len = terminal_cut(text, room - taken - 1);
	buffer_format(&v->line, "%.*s%s", (int)len, text, !text[len] ? "" : v->utf8 ? "…" : ".");
}

/* Why most of them failed, and a remedy on a separate line. */
static void show_most(struct run_view *v, const struct failure *most)
{
	char text[FAILURE_TEXT + 80];
	if (!most)
		return;
	begin(v, "");
	append_cut(v, failure_describe(most, text, sizeof text));
	end(v);
	const char *hint = failure_hint(most);
	if (!hint)
		return;
	begin(v, "");
	append_cut(v, hint);
	end(v);
}

static void show_failures(struct run_view *v, const struct run_counts *counts)
{
	if (!counts->failed)
		return;
	begin(v, "failed");
	append_course(v, RECENT_FAILED);
	buffer_format(&v->line, "  %lld", (long long)counts->failed);
	run_counts_kinds(counts, "  ", &v->line);
	end(v);
	show_most(v, failure_tally_most(&counts->why));
}

static void append_count(struct run_view *v, const char *name, double value)
{
	char text[32];
	if (!isnan(value))
		buffer_format(&v->line, "  %s %s", name, format_count(value, text));
}

static void append_share(struct run_view *v, const char *name, double share)
{
	if (!isnan(share))
		buffer_format(&v->line, "  %s %.0f %%", name, 100 * share);
}

static void show_servers(struct run_view *v)
{
	struct server_now now = live_samples_servers(&v->samples);
	if (!now.servers)
		return;
	begin(v, now.servers > 1 ? "servers" : "server");
	append_course(v, RECENT_WAITING);
	if (now.failed)
		buffer_format(&v->line, "  %zu of %zu not scraped", now.failed, now.servers);
	append_count(v, "waiting", now.waiting);
	append_count(v, "running", now.running);
	append_share(v, "KV cache", now.kv_cache);
	append_count(v, "replicas", now.replicas);
	end(v);
}

static void show_gpus(struct run_view *v)
{
	struct gpu_now now = live_samples_gpus(&v->samples);
	if (!now.devices)
		return;
	begin(v, now.devices > 1 ? "GPUs" : "GPU");
	buffer_format(&v->line, "%zu", now.devices);
	append_share(v, "busy", now.utilization);
	append_share(v, "memory", now.memory_share);
	if (!isnan(now.power_w))
		buffer_format(&v->line, "  %.0f W", now.power_w);
	if (!isnan(now.temperature))
		buffer_format(&v->line, "  %.0f %s", now.temperature, v->utf8 ? "°C" : "C");
	end(v);
}

/* Can the question be answered before the end? How much of the load was delivered, and whether there are enough
 * samples, cannot; nor can any while nothing is measured, as in a warm-up. */
static bool is_settled(size_t question, const struct run_view *v)
{
	return v->over || (!v->empty && (question == VERDICT_CLIENT || question == VERDICT_SERVER));
}

/* The worst answer, and its sentence. */
static void judge(struct run_view *v, struct verdict *verdict, bool over)
{
	const struct verdict_finding *finding = verdict_judge(verdict);
	v->status = VERDICT_OK;
	v->over = over;
	v->predicted = verdict_is_predicted(verdict);
	v->empty = verdict_is_empty(verdict);
	for (size_t i = 0; finding && i < VERDICT_QUESTIONS; i++) {
		const struct verdict_check *check = &finding->checks[i];
		if (check->status == VERDICT_NOT_APPLICABLE || check->status <= v->status || !is_settled(i, v))
			continue;
		v->status = check->status;
		snprintf(v->why, sizeof v->why, "%s: %s", check->name, check->detail);
	}
}

static void show_verdict(struct run_view *v, bool over)
{
	begin(v, over ? "verdict" : "so far");
	if (v->predicted)
		buffer_text(&v->line, "PREDICTED, ");
	buffer_text(&v->line,
	            !over && v->empty && v->status == VERDICT_OK ? "nothing measured yet" : verdict_status_name(v->status));
	if (v->status != VERDICT_OK) {
		buffer_text(&v->line, ": ");
		append_cut(v, v->why);
	}
	end(v);
}

/* ---- drawing ---- */

static void draw(struct run_view *v, const struct run_counts *counts, bool over)
{
	screen_begin(&v->screen);
	v->spark_columns = v->screen.columns / 5 < COURSE_MOST ? v->screen.columns / 5 : COURSE_MOST;
	show_head(v, counts);
	show_requests(v, counts);
	show_latency(v, "TTFT", RECENT_TTFT, v->ttft);
	show_latency(v, "ITL", RECENT_ITL, v->itl);
	show_failures(v, counts);
	show_servers(v);
	show_gpus(v);
	show_verdict(v, over);
	screen_show(&v->screen);
}

void run_view_show(struct run_view *v, const struct run_counts *counts, struct verdict *verdict)
{
	int64_t now_ns = v ? clock_now() : 0;
	if (!v || now_ns < v->next_draw_ns)
		return;
	v->next_draw_ns = now_ns + DRAWN_EVERY;
	if (now_ns >= v->next_judge_ns) {
		v->next_judge_ns = now_ns + JUDGED_EVERY;
		judge(v, verdict, false);
	}
	draw(v, counts, false);
}

void run_view_end(struct run_view *v, const struct run_counts *counts, struct verdict *verdict)
{
	if (!v)
		return;
	judge(v, verdict, true);
	draw(v, counts, true);
	screen_leave(&v->screen);
}

/* The time a gateway adds to the requests it passes on, in all and over the run. */
#include "gateway/event_delays.h"
#include "gateway/gateway_json.h"
#include "json_report/json_figures.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOWS_MOST = 20 };

/* In the order of the report. `forward`: until it sends the request on; `return`: the first token on its way back. */
enum added { ADDED_TTFT, ADDED_FORWARD, ADDED_RETURN, ADDED_E2E, ADDED };
static const char *const added_names[ADDED] = {"ttft", "forward", "return", "e2e"};

/* Milliseconds; NAN: not known. */
struct added_time {
	int64_t start_ns;
	double ms[ADDED];
};

struct added_times {
	struct added_time *list; /* by the start of the request in front */
	size_t count;
};

static double difference_ms(int64_t front_ns, int64_t back_ns)
{
	return front_ns == IPF_ABSENT || back_ns == IPF_ABSENT ? NAN : (double)(front_ns - back_ns) / 1e6;
}

static struct added_time added_of(const struct gateway_request *front, const struct gateway_request *back,
                                  bool one_clock)
{
	struct added_time added = {.start_ns = front->start_ns};
	added.ms[ADDED_TTFT] = difference_ms(front->ttft_ns, back->ttft_ns);
	added.ms[ADDED_E2E] = difference_ms(front->e2e_ns, back->e2e_ns);
	added.ms[ADDED_FORWARD] = one_clock ? difference_ms(back->start_ns, front->start_ns) : NAN;
	added.ms[ADDED_RETURN] = added.ms[ADDED_TTFT] - added.ms[ADDED_FORWARD];
	return added;
}

static json_t *summary_of(const struct added_times *times, enum added which, int64_t begin_ns, int64_t end_ns)
{
	struct samples samples = {0};
	struct percentiles list;
	struct metric_summary summary;
	percentiles_default(&list);
	for (size_t i = 0; i < times->count; i++)
		if (times->list[i].start_ns >= begin_ns && times->list[i].start_ns < end_ns)
			samples_add(&samples, times->list[i].ms[which]);
	metric_summary_of_samples(&summary, &samples, 0, 1, &list);
	json_t *json = summary.n > 0 ? json_summary(&summary, &list) : json_object();
	samples_release(&samples);
	return json;
}

/* ---- over the run ---- */

/* The least length of 1, 2 or 5 times a power of ten, dividing the time into few windows. */
static int64_t window_length(int64_t span_ns)
{
	static const int64_t steps[] = {1, 2, 5};
	for (int64_t unit = 1000000;; unit *= 10)
		for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
			if (span_ns / WINDOWS_MOST < unit * steps[i] || unit > INT64_MAX / 100)
				return unit * steps[i];
}

static void put_median(json_t *to, const char *name, json_t *summary)
{
	json_t *median = json_object_get(summary, "p50");
	if (median)
		json_object_set(to, name, median);
	json_decref(summary);
}

static json_t *windows_of(const struct added_times *times)
{
	json_t *json = json_object(), *list = json_array();
	if (times->count > 0) {
		const int64_t begin_ns = times->list[0].start_ns, last_ns = times->list[times->count - 1].start_ns;
		const int64_t every_ns = window_length(last_ns - begin_ns);
		json_put_count(json, "every_ns", every_ns);
		for (int64_t at_ns = begin_ns; at_ns <= last_ns; at_ns += every_ns) {
			json_t *window = json_object();
			int64_t requests = 0;
			for (size_t i = 0; i < times->count; i++)
				requests += times->list[i].start_ns >= at_ns && times->list[i].start_ns < at_ns + every_ns;
			json_put_count(window, "begin_ns", at_ns - begin_ns);
			json_put_count(window, "requests", requests);
			put_median(window, "ttft_p50_ms", summary_of(times, ADDED_TTFT, at_ns, at_ns + every_ns));
			put_median(window, "e2e_p50_ms", summary_of(times, ADDED_E2E, at_ns, at_ns + every_ns));
			json_array_append_new(list, window);
		}
	}
	json_put_object(json, "list", list);
	return json;
}

/* ---- events ---- */

static json_t *events_of(const struct event_delays *d)
{
	json_t *json = json_object();
	if (d->requests == 0)
		return json;
	json_put_count(json, "requests", d->requests);
	json_put_count(json, "same", d->same);
	json_put_count(json, "merged", d->merged);
	json_put_count(json, "split", d->split);
	json_put_count(json, "front", d->events_front);
	json_put_count(json, "back", d->events_back);
	json_put(json, "front_coalesced_share", (double)d->coalesced_front / (double)d->events_front);
	json_put(json, "back_coalesced_share", (double)d->coalesced_back / (double)d->events_back);
	json_put_count(json, "timed", d->timed);
	json_put_count(json, "unmatched", d->unmatched);
	return json;
}

static void put_delays(json_t *added, const struct event_delays *d)
{
	struct percentiles list;
	struct metric_summary summary;
	if (!d->delays || histogram_count(d->delays) == 0)
		return;
	percentiles_default(&list);
	metric_summary_of_histogram(&summary, d->delays, 1e-6, &list);
	json_put_object(added, "event", json_summary(&summary, &list));
}

/* ---- all ---- */

static int read_pairs(const struct gateway *g, struct added_times *times, struct event_delays *delays,
                      struct ipf_error *err)
{
	const struct gateway_requests *const sides[] = {&g->sides[GATEWAY_FRONT], &g->sides[GATEWAY_BACK]};
	const bool one = g->pairing.clock.one;
	if (!(times->list = calloc(sides[0]->count + 1, sizeof *times->list)))
		return ipf_error_memory(err);
	for (size_t f = 0; f < sides[0]->count; f++) {
		const struct gateway_request *pair[] = {gateway_front(g, f), gateway_passed_on(g, f)};
		if (!pair[1])
			continue;
		times->list[times->count++] = added_of(pair[0], pair[1], one);
		if (event_delays_add(delays, sides, pair, one, err) < 0)
			return -1;
	}
	return row_lines_check(sides[0]->run->lines, err) < 0 || row_lines_check(sides[1]->run->lines, err) < 0 ? -1 : 0;
}

int gateway_json_added(json_t *to, const struct gateway *g, struct ipf_error *err)
{
	struct added_times times = {0};
	struct event_delays delays = {0};
	const int bad = read_pairs(g, &times, &delays, err);
	if (bad == 0) {
		json_t *added = json_object();
		json_put_count(added, "requests", (int64_t)times.count);
		for (enum added a = 0; a < ADDED; a++) {
			json_put_object(added, added_names[a], summary_of(&times, a, INT64_MIN, INT64_MAX));
			if (a == ADDED_RETURN)
				put_delays(added, &delays);
		}
		json_put_object(to, "added_ms", added);
		json_put_object(to, "windows", windows_of(&times));
		json_put_object(to, "events", events_of(&delays));
	}
	free(times.list);
	event_delays_release(&delays);
	return bad;
}

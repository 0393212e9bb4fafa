#include "json_report/json_figures.h"
#include "json_report/json_report.h"
#include "results/run_data.h"

#include <math.h>

static json_t *latency_json(const struct histogram *h)
{
	json_t *json = json_object();
	if (!h || histogram_count(h) == 0)
		return json;
	json_put_count(json, "n", histogram_count(h));
	json_put(json, "p50", histogram_percentile(h, 50) / 1e6);
	json_put(json, "p99", histogram_percentile(h, 99) / 1e6);
	return json;
}

static json_t *window_json(const struct window *w, int64_t begin_ns)
{
	json_t *json = json_object();
	json_put(json, "t_s", (double)begin_ns / 1e9);
	json_put_count(json, "scheduled", w->scheduled);
	json_put_count(json, "started", w->started);
	json_put_count(json, "ok", w->ok);
	json_put_count(json, "failed", window_failed(w));
	json_put_count(json, "hung_up", w->hung_up);
	if (w->unseen)
		json_put_count(json, "unseen", w->unseen);
	json_put(json, "in_flight", (double)w->in_flight_ns / (double)w->length_ns);
	json_put(json, "waiting", ((double)w->slot_wait_ns + (double)w->pool_wait_ns) / (double)w->length_ns);
	json_put_count(json, "input_tokens", w->input_tokens);
	json_put_count(json, "output_tokens", w->output_tokens);
	json_put_count(json, "failed_output_tokens", w->failed_output_tokens);
	json_put_object(json, "ttft_ms", latency_json(w->ttft_ns));
	json_put_object(json, "itl_ms", latency_json(w->itl_ns));
	json_put_object(json, "e2e_ms", latency_json(w->e2e_ns));
	json_put_object(json, "lag_ms", latency_json(w->lag_ns));
	return json;
}

/* Parts that are repeats have no time in common. */
json_t *json_series(const struct report *report)
{
	const struct run_data *run = report->run;
	json_t *json = json_object(), *list = json_array();
	const struct window *w = run->windows && (run->part_count == 1 || run->shards) ? series_get(run->windows, 0) : NULL;
	for (size_t i = 0; w;) {
		int64_t number = w->number, begin_ns = window_begin_ns(w);
		struct window *sum = window_new(number, 0, w->length_ns);
		for (; sum && w && w->number == number; w = series_get(run->windows, ++i))
			window_merge(sum, w);
		json_array_append_new(list, sum ? window_json(sum, begin_ns) : NULL);
		if (!sum)
			break;
		window_free(sum);
	}
	if (json_array_size(list) > 0)
		json_put(json, "every_s", (double)series_every_ns(run->windows) / 1e9);
	json_put_object(json, "windows", list);
	return json;
}

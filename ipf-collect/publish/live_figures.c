/* The published metrics: their names, their help texts, and where their values come from. ipf-metrics(5) has the same
 * list for users. */
#include "publish/live_metrics.h"

#include "absent.h"
#include "version.h"

#include <math.h>
#include <string.h>

static void put_count(struct metric_sink *s, const struct metric_family *family, int64_t value)
{
	if (value == IPF_ABSENT)
		return;
	s->begin(s, family);
	s->point(s, NULL, 0, (double)value);
	s->end(s);
}

static void put_seconds(struct metric_sink *s, const struct metric_family *family, int64_t ns)
{
	if (ns == IPF_ABSENT)
		return;
	s->begin(s, family);
	s->point(s, NULL, 0, (double)ns / 1e9);
	s->end(s);
}

/* ---- the run ---- */

static void put_info(struct metric_sink *s, const struct metric_family *family, const struct metric_label *labels,
                     size_t count)
{
	struct metric_label known[METRIC_LABELS_MOST];
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (*labels[i].value)
			known[kept++] = labels[i];
	s->begin(s, family);
	s->point(s, known, kept, 1);
	s->end(s);
}

static void walk_run(const struct live_figures *f, struct metric_sink *s)
{
	static const struct metric_family build = {"ipf_build", "Version of the program.", NULL, METRIC_INFO},
									  run = {"ipf_run",
	                                         "Name, model, target and API of the run, and the twin of a predicted "
	                                         "run.",
	                                         NULL, METRIC_INFO},
									  start = {"ipf_run_start_time_seconds", "When the run began, since the epoch.",
	                                           "seconds", METRIC_GAUGE},
									  time = {"ipf_run_time_seconds",
	                                          "Time of the run, from its begin, up to which requests have ended.",
	                                          "seconds", METRIC_GAUGE},
									  finished = {"ipf_run_finished", "1 when all records were read, before that 0.",
	                                              NULL, METRIC_GAUGE};
	const struct metric_label version[] = {{"version", IPF_VERSION}}, about[] = {{"api", f->api},
	                                                                             {"model", f->model},
	                                                                             {"name", f->run},
	                                                                             {"predicted", f->predicted},
	                                                                             {"target", f->target}};
	put_info(s, &build, version, 1);
	put_info(s, &run, about, sizeof about / sizeof *about);
	put_seconds(s, &start, f->start_unix_ns);
	put_seconds(s, &time, f->run_ns);
	put_count(s, &finished, f->finished);
}

static void walk_verdict(const struct live_figures *f, struct metric_sink *s)
{
	static const struct metric_family family = {
		"ipf_verdict_status", "Answer so far to a question of the verdict: 0 OK, 1 DOUBTFUL, 2 INVALID.", NULL,
		METRIC_GAUGE};
	bool any = false;
	for (size_t i = 0; i < VERDICT_QUESTIONS; i++) {
		const struct metric_label question = {"question", verdict_question_names[i]};
		if (!f->judged[i])
			continue;
		if (!any)
			s->begin(s, &family);
		any = true;
		s->point(s, &question, 1, (double)f->verdict[i]);
	}
	if (any)
		s->end(s);
}

static void walk_client(const struct live_figures *f, struct metric_sink *s)
{
	static const struct metric_family
		due = {"ipf_requests_due", "Due requests, by the client's last sample.", NULL, METRIC_COUNTER},
		started = {"ipf_requests_started", "Started requests.", NULL, METRIC_COUNTER},
		in_flight = {"ipf_requests_in_flight", "Requests in flight, by the client's last sample.", NULL, METRIC_GAUGE},
		waiting = {"ipf_requests_waiting", "Due requests waiting for a slot or a connection.", NULL, METRIC_GAUGE},
		bytes = {"ipf_client_received_bytes", "Bytes of the bodies of ended responses.", "bytes", METRIC_COUNTER},
		busiest = {"ipf_client_busiest_thread_ratio",
	               "Share of a core used by the client's busiest sending thread in its last second.", "ratio",
	               METRIC_GAUGE};
	const struct live_client *c = &f->client;
	put_count(s, &due, c->due);
	/* a client line is up to a second old, a row is not */
	put_count(s, &started, c->started > f->rows_started ? c->started : f->rows_started);
	put_count(s, &in_flight, c->in_flight);
	put_count(s, &waiting, c->waiting);
	put_count(s, &bytes, c->bytes);
	if (isnan(c->busiest))
		return;
	s->begin(s, &busiest);
	s->point(s, NULL, 0, c->busiest);
	s->end(s);
}

/* ---- the stages ---- */

static void walk_outcomes(const struct live_figures *f, struct metric_sink *s)
{
	static const struct metric_family family = {
		"ipf_requests", "Ended requests, by outcome: ok, hung-up, or the kind of their error.", NULL, METRIC_COUNTER};
	s->begin(s, &family);
	for (size_t i = 0; i < f->stages_count; i++)
		for (size_t k = 0; k < LIVE_OUTCOMES; k++) {
			const struct metric_label labels[] = {{"outcome", k == LIVE_OK ? "ok" : verdict_kinds[k]},
			                                      {"stage", f->stages[i]->name}};
			s->point(s, labels, 2, (double)f->stages[i]->outcomes[k]);
		}
	s->end(s);
}

/* An integer of each stage knowing it. */
static void put_stages(const struct live_figures *f, struct metric_sink *s, const struct metric_family *family,
                       size_t offset)
{
	bool any = false;
	for (size_t i = 0; i < f->stages_count; i++) {
		const struct metric_label stage = {"stage", f->stages[i]->name};
		int64_t value;
		memcpy(&value, (const char *)f->stages[i] + offset, sizeof value);
		if (value == IPF_ABSENT)
			continue;
		if (!any)
			s->begin(s, family);
		any = true;
		s->point(s, &stage, 1, (double)value);
	}
	if (any)
		s->end(s);
}

static const struct {
	struct metric_family family;
	size_t offset;
} stage_values[] = {
	{{"ipf_requests_scheduled", "Requests in the schedule.", NULL, METRIC_GAUGE},
     offsetof(struct live_stage, scheduled)},
	{{"ipf_input_tokens", "Input tokens of the ended requests.", NULL, METRIC_COUNTER},
     offsetof(struct live_stage, input_tokens)},
	{{"ipf_output_tokens", "Output tokens of successful requests.", NULL, METRIC_COUNTER},
     offsetof(struct live_stage, output_tokens)},
	{{"ipf_failed_output_tokens", "Output tokens of failed requests.", NULL, METRIC_COUNTER},
     offsetof(struct live_stage, failed_output_tokens)},
	{{"ipf_reasoning_tokens", "Output tokens of reasoning, as the server reports them.", NULL, METRIC_COUNTER},
     offsetof(struct live_stage, reasoning_tokens)},
	{{"ipf_cached_tokens", "Input tokens in the server's cache, as it reports them.", NULL, METRIC_COUNTER},
     offsetof(struct live_stage, cached_tokens)},
	{{"ipf_content_events", "Events with content, of all requests.", NULL, METRIC_COUNTER},
     offsetof(struct live_stage, events)},
	{{"ipf_coalesced_events", "Content events arriving together with another one.", NULL, METRIC_COUNTER},
     offsetof(struct live_stage, coalesced)},
	{{"ipf_stalls", "Stalls between content events.", NULL, METRIC_COUNTER}, offsetof(struct live_stage, stalls)},
};

static const struct metric_family latencies[LIVE_LATENCIES] = {
	[LIVE_TTFT] = {"ipf_time_to_first_token_seconds", "From the start of a request to its first content event.",
                   "seconds", METRIC_HISTOGRAM},
	[LIVE_ITL] = {"ipf_inter_token_latency_seconds", "Inter-token latency, as --itl defines a sample.", "seconds",
                  METRIC_HISTOGRAM},
	[LIVE_E2E] = {"ipf_e2e_request_latency_seconds", "From the start of a request to its last content event.",
                  "seconds", METRIC_HISTOGRAM},
	[LIVE_LAG] = {"ipf_start_lag_seconds", "How long after its due time a request was started.", "seconds",
                  METRIC_HISTOGRAM},
};

static void walk_latency(const struct live_figures *f, struct metric_sink *s, enum live_latency which)
{
	s->begin(s, &latencies[which]);
	for (size_t i = 0; i < f->stages_count; i++) {
		const struct metric_label stage = {"stage", f->stages[i]->name};
		s->histogram(s, &stage, 1, &f->stages[i]->latencies[which]);
	}
	s->end(s);
}

void live_figures_walk(const struct live_figures *figures, struct metric_sink *sink)
{
	walk_run(figures, sink);
	walk_verdict(figures, sink);
	walk_client(figures, sink);
	if (!figures->stages_count)
		return;
	walk_outcomes(figures, sink);
	for (size_t i = 0; i < sizeof stage_values / sizeof *stage_values; i++)
		put_stages(figures, sink, &stage_values[i].family, stage_values[i].offset);
	for (size_t i = 0; i < LIVE_LATENCIES; i++)
		walk_latency(figures, sink, (enum live_latency)i);
}

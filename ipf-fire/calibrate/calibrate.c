#include "calibrate/calibrate.h"

#include "absent.h"
#include "calibrate/accuracy.h"
#include "calibrate/calibration_server.h"
#include "run/load_shape.h"
#include "cli/units.h"
#include "clock.h"
#include "http/timestamp.h"
#include "run/calibration.h"
#include "run/host.h"
#include "run/generated_input.h"
#include "run/run.h"
#include "safe_text.h"
#include "stats/histogram.h"
#include "stats/rng.h"
#include "version.h"
#include "stream/stream_keep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define WITHIN_NS    NS_PER_MS
#define LENGTH_NS    (2 * NS_PER_S) /* longer streams are shortened to this */
#define REQUESTS     100            /* measured at least, if three times the duration is enough for them */
#define DOUBLINGS    8
#define HALVINGS     6
#define STEPS        2 /* between the highest good load and the lowest bad one */
#define FILES_BESIDE 64

/* A calibration in progress. */
struct calibration_run {
	const struct fire_options *options;
	struct load_shape base; /* the load to calibrate for, with streams of at most LENGTH_NS */
	bool kernel_timestamps;
	struct calibration_server server;
	struct generated_input trace;
	char records[64]; /* temporary file */
	struct accuracy at_base;
	bool base_good;
	double highest;      /* streams of the highest good load; 0: none was good */
	double most_streams; /* limited by the number of open files */
	json_t *levels;
};

/* ---- one load ---- */

/* A Poisson schedule: a ramp until all streams are open, then the part measured. */
static int make_schedule(double rate, int64_t length_ns, struct generated_input *schedule, struct ipf_error *err)
{
	size_t most = (size_t)(rate * (double)length_ns / 1e9 * 1.5) + 100, count = 0;
	int64_t *at_ns = calloc(most, sizeof *at_ns);
	struct rng gaps;
	double at = 0;
	if (!at_ns)
		return ipf_error_memory(err);
	rng_init(&gaps, 1, "calibration", 0);
	for (; count < most; count++) {
		at += rng_exponential(&gaps) / rate * 1e9;
		if (at >= (double)length_ns)
			break;
		at_ns[count] = (int64_t)at;
	}
	const struct schedule_stage stage = {.name = (char *)"calibration",
	                                     .kind = (char *)"poisson",
	                                     .spec = (char *)"calibration",
	                                     .end_ns = length_ns,
	                                     .slots = IPF_ABSENT,
	                                     .arrivals = (int64_t)count,
	                                     .rate = rate,
	                                     .measured = true};
	int result = generated_input_schedule(schedule, &stage, at_ns, err);
	free(at_ns);
	return result;
}

/* The user's options, except those about the server. */
static struct fire_options run_options(const struct calibration_run *c)
{
	static const struct string_list none;
	struct fire_options o = *c->options;
	o.common = (struct common_options){.output = c->records, .quiet = true, .seed = 1};
	o.run.trace = c->trace.path;
	o.run.model = "calibration";
	o.api = "openai-chat";
	o.key_env = o.key_file = o.cacert = o.cert = o.key = o.unix_socket = o.proxy = o.bind = NULL;
	o.run.cancels = (struct cancels){0};
	o.resolve = o.params = o.headers = o.record_headers = none;
	if (o.connections.policy.kind != CONNECTION_POLICY_FRESH) {
		o.connections.text = "reuse";
		o.connections.policy.kind = CONNECTION_POLICY_REUSE;
	}
	o.connections.policy.http = HTTP_1_1;
	o.run.history = HISTORY_RECORDED;
	o.timestamps = c->kernel_timestamps ? TIMESTAMPS_KERNEL : TIMESTAMPS_USER;
	o.calibration = "none";
	o.run.force = true; /* each run replaces the records of the one before */
	o.run.first_token_timeout_ns = o.wait_ready_ns = 0;
	o.answers = ANSWERS_FREE;
	o.calibrate = o.exact_output = o.no_stream = o.insecure = false;
	return o;
}

static int run_level(struct calibration_run *c, double streams, struct accuracy *a, struct ipf_error *err)
{
	struct load_shape shape = c->base;
	shape.streams = streams;
	double rate = load_shape_rate(&shape), factor = fmin(3, fmax(1, REQUESTS / rate * 1e9 / (double)shape.for_ns));
	int64_t ramp_ns = load_shape_length(&shape), length_ns = ramp_ns + (int64_t)((double)shape.for_ns * factor);
	struct fire_options o = run_options(c);
	const char *url = c->server.url;
	o.urls = (struct string_list){.items = &url, .count = 1};
	struct generated_input schedule = {.fd = -1};
	if (accuracy_init(a, err) < 0 || make_schedule(rate, length_ns, &schedule, err) < 0)
		return -1;
	int status = fire_run(&o, schedule.path, json_array());
	generated_input_release(&schedule);
	if (status)
		return ipf_error_set(err, IPF_SYSTEM, "the run against the calibration server failed");
	if (accuracy_read(a, c->records, ramp_ns, length_ns, err) < 0)
		return -1;
	return a->interrupted ? ipf_error_set(err, IPF_SYSTEM, "interrupted: no calibration was written") : 0;
}

/* ---- results ---- */

static json_t *errors_json(const struct histogram *h)
{
	if (!histogram_count(h))
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "mean", (json_int_t)histogram_mean(h), "p50",
	                 (json_int_t)histogram_percentile(h, 50), "p99", (json_int_t)histogram_percentile(h, 99), "p999",
	                 (json_int_t)histogram_percentile(h, 99.9), "max", (json_int_t)histogram_max(h));
}

static void set_load(json_t *to, const struct calibration_run *c, double streams)
{
	struct load_shape shape = c->base;
	shape.streams = streams;
	double rate = load_shape_rate(&shape);
	json_object_set_new(to, "streams", json_real(round(streams * 10) / 10));
	json_object_set_new(to, "requests_per_s", json_real(round(rate * 10) / 10));
	json_object_set_new(to, "events_per_s", json_real(round(rate * (double)shape.stream.events)));
}

static void set_accuracy(json_t *to, const struct accuracy *a)
{
	json_object_set_new(to, "requests", json_integer(a->requests));
	json_object_set_new(to, "failed", json_integer(a->failed));
	json_object_set_new(to, "events", json_integer(a->events));
	json_object_set_new(to, "ttft_error_ns", errors_json(a->ttft));
	json_object_set_new(to, "itl_error_ns", errors_json(a->itl));
	json_object_set_new(to, "event_error_ns", errors_json(a->event));
	json_object_set_new(to, "lag_ns", errors_json(a->lag));
}

static char *p99_of(const struct histogram *h, char text[32])
{
	return histogram_count(h) ? format_duration((int64_t)histogram_percentile(h, 99), text) : strcpy(text, "-");
}

/* Returns whether the load was good. */
static bool note_level(struct calibration_run *c, double streams, const struct accuracy *a)
{
	bool good = accuracy_within(a, WITHIN_NS);
	json_t *level = json_object();
	set_load(level, c, streams);
	set_accuracy(level, a);
	json_object_set_new(level, "good", json_boolean(good));
	json_array_append_new(c->levels, level);
	if (good && streams > c->highest)
		c->highest = streams;
	if (c->options->common.verbose && !c->options->common.quiet) {
		char ttft[32], itl[32], lag[32];
		fprintf(stderr,
		        "ipf-fire: %.0f streams: p99 error of TTFT %s, ITL %s, start %s; %lld of %lld requests failed; %s\n",
		        streams, p99_of(a->ttft, ttft), p99_of(a->itl, itl), p99_of(a->lag, lag), (long long)a->failed,
		        (long long)a->requests, good ? "within 1 ms" : "not within 1 ms");
	}
	return good;
}

/* ---- the search ---- */

/* 1: good, 0: bad, -1: error. A bad load is tried twice, because a pause of the machine may be the cause. */
static int try_load(struct calibration_run *c, double streams, struct ipf_error *err)
{
	int good = 0;
	for (int i = 0; i < 2 && !good && streams <= c->most_streams; i++) {
		struct accuracy a;
		good = run_level(c, streams, &a, err) < 0 ? -1 : note_level(c, streams, &a);
		accuracy_release(&a);
	}
	return good;
}

/* Starts at the load to calibrate for; doubles it while it is good, or halves it until it is; then narrows the limit
 * down. */
static int search(struct calibration_run *c, struct ipf_error *err)
{
	double good = c->base_good ? c->base.streams : 0, bad = c->base_good ? 0 : c->base.streams;
	for (int i = 0; bad <= 0 && i < DOUBLINGS; i++) {
		int got = try_load(c, 2 * good, err);
		if (got < 0)
			return -1;
		*(got ? &good : &bad) = 2 * good;
	}
	for (int i = 0; good <= 0 && i < HALVINGS && bad > 1; i++) {
		int got = try_load(c, bad / 2, err);
		if (got < 0)
			return -1;
		*(got ? &good : &bad) = bad / 2;
	}
	for (int i = 0; good > 0 && bad > 0 && i < STEPS; i++) {
		double middle = sqrt(good * bad);
		int got = try_load(c, middle, err);
		if (got < 0)
			return -1;
		*(got ? &good : &bad) = middle;
	}
	return 0;
}

/* ---- calibration ---- */

static json_t *result_json(const struct calibration_run *c)
{
	char now[32];
	json_t *result = json_pack("{s:s, s:i, s:s}", "ipf", "calibration", "version", 1, "tool", "ipf-fire " IPF_VERSION),
		   *shape = json_object();
	clock_format(clock_wall(), now);
	json_object_set_new(result, "created", json_string(now));
	json_object_set_new(result, "host", host_json());
	json_object_set_new(result, "stamps", json_string(c->kernel_timestamps ? "kernel" : "user"));
	set_load(shape, c, c->base.streams);
	json_object_set_new(shape, "events", json_integer(c->base.stream.events));
	json_object_set_new(shape, "first_ns", json_integer(c->base.stream.first_ns));
	json_object_set_new(shape, "gap_ns", json_integer(c->base.stream.gap_ns));
	json_object_set_new(result, "shape", shape);
	set_accuracy(result, &c->at_base);
	json_object_set_new(result, "within_ns", json_integer(WITHIN_NS));
	if (c->highest > 0) {
		json_t *highest = json_object();
		set_load(highest, c, c->highest);
		json_object_set_new(result, "highest", highest);
	}
	json_object_set(result, "levels", c->levels);
	return result;
}

static void show_errors(const char *name, const struct histogram *h)
{
	char p50[32], p99[32], most[32];
	if (histogram_count(h))
		printf("  %-10s  %10s  %10s  %10s\n", name, format_duration((int64_t)histogram_percentile(h, 50), p50),
		       p99_of(h, p99), format_duration(histogram_max(h), most));
}

static int show(const struct calibration_run *c, const char *path, struct ipf_error *err)
{
	struct load_shape top = c->base;
	printf("%.0f streams of %lld events, %.1f requests/s, %.0f events/s; timestamps: %s\n", c->base.streams,
	       (long long)c->base.stream.events, load_shape_rate(&c->base),
	       load_shape_rate(&c->base) * (double)c->base.stream.events, c->kernel_timestamps ? "kernel" : "user");
	printf("  %-10s  %10s  %10s  %10s\n", "error of", "p50", "p99", "max");
	show_errors("TTFT", c->at_base.ttft);
	show_errors("ITL", c->at_base.itl);
	show_errors("event", c->at_base.event);
	show_errors("start", c->at_base.lag);
	if (c->at_base.failed)
		printf("  %lld of %lld requests failed\n", (long long)c->at_base.failed, (long long)c->at_base.requests);
	top.streams = c->highest;
	if (c->highest > 0)
		printf("within 1 ms at p99 up to %.0f streams, %.0f requests/s, %.0f events/s\n", c->highest,
		       load_shape_rate(&top), load_shape_rate(&top) * (double)top.stream.events);
	else
		printf("not within 1 ms at p99 even with %.1f streams\n", c->base.streams / (1 << HALVINGS));
	printf("written to %s\n", shown(path).text);
	if (fflush(stdout) != 0 || ferror(stdout))
		return ipf_error_errno(err, errno, "standard output", "cannot write");
	return 0;
}

static int make_trace(struct calibration_run *c, struct ipf_error *err)
{
	struct trace_request request;
	trace_request_init(&request);
	request.id = slice_of("\"calibration\"");
	request.messages = slice_of("[{\"role\":\"user\",\"content\":\"Tell me.\"}]");
	request.output_tokens = c->base.stream.events;
	return generated_input_trace(&c->trace, &request, err);
}

/* A temporary file, compressed as the records of any run. */
static int make_records(struct calibration_run *c, struct ipf_error *err)
{
	const char *folder = getenv("TMPDIR");
	struct rlimit files;
	int len = snprintf(c->records, sizeof c->records, "%s/ipf-calibrate.XXXXXX.zst",
	                   folder && strlen(folder) < 32 ? folder : "/tmp");
	int fd = len > 0 ? mkstemps(c->records, 4) : -1;
	if (fd < 0) {
		int why = errno;
		c->records[0] = '\0';
		return ipf_error_errno(err, why, NULL, "cannot create a temporary file for the records");
	}
	close(fd);
	c->most_streams = INFINITY;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max != RLIM_INFINITY) {
		files.rlim_cur = files.rlim_max; /* for the server, which needs as many files as the client */
		setrlimit(RLIMIT_NOFILE, &files);
		c->most_streams = ((double)files.rlim_max - FILES_BESIDE) /
		                  1.25; /* a Poisson process exceeds its mean at times */
	}
	return 0;
}

static int set_up(struct calibration_run *c, const char *schedule, struct ipf_error *err)
{
	const struct fire_options *o = c->options;
	if (load_shape_of(&c->base, schedule, o->run.trace, err) < 0)
		return -1;
	/* the same number of streams, but shortened, so the calibration does not take minutes: more requests start than in
	 * the original load */
	struct stream_shape *a = &c->base.stream;
	if (a->first_ns > LENGTH_NS / 2)
		a->first_ns = LENGTH_NS / 2;
	if (a->gap_ns > LENGTH_NS / 2)
		a->gap_ns = LENGTH_NS / 2;
	if (load_shape_length(&c->base) > LENGTH_NS)
		a->events = 1 + (LENGTH_NS - a->first_ns) / a->gap_ns;
	const char *why = o->timestamps == TIMESTAMPS_USER ? "" : timestamps_trial();
	c->kernel_timestamps = !why;
	if (why && *why && o->timestamps == TIMESTAMPS_KERNEL)
		return ipf_error_set(err, IPF_SYSTEM, "--stamps: kernel receive timestamps are unavailable: %s", why);
	if (make_records(c, err) < 0)
		return -1;
	if (c->base.streams > c->most_streams)
		return c->most_streams < 1
		           ? ipf_error_set(
						 err, IPF_SYSTEM,
						 "--calibrate: the limit of open files is too low for one stream (raise it: ulimit -n)")
		           : ipf_error_set(
						 err, IPF_SYSTEM,
						 "--calibrate: %.0f concurrent streams, but the limit of open files allows %.0f (raise it: ulimit -n)",
						 c->base.streams, floor(c->most_streams));
	return calibration_server_start(&c->server, a, err) < 0 || make_trace(c, err) < 0 ? -1 : 0;
}

static int run_calibration(struct calibration_run *c, const char *schedule, const char *path, struct ipf_error *err)
{
	if (set_up(c, schedule, err) < 0 || run_level(c, c->base.streams, &c->at_base, err) < 0)
		return -1;
	c->base_good = note_level(c, c->base.streams, &c->at_base);
	if (search(c, err) < 0)
		return -1;
	json_t *result = result_json(c);
	int status = calibration_save(path, result, err);
	json_decref(result);
	return status < 0 || !strcmp(path, "-") ? status : show(c, path, err);
}

int calibrate(const struct fire_options *options, const char *schedule)
{
	struct calibration_run c = {
		.options = options, .server.pid = -1, .trace.fd = -1, .levels = json_array(), .base = options->shape};
	struct ipf_error err = {0};
	char *kept = options->common.output ? NULL : calibration_path();
	const char *path = options->common.output ? options->common.output : kept;
	if (path && !options->run.force && stream_keep_check(path, "records", &err) < 0)
		;
	else if (path)
		run_calibration(&c, schedule, path, &err);
	else
		ipf_error_set(&err, IPF_SYSTEM, "neither XDG_STATE_HOME nor HOME is set: use -o FILE to write the calibration");
	calibration_server_stop(&c.server);
	generated_input_release(&c.trace);
	if (c.records[0])
		unlink(c.records);
	accuracy_release(&c.at_base);
	json_decref(c.levels);
	free(kept);
	return ipf_error_report(&err, stderr, "ipf-fire");
}

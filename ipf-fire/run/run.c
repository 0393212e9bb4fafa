#include "run/run.h"

#include "run/cgroup_limits.h"
#include "run/calibration.h"
#include "run/capacity.h"
#include "clock.h"
#include "run/engine.h"
#include "run/records_header.h"
#include "cli/interrupt.h"
#include "run/probe.h"
#include "cli/progress.h"
#include "endpoint/preflight.h"
#include "endpoint/wait_ready.h"
#include "run/recorder.h"
#include "run/start_time.h"
#include "run/stop_rule.h"
#include "run/thread_count.h"
#include "cli/units.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_START_NS (20 * NS_PER_MS) /* from everything being ready to the run's start */
#define RECORDS_QUEUE 65536            /* of all threads together */
#define JOBS_SPARE    4096

struct run {
	const struct fire_options *options;
	const char *schedule;
	json_t *argv, *params;
	struct api *api;
	struct endpoint_options at;
	struct endpoint target;
	struct network_path route;
	struct cancels cancels;
	struct balance *balance;
	struct arrival_reader *plan;
	struct renderer *renderer;
	struct feeder *feeder;
	struct history *history; /* NULL: the trace's */
	struct engine *engine;
	struct recorder *recorder;
	struct stream_writer *writer;
	size_t threads;
	struct queue *records[THREADS_MOST]; /* one for each thread that sends */
	struct queue *spare;                 /* jobs that have been recorded */
	struct run_counters gauges;
	struct thread_stats *meters[THREADS_MOST];
	pthread_t senders[THREADS_MOST];
	struct engine_result result;
	bool streamed, kernel_stamps;
	struct start_time start;
	int early_signals; /* came while the start was waited for */
	struct stop_rule_rule stop;
	bool begun;                        /* its time has come */
	char stopped[128];                 /* why it was; "" */
	struct string_list record_headers; /* the user's, and those that the API's descriptor reads */
	struct ipf_error input;            /* what was wrong with it, while the run went on with what was good */
	int signal_fd;
	struct generated_input probe; /* a schedule */
	int64_t zero_ns;
};

/* ---- before the run ---- */

static int gather_headers(struct run *r, struct ipf_error *err)
{
	const struct string_list *own = &r->options->record_headers;
	size_t count = 0;
	while (api_response_header(r->api, count))
		count++;
	r->record_headers.items = calloc(own->count + count + 2, sizeof *own->items);
	if (!r->record_headers.items)
		return ipf_error_memory(err);
	for (size_t i = 0; i < own->count; i++)
		r->record_headers.items[r->record_headers.count++] = own->items[i];
	for (size_t i = 0; i < count; i++)
		r->record_headers.items[r->record_headers.count++] = api_response_header(r->api, i);
	if (r->options->probe)
		r->record_headers.items[r->record_headers.count++] = "*";
	return 0;
}

static int open_inputs(struct run *r, struct ipf_error *err)
{
	const struct fire_options *o = r->options;
	r->params = json_object();
	for (size_t i = 0; i < o->params.count; i++)
		if (param_parse(r->params, o->params.items[i], err) < 0)
			return -1;
	if (api_open(&r->api, o->api, err) < 0)
		return -1;
	r->streamed = !o->no_stream && api_response(r->api, true);
	if (!api_response(r->api, r->streamed))
		return ipf_error_set(err, IPF_USAGE, "--no-stream: %s has no whole answers", api_name(r->api));
	struct body_renderer_options render = {
		.model = o->model,
		.params = r->params,
		.exact_output = o->exact_output,
		.streamed = r->streamed,
		.measure_prompt = api_response(r->api, r->streamed)->text_mode == API_CUMULATIVE_WITH_PROMPT,
		.protobuf = api_protobuf(r->api),
		.message = api_request_type(r->api, r->streamed),
	};
	r->at = (struct endpoint_options){.urls = &o->urls,
	                                  .headers = &o->headers,
	                                  .key_env = o->key_env,
	                                  .key_file = o->key_file,
	                                  .streamed = r->streamed,
	                                  .timeout_ns = o->timeout_ns};
	const struct network_path_options route = {.unix_socket = o->unix_socket,
	                                           .proxy = o->proxy,
	                                           .bind = o->bind,
	                                           .resolve = &o->resolve,
	                                           .dns = o->dns,
	                                           .insecure = o->insecure,
	                                           .cacert = o->cacert,
	                                           .cert = o->cert,
	                                           .key = o->key};
	if (renderer_new(&r->renderer, api_request(r->api), &render, err) < 0 ||
	    endpoint_open(&r->target, r->api, &r->at, err) < 0 || network_path_open(&r->route, &route, err) < 0 ||
	    gather_headers(r, err) < 0)
		return -1;
	if (o->probe && probe_schedule(&r->probe, err) < 0)
		return -1;
	if (arrival_reader_open(&r->plan, o->probe ? r->probe.path : r->schedule, o->trace, o->warm, err) < 0)
		return -1;
	enum balance_kind balance = BALANCE_ROUND_ROBIN;
	balance_parse(o->balance, &balance);
	if (!(r->balance = balance_new(balance, r->target.count)))
		return ipf_error_memory(err);
	return cancels_open(&r->cancels, &o->cancels, stream_reader_header(arrival_reader_stream(r->plan)), err);
}

static int try_stamps(struct run *r, struct ipf_error *err)
{
	const struct fire_options *o = r->options;
	if (o->stamps && !strcmp(o->stamps, "user"))
		return 0;
	const char *why = stamps_trial();
	r->kernel_stamps = !why;
	if (why && o->stamps)
		return ipf_error_set(err, IPF_SYSTEM, "--stamps: none of the kernel's: %s", why);
	if (why && o->common.verbose && !o->common.quiet)
		fprintf(stderr, "ipf-fire: no stamps of the kernel's: %s\n", why);
	return 0;
}

static struct connection_policy connections_of(const struct run *r)
{
	struct connection_policy c = {.streams = r->options->streams,
	                              .no_resumption = r->options->no_resumption,
	                              .http = http_of(r->options->http, r->target.grpc)};
	connection_policy_parse(r->options->connections, &c);
	return c;
}

static int check_capacity(const struct run *r, struct ipf_error *err)
{
	const struct fire_options *o = r->options;
	const struct capacity_options capacity = {
		.schedule = arrival_reader_schedule(r->plan),
		.before = o->warm > 0,
		.path = o->probe ? r->probe.path : r->schedule,
		.trace = o->trace,
		.connections = connections_of(r),
		.route = &r->route,
		.places = r->target.count,
		.quiet = o->common.quiet,
	};
	return capacity_check(&capacity, err);
}

static int catch_signals(struct run *r, struct ipf_error *err)
{
	sigset_t set;
	struct sigaction hangup;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* under nohup it is ignored, and has to stay so: what is blocked is not */
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
		r->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return r->signal_fd < 0 ? ipf_error_errno(err, errno, NULL, "cannot catch signals") : 0;
}

static struct engine_options engine_options(struct run *r)
{
	const struct fire_options *o = r->options;
	return (struct engine_options){
		.plan = r->plan,
		.feeder = r->feeder,
		.target = &r->target,
		.transport = {.cancels = r->cancels,
	                  .first_token_ns = o->first_token_timeout_ns,
	                  .timeout_ns = o->timeout_ns,
	                  .connect_timeout_ns = o->connect_timeout_ns,
	                  .connections = connections_of(r),
	                  .balance = r->balance,
	                  .route = &r->route,
	                  .record_headers = &r->record_headers,
	                  .kernel_stamps = r->kernel_stamps},
		.threads = r->threads,
		.records = r->records,
		.gauges = &r->gauges,
		.meters = r->meters,
		.signal_fd = r->signal_fd,
		.grace_ns = o->grace_ns,
		.spin_ns = o->spin_ns,
		.memory_bytes = o->memory_bytes ? o->memory_bytes : memory_usable() / 2,
	};
}

/* What is known of how right our times are. Of a file that was named, it is told why it is not used; of the one that
 * was kept, nothing is. */
static int find_calibration(const struct fire_options *o, const char *stamps, json_t **calibration,
                            struct ipf_error *err)
{
	struct ipf_error none = {0};
	const char *why = "";
	char *kept = o->calibration ? NULL : calibration_path();
	int result = calibration_for(o->calibration ? o->calibration : kept, stamps, calibration, &why,
	                             o->calibration ? err : &none);
	free(kept);
	if (o->calibration && *why && !o->common.quiet)
		fprintf(stderr, "ipf-fire: %s: not used: %s\n", o->calibration, why);
	return o->calibration ? result : 0;
}

static int add_clocks(struct run *r, json_t *header, struct ipf_error *err)
{
	const char *stamps = r->kernel_stamps ? "kernel" : "user";
	json_t *calibration = NULL;
	if (!r->options->common.reproducible && find_calibration(r->options, stamps, &calibration, err) < 0)
		return -1;
	int bad = json_object_set_new(header, "t0_clock_ns", json_integer(r->zero_ns)) |
	          json_object_set_new(header, "stamps", json_string(stamps));
	if (calibration)
		bad |= json_object_set_new(header, "calibration", calibration);
	return bad ? ipf_error_memory(err) : 0;
}

/* When the run begins, which may take until nearly then. */
static int choose_zero(struct run *r, struct ipf_error *err)
{
	const struct common_options *c = &r->options->common;
	r->zero_ns = clock_now() + HEAD_START_NS;
	if (!r->start.text)
		return 0;
	/* what goes before the schedule has to have its time */
	if (!r->options->warm)
		r->early_signals = start_time_wait(&r->start, r->signal_fd, c->quiet,
		                                   (c->progress ? START_TIME_SHOW : 0) | (c->verbose ? START_TIME_TELL : 0));
	if (!r->early_signals && start_time_check(&r->start, HEAD_START_NS, err) < 0)
		return -1;
	r->zero_ns = start_time_monotonic(&r->start);
	return 0;
}

static int write_header(struct run *r, const char *path, struct ipf_error *err)
{
	int64_t wall_ns = r->start.text && !r->start.relative ? r->start.at_ns : clock_wall_at(r->zero_ns);
	json_t *header = records_header(r->options, r->api, r->streamed, &r->target, &r->route, r->plan, r->params, r->argv,
	                                wall_ns);
	r->argv = NULL;
	int result = header ? add_clocks(r, header, err) : ipf_error_memory(err);
	if (result == 0)
		result = stream_writer_open(&r->writer, path, header, err);
	json_decref(header);
	return result;
}

/* A named pipe opens only when its reader comes: not within the run's time. And who waits for a time had better know
 * before whether the file can be written. */
static int open_output(struct run *r, struct ipf_error *err)
{
	struct stat st;
	const char *path = r->options->common.output;
	bool file = path && strcmp(path, "-") != 0;
	int held = -1, result;
	if (file && ((stat(path, &st) == 0 && S_ISFIFO(st.st_mode)) || r->start.text))
		held = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (held < 0 && file && r->start.text)
		return ipf_error_errno(err, errno, path, "cannot open for writing");
	result = choose_zero(r, err) < 0 ? -1 : write_header(r, path, err);
	if (held >= 0)
		close(held);
	return result;
}

/* ---- the run ---- */

static int64_t scheduled(const struct run *r)
{
	const struct schedule *s = arrival_reader_schedule(r->plan);
	int64_t sum = 0;
	for (size_t i = 0; i < s->count; i++)
		sum += s->stages[i].cycle ? 0 : s->stages[i].arrivals;
	return sum;
}

static void show(struct run *r, struct progress *p, int64_t planned, int64_t now)
{
	const struct run_counters *g = &r->gauges;
	double elapsed = (double)(now - r->zero_ns) / 1e9;
	int64_t started = gauge_get(&g->started), lag = gauge_get(&g->lag_p99_ns);
	char lag_text[32], of[32] = "", lag_shown[64] = "";
	if (elapsed <= 0 && r->start.text)
		progress_show(p, "starting in %.0f s  done %lld/%lld", -elapsed, (long long)gauge_get(&g->done),
		              (long long)r->options->warm);
	if (elapsed <= 0)
		return;
	if (planned)
		snprintf(of, sizeof of, "/%lld", (long long)planned);
	if (lag >= 0)
		snprintf(lag_shown, sizeof lag_shown, "  lag p99 %s", format_duration(lag, lag_text));
	progress_show(p, "%.0f s  started %lld%s  in flight %lld  done %lld  failed %lld  %.1f/s  %.2f MB/s%s", elapsed,
	              (long long)started, of, (long long)gauge_get(&g->in_flight), (long long)gauge_get(&g->done),
	              (long long)gauge_get(&g->failed), (double)started / elapsed,
	              (double)gauge_get(&g->bytes) / 1e6 / elapsed, lag_shown);
}

static int begin(struct run *r, struct ipf_error *err)
{
	struct stat st;
	const char *path = r->options->common.output;
	int fd = path && strcmp(path, "-") != 0 ? -1 : STDOUT_FILENO;
	int64_t lead_ns = r->zero_ns - clock_now();
	if (r->early_signals)
		engine_stop(r->engine);
	if (engine_begin(r->engine, r->zero_ns,
	                 !r->start.text || !r->options->warm ? 0
	                 : lead_ns > 0                       ? lead_ns
	                                                     : 1,
	                 err) < 0)
		return -1;
	for (size_t i = 0; i < r->threads; i++)
		r->senders[i] = engine_thread(r->engine, i);
	struct recorder_options o = {
		.writer = r->writer,
		.pipe = (fd >= 0 ? fstat(fd, &st) : stat(path, &st)) == 0 && !S_ISREG(st.st_mode),
		.output_fd = fd,
		.zero_ns = r->zero_ns,
		.client = {.zero_ns = r->zero_ns,
	               .gauges = &r->gauges,
	               .senders = r->threads,
	               .send = r->senders,
	               .meters = r->meters,
	               .queues = r->records,
	               .render = feeder_thread(r->feeder),
	               .kernel_stamps = r->kernel_stamps},
		.engine_fd = engine_wake_fd(r->engine),
		.gauges = &r->gauges,
		.spare = r->spare,
		.show = r->options->probe,
		.show_messages = r->target.grpc,
	};
	if (recorder_start(&r->recorder, &o, err) == 0)
		return 0;
	/* without it nothing is worth sending */
	uint64_t one = 1;
	atomic_store(&r->gauges.output_gone, true);
	if (write(engine_wake_fd(r->engine), &one, sizeof one) < 0)
		ipf_error_errno(err, errno, NULL, "cannot stop the sending thread");
	engine_finish(r->engine, &r->result);
	for (size_t i = 0; i < r->threads; i++)
		for (struct job *job; (job = queue_take(r->records[i]));)
			job_free(job);
	return -1;
}

/* --start-at: what goes before the schedule has not ended in time. */
static bool warm_late(struct run *r, int64_t now, char why[128])
{
	int64_t warm = r->options->warm, done = gauge_get(&r->gauges.done);
	bool late = r->start.text && now >= r->zero_ns && !r->begun && done < warm;
	if (late)
		snprintf(why, 128, "stopped: %lld of %lld requests of --warm had ended at the time of --start-at",
		         (long long)done, (long long)warm);
	r->begun = now >= r->zero_ns;
	return late;
}

/* How long it may sleep. */
static int pause_ms(const struct run *r, const struct progress *p, int64_t now)
{
	int64_t left = r->zero_ns - now;
	if (r->start.text && !r->begun && left < 100 * NS_PER_MS)
		return left < 0 ? 0 : (int)(left / NS_PER_MS) + 1;
	return p->on || r->options->stop_on || !r->begun ? 100 : -1;
}

static void watch(struct run *r)
{
	struct progress p;
	struct pollfd done = {.fd = engine_done_fd(r->engine), .events = POLLIN};
	int64_t planned = scheduled(r);
	progress_init(&p, r->options->common.progress, r->options->common.quiet);
	r->begun = !r->start.text;
	while (poll(&done, 1, pause_ms(r, &p, clock_now())) <= 0) {
		int64_t now = clock_now();
		char why[sizeof r->stopped];
		/* what a signal has cut failed by that */
		if (!r->stopped[0] &&
		    (stop_rule_due(&r->stop, r->options->stop_on, &r->gauges, why) || warm_late(r, now, why)) &&
		    engine_stop(r->engine))
			memcpy(r->stopped, why, sizeof why);
		if (progress_due(&p, now))
			show(r, &p, planned, now);
	}
	progress_end(&p);
}

/* A pool of connections is shared out among the threads, and a request cannot wait for another thread's: by itself it
 * is not. */
static size_t threads(const struct run *r)
{
	struct connection_policy c;
	if (r->options->threads)
		return (size_t)r->options->threads;
	return connection_policy_parse(r->options->connections, &c) && c.kind == CONNECTION_POLICY_POOL
	           ? 1
	           : thread_count_useful(arrival_reader_schedule(r->plan), cores_usable());
}

static int set_up(struct run *r, struct ipf_error *err)
{
	if (stop_rule_parse(r->options->stop_on, &r->stop, err) < 0 ||
	    start_time_parse(r->options->start_at, &r->start, err) < 0 ||
	    start_time_check(&r->start, HEAD_START_NS, err) < 0 || open_inputs(r, err) < 0 || check_capacity(r, err) < 0 ||
	    (r->options->wait_ready_ns && wait_ready_wait(r->options, r->api, &r->target, &r->route, &r->at, err) < 0) ||
	    target_reach(&r->target, &r->route, r->options->connect_timeout_ns, err) < 0 || try_stamps(r, err) < 0 ||
	    catch_signals(r, err) < 0)
		return -1;
	if (r->options->probe && probe_show_request(stderr, &r->target, r->renderer, r->options->trace, err) < 0)
		return -1;
	r->threads = threads(r);
	for (size_t i = 0; i < r->threads; i++)
		if (!(r->records[i] = queue_new(RECORDS_QUEUE / r->threads)) || !(r->meters[i] = thread_stats_new()))
			return ipf_error_memory(err);
	bool live = !strcmp(r->options->history, "live");
	if (!(r->spare = queue_new(JOBS_SPARE)) || (live && !(r->history = history_new(r->api))))
		return ipf_error_memory(err);
	if (feeder_start(&r->feeder, r->plan, r->renderer, &r->target, r->streamed, r->history, &r->gauges, r->spare, err) <
	    0)
		return -1;
	struct engine_options engine = engine_options(r);
	if (engine_open(&r->engine, &engine, err) < 0)
		return -1;
	if (feeder_wait(r->feeder, r->signal_fd, err) < 0)
		return ipf_error_set(err, IPF_SYSTEM, "interrupted before the first request");
	return open_output(r, err);
}

static void tear_down(struct run *r)
{
	struct ipf_error unsaid = {0};
	feeder_stop(r->feeder, &unsaid);
	engine_close(r->engine);
	stream_writer_abandon(r->writer);
	history_free(r->history);
	for (size_t i = 0; i < r->threads; i++) {
		queue_free(r->records[i]);
		free(r->meters[i]);
	}
	jobs_free(r->spare);
	renderer_free(r->renderer);
	arrival_reader_close(r->plan);
	endpoint_close(&r->target);
	network_path_close(&r->route);
	balance_free(r->balance);
	api_close(r->api);
	json_decref(r->params);
	json_decref(r->argv);
	free(r->record_headers.items);
	free(r->result.stage_begin_ns);
	free(r->result.stage_end_ns);
	if (r->signal_fd >= 0)
		close(r->signal_fd);
	generated_input_release(&r->probe);
}

/* ---- after it ---- */

static void warn(const struct run *r)
{
	if (r->result.starved && !r->options->common.quiet)
		fprintf(stderr, "ipf-fire: %lld requests could not be sent: out of open files (ulimit -n)\n",
		        (long long)r->result.starved);
}

/* Until all is written. Whoever should read the records may never come back: of three signals the third ends the
 * program at once. */
static void wait_for_recorder(struct run *r)
{
	struct pollfd fds[2] = {{.fd = recorder_finish(r->recorder), .events = POLLIN},
	                        {.fd = r->signal_fd, .events = POLLIN}};
	struct signalfd_siginfo info;
	for (int signals = r->result.signals; poll(fds, 2, -1) <= 0 || !fds[0].revents;) {
		while (read(r->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
			signals += interrupt_is_new();
		if (signals < 3)
			continue;
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		raise(SIGTERM);
	}
}

static void tell_before(const struct run *r)
{
	int64_t planned = scheduled(r);
	if (!r->options->common.verbose || r->options->common.quiet)
		return;
	fprintf(stderr, "ipf-fire: %s", api_method(r->api));
	for (size_t i = 0; i < r->target.count; i++) {
		const struct place *p = &r->target.places[i];
		fprintf(stderr, p->resolve ? " %s (%s)" : " %s", p->shown, p->resolve ? p->resolve->data : "");
	}
	if (planned)
		fprintf(stderr, ", %lld requests planned", (long long)planned);
	fputc('\n', stderr);
}

static void tell_after(const struct run *r)
{
	const struct run_counters *g = &r->gauges;
	char length[32], lag[32];
	int64_t now = clock_now();
	if (!r->options->common.verbose || r->options->common.quiet)
		return;
	fprintf(stderr, "ipf-fire: %lld requests started in %s, %lld of them failed", (long long)gauge_get(&g->started),
	        format_duration(now > r->zero_ns ? now - r->zero_ns : 0, length), (long long)gauge_get(&g->failed));
	if (r->result.unstarted)
		fprintf(stderr, ", %lld not started", (long long)r->result.unstarted);
	if (gauge_get(&g->lag_p99_ns) >= 0)
		fprintf(stderr, ", lag p99 %s", format_duration(gauge_get(&g->lag_p99_ns), lag));
	fputc('\n', stderr);
}

static int carry_out(struct run *r, struct ipf_error *err)
{
	if (set_up(r, err) < 0)
		return -1;
	tell_before(r);
	if (begin(r, err) < 0)
		return -1;
	watch(r);
	engine_finish(r->engine, &r->result);
	r->result.stopped = r->stopped[0] ? r->stopped : NULL;
	r->result.signals += r->early_signals;
	wait_for_recorder(r);
	json_t *client = recorder_stop(r->recorder, err);
	feeder_stop(r->feeder, &r->input);
	r->feeder = NULL;
	if (r->result.error.kind && !r->input.kind)
		r->input = r->result.error;
	if (!r->input.kind)
		r->input = *arrival_reader_cut(r->plan);
	warn(r);
	tell_after(r);
	if (err->kind) {
		json_decref(client);
		return -1;
	}
	struct stream_writer *writer = r->writer;
	r->writer = NULL;
	if (stream_writer_close(writer, records_trailer(r->plan, &r->result, &r->gauges, r->history, &r->input, client),
	                        err) < 0)
		return -1;
	if (r->result.memory_full)
		return ipf_error_set(err, IPF_SYSTEM,
		                     "stopped: what could not be written yet took more memory than --memory allows");
	if (r->stopped[0])
		return ipf_error_set(err, IPF_SYSTEM, "%s", r->stopped);
	return 0;
}

int fire_run(const struct fire_options *options, const char *schedule, json_t *argv)
{
	struct run r = {.options = options, .schedule = schedule, .argv = argv, .signal_fd = -1, .probe.fd = -1};
	struct ipf_error err = {0};
	if (carry_out(&r, &err) == 0)
		err = r.input;
	tear_down(&r);
	return ipf_error_report(&err, stderr, "ipf-fire");
}

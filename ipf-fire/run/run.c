#include "run/run.h"

#include "api/answer_message.h"
#include "api/early_end.h"
#include "aside/answer_replay.h"
#include "cache/cache_state.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/units.h"
#include "clock.h"
#include "endpoint/model_list.h"
#include "endpoint/preflight.h"
#include "endpoint/wait_ready.h"
#include "job/event_fd.h"
#include "job/spare_jobs.h"
#include "redact.h"
#include "run/calibration.h"
#include "run/capacity.h"
#include "run/cgroup_limits.h"
#include "run/continuation.h"
#include "run/engine.h"
#include "run/probe.h"
#include "run/progress_line.h"
#include "run/run_sandbox.h"
#include "run/recorder.h"
#include "run/fire_header.h"
#include "run/system_clock.h"
#include "run/thread_count.h"
#include "run/trace_media.h"
#include "stream/stream_keep.h"
#include "safe_text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_START_NS (20 * NS_PER_MS) /* from everything being ready to the run's start */
#define VIEW_WAIT_NS  (5 * NS_PER_S)   /* for another program to draw the end of the run */
#define RECORDS_QUEUE 65536            /* all threads together */

struct run {
	const struct fire_options *options;
	const struct run_observer *observer; /* NULL: this is the process of ipf-fire */
	const char *schedule;
	json_t *argv, *params;
	struct api *api;
	struct endpoint_options endpoint_options;
	struct endpoint endpoint;
	struct network_path network_path;
	struct cancels cancels;
	struct retry_rule retry;
	struct balance *balance;
	struct arrival_reader *arrivals;
	struct body_renderer *renderer;
	struct request_media media;
	struct feeder *feeder;
	struct session_tokens *session_tokens; /* NULL: none go back */
	struct history *history;               /* NULL: the answers in the trace */
	struct engine *engine;
	struct recorder *recorder;
	struct stream_writer *writer;
	size_t threads;
	struct queue *records[THREADS_MOST]; /* one for each sending thread */
	struct spare_jobs *spare;            /* recorded jobs */
	struct run_counters counters;
	struct memory_use memory;
	struct failure_tally failures;
	struct thread_stats *stats[THREADS_MOST];
	pthread_t senders[THREADS_MOST];
	struct run_result result;
	bool streamed, kernel_timestamps;
	int early_signals; /* those coming while it waited for the start */
	bool begun;        /* its start has passed */
	char stopped[128]; /* why it was stopped; "" */
	struct continuation continuation;
	bool hopeless;                     /* it was, since every request had failed */
	struct string_list record_headers; /* the user's, those the API descriptor reads, and ids of the server */
	struct ipf_error input;            /* the input's fault, while the run went on with the rest */
	int signal_fd;
	struct cache_state *cache;
	char *trace_model;            /* the model of its first request; NULL */
	struct generated_input probe; /* a schedule */
	char run_id[33];              /* for ids for distributed tracing; "": none are sent */
	char *model;                  /* the server's only one, for requests naming none; NULL */
	int64_t zero_ns;
};

/* ---- before the run ---- */

static int gather_headers(struct run *r, struct ipf_error *err)
{
	const struct string_list *own = &r->options->record_headers;
	size_t count = 0;
	while (api_response_header(r->api, count))
		count++;
	size_t ids = 0;
	while (answer_id_headers[ids])
		ids++;
	r->record_headers.items = calloc(own->count + count + ids + 2, sizeof *own->items);
	if (!r->record_headers.items)
		return ipf_error_memory(err);
	for (size_t i = 0; i < own->count; i++)
		r->record_headers.items[r->record_headers.count++] = own->items[i];
	for (size_t i = 0; i < count; i++)
		r->record_headers.items[r->record_headers.count++] = api_response_header(r->api, i);
	for (size_t i = 0; i < ids; i++)
		r->record_headers.items[r->record_headers.count++] = answer_id_headers[i];
	if (r->options->probe)
		r->record_headers.items[r->record_headers.count++] = "*";
	return 0;
}

static struct body_renderer_options rendering(const struct run *r, json_t *params)
{
	return (struct body_renderer_options){
		.model = r->options->run.model,
		.params = params,
		.exact_output = r->options->exact_output,
		.recorded_answers = r->options->answers == ANSWERS_RECORDED,
		.live = r->options->run.history != HISTORY_RECORDED,
		.streamed = r->streamed,
		.measure_prompt = api_response(r->api, r->streamed)->text_mode == API_CUMULATIVE_WITH_PROMPT,
		.protobuf = api_protobuf(r->api),
		.message = api_request_type(r->api, r->streamed),
	};
}

/* Shows the request, with the body as it is without the secrets of parameters and of the descriptor. */
static int show_probe(const struct run *r, struct ipf_error *err)
{
	json_t *api = json_deep_copy(api_json(r->api)), *params = redact_params(r->params);
	struct body_renderer *public = NULL;
	int result = api && params && redact_api(api) == 0 ? 0 : ipf_error_memory(err);
	if (result == 0) {
		struct body_renderer_options render = rendering(r, params);
		result = body_renderer_new(&public, json_object_get(api, "request"), &render, err);
	}
	if (result == 0 && r->model)
		result = body_renderer_set_default_model(public, r->model, err);
	if (result == 0)
		result = probe_show_request(
			stderr,
			&(struct probe_options){.endpoint = &r->endpoint,
		                            .renderer = r->renderer,
		                            .shown = public,
		                            .redacted = !json_equal(params, r->params) || !json_equal(api, api_json(r->api))},
			r->options->run.trace, err);
	body_renderer_free(public);
	json_decref(api);
	json_decref(params);
	return result;
}

static bool is_left(const void *continuation, int64_t n)
{
	return continuation_sends(continuation, n);
}

static int open_inputs(struct run *r, struct ipf_error *err)
{
	const struct fire_options *o = r->options;
	r->params = json_object();
	for (size_t i = 0; i < o->params.count; i++)
		if (body_renderer_add_param(r->params, o->params.items[i], err) < 0)
			return -1;
	if (api_open(&r->api, o->api, err) < 0)
		return -1;
	r->streamed = !o->no_stream && api_response(r->api, true);
	if (!api_response(r->api, r->streamed))
		return ipf_error_set(err, IPF_USAGE, "--no-stream: the API %s supports only streams", api_name(r->api));
	struct body_renderer_options render = rendering(r, r->params);
	r->endpoint_options = (struct endpoint_options){.urls = &o->urls,
	                                                .headers = &o->headers,
	                                                .key_env = o->key_env,
	                                                .key_file = o->key_file,
	                                                .streamed = r->streamed,
	                                                .timeout_ns = o->run.timeout_ns};
	const struct network_path_options network_path = {.unix_socket = o->unix_socket,
	                                                  .proxy = o->proxy,
	                                                  .bind = o->bind,
	                                                  .resolve = &o->resolve,
	                                                  .dns_each = o->dns == 1,
	                                                  .insecure = o->insecure,
	                                                  .cacert = o->cacert,
	                                                  .cert = o->cert,
	                                                  .key = o->key};
	if (body_renderer_new(&r->renderer, api_request(r->api), &render, err) < 0 ||
	    endpoint_open(&r->endpoint, r->api, &r->endpoint_options, err) < 0 ||
	    network_path_open(&r->network_path, &network_path, err) < 0 || gather_headers(r, err) < 0)
		return -1;
	if (o->run.history == HISTORY_SERVER &&
	    (!body_renderer_can_continue(r->renderer) || !api_response(r->api, r->streamed)->id.count))
		return ipf_error_set(err, IPF_USAGE, "--history server: servers with the API %s do not keep sessions",
		                     api_name(r->api));
	if (o->run.history == HISTORY_LIVE_REASONING && !body_renderer_sends_messages(r->renderer))
		return ipf_error_set(err, IPF_USAGE, "--history live-reasoning: the API %s takes no reasoning back",
		                     api_name(r->api));
	if (o->probe && probe_schedule(&r->probe, err) < 0)
		return -1;
	if (o->continued.count && continuation_read(&r->continuation, &o->continued, r->schedule, err) < 0)
		return -1;
	if (arrival_reader_open(&r->arrivals, o->probe ? r->probe.path : r->schedule, o->run.trace, o->warm, err) < 0 ||
	    named_paths_check_input(program_paths(), arrival_reader_trace(r->arrivals), err) < 0)
		return -1;
	if (r->continuation.on)
		arrival_reader_only(r->arrivals, is_left, &r->continuation, r->continuation.lines);
	if (!(r->balance = balance_new(o->run.balance, r->endpoint.count)))
		return ipf_error_memory(err);
	r->cancels = o->run.cancels;
	cancels_seed(&r->cancels, stream_reader_header(arrival_reader_stream(r->arrivals)), SCHEDULE_WARMUP_FIRST_N);
	r->retry = o->retry;
	r->retry.seed = r->cancels.seed;
	return 0;
}

/* gRPC uses HTTP/2 whatever --http says. */
static struct connection_policy connections_of(const struct run *r)
{
	struct connection_policy c = r->options->connections.policy;
	if (r->endpoint.grpc)
		c.http = HTTP_2;
	return c;
}

static int wait_ready(struct run *r, struct ipf_error *err)
{
	const struct fire_options *o = r->options;
	const struct wait_ready_options how = {.api = r->api,
	                                       .endpoint_options = &r->endpoint_options,
	                                       .network_path = &r->network_path,
	                                       .http = connections_of(r).http,
	                                       .timeout_ns = o->wait_ready_ns};
	int64_t took_ns;
	char text[32];
	if (wait_until_ready(&r->endpoint, &how, &took_ns, err) < 0)
		return -1;
	if (o->common.verbose && !o->common.quiet)
		fprintf(stderr, "ipf-fire: ready after %s\n", format_duration(took_ns, text));
	return 0;
}

/* Does the first request of the trace name a model? */
static int trace_has_model(const char *trace, bool *has, struct ipf_error *err)
{
	struct trace_reader *reader;
	struct trace_request q;
	if (trace_reader_open(&reader, trace, err) < 0)
		return -1;
	int got = trace_reader_next(reader, &q, err);
	*has = got != 1 || q.model.data;
	trace_reader_close(reader);
	return got < 0 ? -1 : 0;
}

/* Without --model, if requests need one: the server's only model. */
static int find_model(struct run *r, struct ipf_error *err)
{
	const struct fire_options *o = r->options;
	const struct model_list_options how = {.api = r->api,
	                                       .endpoint_options = &r->endpoint_options,
	                                       .network_path = &r->network_path,
	                                       .http = connections_of(r).http};
	char why[MODEL_LIST_WHY] = "";
	bool has = o->run.model || !api_models_path(r->api);
	if (!has && trace_has_model(arrival_reader_trace(r->arrivals), &has, err) < 0)
		return -1;
	int found = has ? 0 : model_list_only(&r->endpoint, &how, &r->model, why, err);
	if (found == 1 && !o->common.quiet)
		fprintf(stderr, "ipf-fire: model %s, the only one of the server\n", shown(r->model).text);
	else if (found == 0 && *why && !o->common.quiet)
		fprintf(stderr, "ipf-fire: warning: requests name no model: neither --model nor the trace has one, and %s\n",
		        shown(why).text);
	if (found == 1)
		found = body_renderer_set_default_model(r->renderer, r->model, err);
	return found < 0 ? -1 : 0;
}

static int try_timestamps(struct run *r, struct ipf_error *err)
{
	const struct fire_options *o = r->options;
	if (o->timestamps == TIMESTAMPS_USER)
		return 0;
	const char *why = timestamps_trial();
	r->kernel_timestamps = !why;
	if (why && o->timestamps == TIMESTAMPS_KERNEL)
		return ipf_error_set(err, IPF_SYSTEM, "--stamps: kernel receive timestamps are unavailable: %s", why);
	if (why && o->common.verbose && !o->common.quiet)
		fprintf(stderr, "ipf-fire: kernel receive timestamps are unavailable: %s\n", why);
	return 0;
}

static int check_capacity(const struct run *r, struct ipf_error *err)
{
	const struct fire_options *o = r->options;
	const struct capacity_options capacity = {
		.schedule = arrival_reader_schedule(r->arrivals),
		.before = o->warm > 0,
		.path = o->probe ? r->probe.path : r->schedule,
		.trace = arrival_reader_trace(r->arrivals),
		.connections = connections_of(r),
		.network_path = &r->network_path,
		.targets = r->endpoint.count,
		.quiet = o->common.quiet,
	};
	return capacity_check(&capacity, err);
}

static int catch_signals(struct run *r, struct ipf_error *err)
{
	sigset_t set;
	struct sigaction hangup;
	if (r->observer) {
		r->signal_fd = fcntl(r->observer->stop_fd, F_DUPFD_CLOEXEC, 3);
		return r->signal_fd < 0 ? ipf_error_errno(err, errno, NULL, "cannot duplicate a descriptor") : 0;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* under nohup SIGHUP is ignored, and must stay so: a signal blocked is not */
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
		r->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return r->signal_fd < 0 ? ipf_error_errno(err, errno, NULL, "cannot catch signals") : 0;
}

/* Its first request's model; new. NULL: none. */
static int trace_model(const char *trace, char **model, struct ipf_error *err)
{
	struct trace_reader *reader;
	struct trace_request q;
	*model = NULL;
	if (trace_reader_open(&reader, trace, err) < 0)
		return -1;
	int got = trace_reader_next(reader, &q, err);
	json_t *text = got == 1 && q.model.data ? json_loadb(q.model.data, q.model.len, JSON_DECODE_ANY, NULL) : NULL;
	if (json_is_string(text) && !(*model = strdup(json_string_value(text))))
		got = ipf_error_memory(err);
	json_decref(text);
	trace_reader_close(reader);
	return got < 0 ? -1 : 0;
}

static struct aside_client_options aside_options(const struct run *r)
{
	return (struct aside_client_options){.api = r->api,
	                                     .endpoint = &r->endpoint,
	                                     .endpoint_options = &r->endpoint_options,
	                                     .network_path = &r->network_path,
	                                     .http = connections_of(r).http,
	                                     .rendering = rendering(r, r->params),
	                                     .model = r->model,
	                                     .stop_fd = r->signal_fd};
}

/* --answers recorded: before anything of the run is sent, and before the cache is prepared. */
static int check_answers(const struct run *r, struct ipf_error *err)
{
	const struct answer_replay_options replay = {.client = aside_options(r),
	                                             .trace = arrival_reader_trace(r->arrivals)};
	return r->options->answers == ANSWERS_RECORDED && !r->options->probe ? answer_replay_check(&replay, err) : 0;
}

/* --cache, as late as possible. */
static int prepare_cache(struct run *r, struct ipf_error *err)
{
	const struct fire_options *o = r->options;
	struct cache_state_options cache = {
		.client = aside_options(r),
		.choice = o->probe ? CACHE_CHOICES : o->cache,
		.file = r->schedule,
		.schedule = arrival_reader_schedule(r->arrivals),
		.trace = o->run.trace,
		.as_is = o->warm              ? "--warm sends prompts before the run"
	             : o->continued.count ? "the run continues"
	                                  : NULL,
		.quiet = o->common.quiet,
	};
	cache.client.rendering.recorded_answers = false;
	if (cache_state_needed(cache.choice, cache.schedule) && !o->run.model &&
	    trace_model(arrival_reader_trace(r->arrivals), &r->trace_model, err) < 0)
		return -1;
	cache.client.trace_model = r->trace_model;
	return cache_state_prepare(&r->cache, &cache, err);
}

static struct engine_options engine_options(struct run *r)
{
	const struct fire_options *o = r->options;
	return (struct engine_options){
		.arrivals = r->arrivals,
		.feeder = r->feeder,
		.endpoint = &r->endpoint,
		.transport = {.cancels = r->cancels,
	                  .first_token_ns = o->run.first_token_timeout_ns,
	                  .timeout_ns = o->run.timeout_ns,
	                  .connect_timeout_ns = o->connect_timeout_ns,
	                  .connections = connections_of(r),
	                  .balance = r->balance,
	                  .network_path = &r->network_path,
	                  .record_headers = &r->record_headers,
	                  .session_tokens = r->session_tokens,
	                  .keep_requests = o->retry.most > 0,
	                  .kernel_timestamps = r->kernel_timestamps,
	                  .observer = r->observer,
	                  .memory = &r->memory},
		.retry = &r->retry,
		.threads = r->threads,
		.records = r->records,
		.counters = &r->counters,
		.stats = r->stats,
		.signal_fd = r->signal_fd,
		.grace_ns = o->run.grace_ns,
		.spin_ns = o->spin_ns,
	};
}

/* Looks for a calibration. If a file the user named is not used, reports why; about the saved one nothing. */
static int find_calibration(const struct fire_options *o, const char *timestamps, json_t **calibration,
                            struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	const char *why = "";
	char *saved = o->calibration ? NULL : calibration_path();
	int result = calibration_load(o->calibration ? o->calibration : saved, timestamps, calibration, &why,
	                              o->calibration ? err : &ignored);
	free(saved);
	if (o->calibration && *why && !o->common.quiet)
		fprintf(stderr, "ipf-fire: warning: %s: calibration not used: %s\n", shown(o->calibration).text,
		        shown(why).text);
	return o->calibration ? result : 0;
}

static int add_clocks(struct run *r, json_t *header, struct ipf_error *err)
{
	const char *timestamps = r->kernel_timestamps ? "kernel" : "user";
	json_t *calibration = NULL;
	if (!r->options->common.reproducible && find_calibration(r->options, timestamps, &calibration, err) < 0)
		return -1;
	json_t *system = r->options->common.reproducible ? NULL : system_clock_json();
	int bad = json_object_set_new(header, "t0_clock_ns", json_integer(r->zero_ns)) |
	          json_object_set_new(header, "stamps", json_string(timestamps));
	if (system)
		bad |= json_object_set_new(header, "system_clock", system);
	if (calibration)
		bad |= json_object_set_new(header, "calibration", calibration);
	return bad ? ipf_error_memory(err) : 0;
}

/* The header is there at once, as when records are kept: watchers of the run need its start. */
static int open_replacing(struct stream_writer **writer, const char *path, json_t *header, struct ipf_error *err)
{
	return stream_writer_open(writer, path, header, err) < 0 ? -1 : stream_writer_flush(*writer, err);
}

/* Determines the start of the run; may wait until shortly before it. */
static int choose_start(struct run *r, struct ipf_error *err)
{
	const struct common_options *c = &r->options->common;
	/* the schedule's clock goes on from where it stopped */
	r->zero_ns = clock_now() + HEAD_START_NS - r->continuation.at_ns;
	if (!r->options->start_at.text)
		return 0;
	/* the warm-up needs the time before the start */
	if (!r->options->warm)
		r->early_signals = start_time_wait(
			&r->options->start_at, r->signal_fd,
			(struct start_time_display){.quiet = c->quiet,
		                                .left = run_options_leave_progress(&r->options->run, &r->options->common),
		                                .progress = c->progress,
		                                .verbose = c->verbose});
	if (!r->early_signals && start_time_check(&r->options->start_at, HEAD_START_NS, err) < 0)
		return -1;
	r->zero_ns = start_time_monotonic(&r->options->start_at);
	return 0;
}

static int write_header(struct run *r, const char *path, struct ipf_error *err)
{
	int64_t wall_ns = r->options->start_at.text && !r->options->start_at.relative ? r->options->start_at.at_ns
	                                                                              : clock_wall_at(r->zero_ns);
	const struct fire_options *fire = r->options;
	const struct records_about about = {.tool = "ipf-fire",
	                                    .common = &fire->common,
	                                    .run = &fire->run,
	                                    .api = r->api,
	                                    .arrivals = r->arrivals,
	                                    .model = fire->run.model ? fire->run.model : r->model,
	                                    .argv = r->argv,
	                                    .streamed = r->streamed,
	                                    .warm = fire->warm > 0,
	                                    .wall_ns = wall_ns,
	                                    .clock = "CLOCK_MONOTONIC"};
	const struct fire_header more = {.options = fire,
	                                 .endpoint = &r->endpoint,
	                                 .path = &r->network_path,
	                                 .params = r->params,
	                                 .run_id = r->run_id,
	                                 .continuation = &r->continuation,
	                                 .cache = r->cache,
	                                 .wall_ns = wall_ns};
	json_t *header = records_header(&about);
	r->argv = NULL;
	int result = header && fire_header_add(header, &more) == 0 ? add_clocks(r, header, err) : ipf_error_memory(err);
	if (result == 0)
		result = r->options->run.force ? open_replacing(&r->writer, path, header, err)
		                               : stream_writer_open_keeping(&r->writer, path, header, "records", err);
	json_decref(header);
	return result;
}

/* Opening a named pipe waits for its reader, which must not happen during the run. And a run waiting for its start
 * should find out before whether it can write its output. */
static int open_output(struct run *r, struct ipf_error *err)
{
	struct stat st;
	const char *path = r->options->common.output;
	bool file = path && strcmp(path, "-") != 0;
	int held = -1, result;
	if (file && ((stat(path, &st) == 0 && S_ISFIFO(st.st_mode)) || r->options->start_at.text))
		held = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (held < 0 && file && r->options->start_at.text)
		return ipf_error_errno(err, errno, path, "cannot open for writing");
	result = choose_start(r, err) < 0 ? -1 : write_header(r, path, err);
	if (held >= 0)
		close(held);
	return result;
}

/* ---- the run ---- */

static int begin(struct run *r, struct ipf_error *err)
{
	struct stat st;
	const char *path = r->options->common.output;
	int fd = path && strcmp(path, "-") != 0 ? -1 : STDOUT_FILENO;
	int64_t lead_ns = r->zero_ns - clock_now();
	if (r->early_signals)
		engine_stop(r->engine);
	/* a closed stage without times begins again now */
	if (engine_begin(r->engine, r->zero_ns,
	                 r->continuation.closed                            ? -r->continuation.at_ns
	                 : !r->options->start_at.text || !r->options->warm ? 0
	                 : lead_ns > 0                                     ? lead_ns
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
	               .counters = &r->counters,
	               .senders = r->threads,
	               .send = r->senders,
	               .stats = r->stats,
	               .queues = r->records,
	               .render = feeder_thread(r->feeder),
	               .kernel_timestamps = r->kernel_timestamps},
		.engine_fd = engine_wake_fd(r->engine),
		.counters = &r->counters,
		.memory = &r->memory,
		.failures = &r->failures,
		.api = r->api,
		.spare = r->spare,
		.observer = r->observer,
		.show = r->options->probe,
		.show_messages = r->endpoint.grpc,
	};
	if (recorder_start(&r->recorder, &o, err) == 0)
		return 0;
	/* without a recorder, end the run before anything is sent */
	atomic_store(&r->counters.output_gone, true);
	event_fd_notify(engine_wake_fd(r->engine));
	engine_finish(r->engine, &r->result);
	for (size_t i = 0; i < r->threads; i++)
		for (struct job *job; (job = queue_take(r->records[i]));)
			job_free(job);
	return -1;
}

/* --start-at: has the warm-up not ended in time? */
static bool warmup_late(struct run *r, int64_t now, char why[128])
{
	int64_t warm = r->options->warm, done = counters_sum(&r->counters, done);
	bool late = r->options->start_at.text && now >= r->zero_ns && !r->begun && done < warm;
	if (late)
		snprintf(why, 128, "stopped: only %lld of %lld warm-up requests had ended at --start-at", (long long)done,
		         (long long)warm);
	r->begun = now >= r->zero_ns;
	return late;
}

/* How long the main thread can sleep. */
static int pause_ms(const struct run *r, const struct progress *p, int64_t now)
{
	int64_t left = r->zero_ns - now;
	if (r->options->start_at.text && !r->begun && left < 100 * NS_PER_MS)
		return left < 0 ? 0 : (int)(left / NS_PER_MS) + 1;
	return p->on || r->options->run.stop_on.text || !r->begun ||
	               stop_rule_looks(r->options->stop_after_failures, &r->counters)
	           ? 100
	           : -1;
}

static struct progress_line progress_line_of(const struct run *r)
{
	return (struct progress_line){.counters = &r->counters,
	                              .zero_ns = r->zero_ns,
	                              .planned = arrival_reader_planned(r->arrivals),
	                              .warm = r->options->warm,
	                              .timed = r->options->start_at.text != NULL};
}

static bool must_stop(struct run *r, int64_t now, char why[128])
{
	const struct fire_options *o = r->options;
	r->hopeless = stop_rule_hopeless(o->stop_after_failures, &r->counters, why);
	return r->hopeless || stop_rule_reached(&o->run.stop_on, &r->counters, why) || warmup_late(r, now, why);
}

/* A stage with cache=cold: nothing is in flight now, and nothing starts before the gate is open. */
static void reset_cache(struct run *r)
{
	struct ipf_error err = {0};
	uint64_t ignored;
	if (read(engine_gate_fd(r->engine), &ignored, sizeof ignored) < 0 && errno != EAGAIN)
		return;
	const struct cache_state_moment moment = {
		.stage = engine_gate(r->engine), .t_ns = clock_now() - r->zero_ns, .stop_fd = engine_done_fd(r->engine)};
	if (moment.stage >= 0)
		cache_state_reset(r->cache, &moment, &err);
	engine_open_gate(r->engine, clock_now() - r->zero_ns);
}

static void watch(struct run *r)
{
	struct progress p;
	struct pollfd fds[2] = {{.fd = engine_done_fd(r->engine), .events = POLLIN},
	                        {.fd = engine_gate_fd(r->engine), .events = POLLIN}};
	const struct progress_line line = progress_line_of(r);
	const struct common_options *c = &r->options->common;
	progress_init(&p, c->progress, c->quiet || run_options_leave_progress(&r->options->run, &r->options->common));
	r->begun = !r->options->start_at.text;
	while (poll(fds, 2, pause_ms(r, &p, clock_now())) <= 0 || !fds[0].revents) {
		int64_t now = clock_now();
		char why[sizeof r->stopped];
		if (fds[1].revents)
			reset_cache(r);
		/* requests a signal cancelled have failed, but not because of the server */
		if (!r->stopped[0] && must_stop(r, now, why) && engine_stop(r->engine))
			memcpy(r->stopped, why, sizeof why);
		if (progress_due(&p, now))
			progress_line_show(&line, &p, now);
	}
	progress_end(&p);
}

/* The connections of a pool are divided among the threads, and a request cannot wait for those of another thread: by
 * default, a pool has one thread. */
static size_t choose_threads(const struct run *r)
{
	if (r->options->threads)
		return (size_t)r->options->threads;
	return r->options->connections.policy.kind == CONNECTION_POLICY_POOL
	           ? 1
	           : thread_count_useful(arrival_reader_schedule(r->arrivals), cgroup_limits_cores());
}

/* Before the first request is made ready; the start of the run is not known then. */
static int choose_run_id(struct run *r, struct ipf_error *err)
{
	unsigned char random[sizeof r->run_id / 2];
	if (!endpoint_sends(&r->endpoint, "$traceparent"))
		return 0;
	if (getrandom(random, sizeof random, 0) != sizeof random)
		return ipf_error_errno(err, errno, NULL, "cannot draw a random id");
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(r->run_id + 2 * i, 3, "%02x", random[i]);
	return 0;
}

/* Here, no thread has been started. */
static int enter_sandbox(const struct run *r, struct ipf_error *err)
{
	const struct run_sandbox_options sandbox = {.options = r->options,
	                                            .endpoint = &r->endpoint,
	                                            .network_path = &r->network_path,
	                                            .schedule = r->schedule,
	                                            .trace = arrival_reader_trace(r->arrivals)};
	return run_sandbox_enter(&sandbox, err);
}

/* Nothing else shows a run waits for its first request, and not for the server. */
static void announce_wait(const struct run *r)
{
	char text[32];
	int64_t first_ns = feeder_first_due(r->feeder);
	if (first_ns > 60 * NS_PER_S && !r->options->common.quiet)
		fprintf(stderr, "ipf-fire: the first request is due %s after the start\n", format_duration(first_ns, text));
}

static int set_up(struct run *r, struct ipf_error *err)
{
	const struct fire_options *o = r->options;
	if ((!o->run.force && stream_keep_check(o->common.output, "records", err) < 0) ||
	    start_time_check(&o->start_at, HEAD_START_NS, err) < 0 || open_inputs(r, err) < 0 ||
	    trace_media_open(&r->media, o->media, arrival_reader_trace(r->arrivals), err) < 0 ||
	    check_capacity(r, err) < 0 || (r->options->wait_ready_ns && wait_ready(r, err) < 0) ||
	    preflight_connect(&r->endpoint, &r->network_path, r->options->connect_timeout_ns, err) < 0 ||
	    find_model(r, err) < 0 || try_timestamps(r, err) < 0 || catch_signals(r, err) < 0 ||
	    check_answers(r, err) < 0 || prepare_cache(r, err) < 0)
		return -1;
	if (r->options->probe && show_probe(r, err) < 0)
		return -1;
	r->threads = choose_threads(r);
	r->memory.most = r->options->run.memory_bytes ? r->options->run.memory_bytes : cgroup_limits_memory() / 2;
	r->memory.answer_most = r->options->run.max_answer;
	r->memory.threads = r->counters.threads = r->threads;
	counter_set(&r->counters.first_left, o->stop_after_failures);
	for (size_t i = 0; i < r->threads; i++)
		if (!(r->records[i] = queue_new(RECORDS_QUEUE / r->threads)) || !(r->stats[i] = thread_stats_new()))
			return ipf_error_memory(err);
	if (o->sandbox && enter_sandbox(r, err) < 0)
		return -1;
	const struct history_options history = {.api = r->api,
	                                        .by_server = r->options->run.history == HISTORY_SERVER,
	                                        .reasoning = r->options->run.history == HISTORY_LIVE_REASONING,
	                                        .memory = &r->memory};
	if (!(r->spare = spare_jobs_new(SPARE_JOBS_MOST)) ||
	    (r->options->run.history != HISTORY_RECORDED && !(r->history = history_new(&history))))
		return ipf_error_memory(err);
	if (o->session_header && !(r->session_tokens = session_tokens_new(o->session_header, &r->memory)))
		return ipf_error_memory(err);
	const struct feeder_options feeder = {.arrivals = r->arrivals,
	                                      .renderer = r->renderer,
	                                      .media = &r->media,
	                                      .endpoint = &r->endpoint,
	                                      .history = r->history,
	                                      .counters = &r->counters,
	                                      .spare = r->spare,
	                                      .streamed = r->streamed,
	                                      .run_id = r->run_id};
	if (choose_run_id(r, err) < 0 || feeder_start(&r->feeder, &feeder, err) < 0)
		return -1;
	struct engine_options engine = engine_options(r);
	if (engine_open(&r->engine, &engine, err) < 0)
		return -1;
	if (feeder_wait(r->feeder, r->signal_fd, err) < 0)
		return ipf_error_set(err, IPF_SYSTEM, "interrupted before the first request");
	announce_wait(r);
	if (open_output(r, err) < 0)
		return -1;
	return o->sandbox ? run_sandbox_close_files(err) : 0;
}

static void tear_down(struct run *r)
{
	struct ipf_error ignored = {0};
	feeder_stop(r->feeder, &ignored);
	engine_close(r->engine);
	stream_writer_abandon(r->writer);
	cache_state_free(r->cache);
	history_free(r->history);
	session_tokens_free(r->session_tokens);
	for (size_t i = 0; i < r->threads; i++) {
		queue_free(r->records[i]);
		free(r->stats[i]);
	}
	spare_jobs_free(r->spare);
	body_renderer_free(r->renderer);
	trace_media_close(&r->media);
	arrival_reader_close(r->arrivals);
	endpoint_close(&r->endpoint);
	network_path_close(&r->network_path);
	balance_free(r->balance);
	continuation_release(&r->continuation);
	api_close(r->api);
	json_decref(r->params);
	free(r->model);
	free(r->trace_model);
	json_decref(r->argv);
	free(r->record_headers.items);
	free(r->result.stage_begin_ns);
	free(r->result.stage_end_ns);
	if (r->signal_fd >= 0)
		close(r->signal_fd);
	generated_input_release(&r->probe);
}

/* ---- after the run ---- */

static void warn(const struct run *r)
{
	if (r->result.starved && !r->options->common.quiet)
		fprintf(stderr, "ipf-fire: warning: %lld requests could not be sent: out of open files (raise ulimit -n)\n",
		        (long long)r->result.starved);
}

/* One line if requests failed, as far as that shows without reading answers: how many of which kind, and the most
 * frequent text. */
static void report_failures(struct run *r)
{
	struct buffer line = {0};
	int64_t done = counters_sum(&r->counters, done);
	int64_t warm = done < r->options->warm ? done : r->options->warm;
	int64_t statuses = 0;
	for (int i = 0; i < r->failures.count; i++)
		statuses += strcmp(r->failures.list[i].kind, "http-status") == 0 ? r->failures.list[i].count : 0;
	failure_tally_sum_up(&r->failures, done - warm,
	                     statuses == 0                 ? "failed in transport"
	                     : statuses == r->failures.all ? "failed by status"
	                                                   : "failed in transport or by status",
	                     &line);
	if (line.len && !line.failed && !r->options->common.quiet)
		fprintf(stderr, "ipf-fire: %s\n", line.data);
	buffer_release(&line);
}

/* Complete answers of failed transfers. */
static void report_early_ends(const struct run *r)
{
	struct buffer line = {0};
	int64_t early = counter_get(&r->counters.early_ends), done = counters_sum(&r->counters, done);
	int64_t warm = done < r->options->warm ? done : r->options->warm;
	if (early)
		early_end_describe(early, done - warm, &line);
	if (line.len && !line.failed && !r->options->common.quiet)
		fprintf(stderr, "ipf-fire: %s\n", line.data);
	buffer_release(&line);
}

/* A request sent again is no failure, and its attempts are part of the latencies. */
static void report_resent(const struct run *r)
{
	int64_t resent = counter_get(&r->counters.resent);
	if (resent && !r->options->common.quiet)
		fprintf(stderr, "ipf-fire: %lld request%s sent again on a new connection: the server had closed the kept one\n",
		        (long long)resent, resent == 1 ? " was" : "s were");
}

/* They are part of the latencies, too. */
static void report_retries(const struct run *r)
{
	int64_t retried = counter_get(&r->counters.retried), retries = counter_get(&r->counters.retries);
	if (retried && !r->options->common.quiet)
		fprintf(stderr, "ipf-fire: %lld request%s refused and retried, %lld time%s in all (--retry)\n",
		        (long long)retried, retried == 1 ? " was" : "s were", (long long)retries, retries == 1 ? "" : "s");
}

/* Does another program draw the run on our terminal? */
static bool is_drawn(const struct run *r)
{
	return !r->observer && run_options_leave_progress(&r->options->run, &r->options->common) && terminal_is_taken();
}

/* Lines of ours would be drawn over: waits until the other program has drawn the end, which it learns from ours. */
static void wait_for_view(void)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC); /* --sandbox opens nothing for writing */
	if (null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
		terminal_wait(VIEW_WAIT_NS);
	if (null >= 0)
		close(null);
}

/* Messages at the end. A program drawing the run tells its failures, too, and knows more of them. */
static void report_end(struct run *r, bool whole, bool drawn)
{
	const struct progress_line line = progress_line_of(r);
	if (drawn)
		wait_for_view();
	warn(r);
	if (whole) {
		report_resent(r);
		report_retries(r);
	}
	if (whole && !drawn) {
		report_failures(r);
		report_early_ends(r);
	}
	if (r->options->common.verbose && !r->options->common.quiet)
		progress_line_summary(&line, "ipf-fire", r->result.unstarted, clock_now());
}

/* Whoever watches a stopped run learns it at once: a hanging reader holds its end back. */
static void report_full(const struct run *r)
{
	if (r->result.memory_full && !r->options->common.quiet && !is_drawn(r))
		fputs("ipf-fire: --memory is full, no more requests are started; waiting until the records are written\n",
		      stderr);
}

/* Waits until everything is written. A hanging reader of the records could delay that without end: the third signal
 * ends the program at once. */
static void wait_for_recorder(struct run *r)
{
	struct pollfd fds[2] = {{.fd = recorder_finish(r->recorder), .events = POLLIN},
	                        {.fd = r->signal_fd, .events = POLLIN}};
	struct signalfd_siginfo info;
	for (int signals = r->result.signals; poll(fds, 2, -1) <= 0 || !fds[0].revents;) {
		while (read(r->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
			signals += interrupt_is_new();
		if (signals < 3 || r->observer)
			continue;
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		raise(SIGTERM);
	}
}

static void report_plan(const struct run *r)
{
	int64_t planned = arrival_reader_planned(r->arrivals);
	char at[32];
	if (r->continuation.on && !r->options->common.quiet)
		fprintf(stderr,
		        "ipf-fire: continues at %s of the schedule: %lld requests are left, of which %lld are sent again\n",
		        format_duration(r->continuation.at_ns, at), (long long)r->continuation.lines,
		        (long long)r->continuation.restarted);
	if (!r->options->common.verbose || r->options->common.quiet)
		return;
	fprintf(stderr, "ipf-fire: %s", api_method(r->api));
	for (size_t i = 0; i < r->endpoint.count; i++) {
		const struct target *p = &r->endpoint.targets[i];
		fprintf(stderr, p->resolve ? " %s (%s)" : " %s", shown(p->shown).text,
		        shown(p->resolve ? p->resolve->data : "").text);
	}
	if (planned)
		fprintf(stderr, ", %lld requests planned", (long long)planned);
	fputc('\n', stderr);
}

static int run(struct run *r, struct ipf_error *err)
{
	if (set_up(r, err) < 0)
		return -1;
	report_plan(r);
	if (begin(r, err) < 0)
		return -1;
	watch(r);
	engine_finish(r->engine, &r->result);
	r->result.stopped = r->stopped[0] ? r->stopped : NULL;
	r->result.signals += r->early_signals;
	report_full(r);
	wait_for_recorder(r);
	json_t *client = recorder_stop(r->recorder, err);
	feeder_stop(r->feeder, &r->input);
	r->feeder = NULL;
	if (r->result.error.kind && !r->input.kind)
		r->input = r->result.error;
	if (!r->input.kind)
		r->input = *arrival_reader_cut(r->arrivals);
	bool whole = !err->kind, drawn = is_drawn(r);
	if (whole) {
		struct stream_writer *writer = r->writer;
		r->writer = NULL;
		r->result.input = r->input;
		json_t *end = records_trailer(r->arrivals, &r->result, counters_sum(&r->counters, started));
		fire_trailer_add(end, client, r->cache, r->history, r->session_tokens);
		stream_writer_close(writer, end, err);
	} else {
		json_decref(client);
	}
	report_end(r, whole, drawn);
	if (err->kind)
		return -1;
	if (r->result.memory_full)
		return ipf_error_set(
			err, IPF_SYSTEM,
			"stopped: requests in flight and unwritten records exceed --memory: the output is read too slowly, or too much is in flight");
	if (r->stopped[0])
		return ipf_error_set(err, r->hopeless ? IPF_HOPELESS : IPF_SYSTEM, "%s", r->stopped);
	return 0;
}

int fire_run_observed(const struct fire_options *options, const char *schedule, json_t *argv,
                      const struct run_observer *observer, struct ipf_error *err)
{
	struct run r = {.options = options,
	                .observer = observer,
	                .schedule = schedule,
	                .argv = argv,
	                .signal_fd = -1,
	                .probe.fd = -1,
	                .media.fd = -1};
	if (run(&r, err) == 0)
		*err = r.input;
	tear_down(&r);
	return err->kind ? -1 : 0;
}

int fire_run(const struct fire_options *options, const char *schedule, json_t *argv)
{
	struct ipf_error err = {0};
	fire_run_observed(options, schedule, argv, NULL, &err);
	return ipf_error_report(&err, stderr, "ipf-fire");
}

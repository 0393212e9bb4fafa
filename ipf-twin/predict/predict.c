#include "predict/predict.h"

#include "absent.h"
#include "api/api.h"
#include "cli/interrupt.h"
#include "clock.h"
#include "run/cgroup_limits.h"
#include "run/progress_line.h"
#include "run/records_header.h"
#include "safe_text.h"
#include "stream/stream_keep.h"
#include "predict/twin_driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct prediction {
	struct predict_options options;
	const char *path; /* the twin's */
	json_t *argv;
	char sha256[65]; /* the twin's file's */
	struct twin twin;
	uint64_t seed;
	struct api *api;
	struct arrival_reader *arrivals;
	struct twin_server *server;
	struct twin_prompt *prompts;
	struct twin_driver *driver;
	struct balance *balance;
	struct stream_writer *writer;
	char *model, *fallback; /* JSON; NULL */
	struct run_counters counters;
	struct failure_tally failures;
	struct twin_driver_result result;
	struct progress progress;
	struct progress_line line;
};

/* ---- before the run ---- */

static int file_digest(const char *path, char sha256[65], struct ipf_error *err)
{
	struct stream_reader *reader;
	struct slice text;
	int got;
	if (stream_reader_open_input(&reader, path, err) < 0)
		return -1;
	while ((got = stream_reader_text(reader, &text, err)) == 1)
		;
	if (got == 0)
		snprintf(sha256, 65, "%s", stream_reader_sha256(reader));
	stream_reader_close(reader);
	return got;
}

static char *as_json(const char *text)
{
	json_t *value = json_string(text);
	char *json = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	json_decref(value);
	return json;
}

static uint64_t choose_seed(struct prediction *r)
{
	json_t *seed = json_object_get(stream_reader_header(arrival_reader_stream(r->arrivals)), "seed");
	if (r->options.common.seed_given)
		return r->options.common.seed;
	if (json_is_integer(seed))
		return (uint64_t)json_integer_value(seed);
	return json_is_string(seed) ? strtoull(json_string_value(seed), NULL, 10) : r->options.common.seed;
}

static int name_models(struct prediction *r, struct ipf_error *err)
{
	if ((r->options.run.model && !(r->model = as_json(r->options.run.model))) ||
	    (r->twin.model && !(r->fallback = as_json(r->twin.model))))
		return ipf_error_memory(err);
	return 0;
}

static int read_twin(struct prediction *r, struct ipf_error *err)
{
	const struct predict_options *o = &r->options;
	if (twin_read(&r->twin, r->path, err) < 0 || file_digest(r->path, r->sha256, err) < 0)
		return -1;
	for (size_t i = 0; i < o->assume.count; i++)
		if (twin_assume(&r->twin, o->assume.items[i], err) < 0) {
			ipf_error_place(err, "--assume", 0);
			return -1;
		}
	return 0;
}

/* As the twin's servers did, if it is known and no option says another way. */
static void settle_balance(struct prediction *r)
{
	if (r->options.run.balance == BALANCE_KINDS)
		r->options.run.balance = r->twin.balancing < BALANCE_KINDS ? r->twin.balancing : BALANCE_ROUND_ROBIN;
}

static int open_inputs(struct prediction *r, const char *schedule, struct ipf_error *err)
{
	const struct predict_options *o = &r->options;
	if (read_twin(r, err) < 0 || api_open(&r->api, "twin", err) < 0 ||
	    arrival_reader_open(&r->arrivals, schedule, o->run.trace, 0, err) < 0 ||
	    named_paths_check_input(program_paths(), arrival_reader_trace(r->arrivals), err) < 0 || name_models(r, err) < 0)
		return -1;
	settle_balance(r);
	r->seed = choose_seed(r);
	if (twin_server_open(&r->server, &r->twin, &o->replicas, r->seed, err) < 0)
		return -1;
	const struct twin_prompt_options prompts = {.trace = arrival_reader_trace(r->arrivals),
	                                            .room = twin_server_room(r->server),
	                                            .blocks = twin_value(&r->twin, TWIN_PREFIX_CACHE) > 0.5,
	                                            .answers = o->run.history != HISTORY_RECORDED,
	                                            .times = {r->twin.times[TWIN_INPUT], r->twin.times[TWIN_OUTPUT]}};
	if (!(r->balance = balance_new(o->run.balance, (size_t)o->replicas.most)))
		return ipf_error_memory(err);
	return twin_prompt_open(&r->prompts, &prompts, err);
}

/* ---- the header ---- */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static json_t *number_json(double value)
{
	return value == floor(value) && value < 1e15 ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *assumed_json(const struct twin *twin)
{
	json_t *assumed = json_object();
	for (int i = 0; i < TWIN_PARAMETER_COUNT; i++)
		if (twin->p[i].assumed)
			json_object_set_new(assumed, twin_parameter_names[i], number_json(twin->p[i].value));
	for (int i = 0; i < TWIN_LENGTHS; i++)
		if (twin->times[i] != 1)
			json_object_set_new(assumed, twin_length_names[i], json_sprintf("x%.7g", twin->times[i]));
	return assumed;
}

static json_t *seed_json(uint64_t seed)
{
	return seed <= INT64_MAX ? json_integer((json_int_t)seed) : json_sprintf("%llu", (unsigned long long)seed);
}

/* A number; of those that vary, the series as [time, number], or the rule. */
static json_t *replicas_json(const struct replicas_options *o)
{
	if (o->least == o->most)
		return json_integer(o->most);
	if (!o->changes_count)
		return json_pack("{s:I, s:I, s:I, s:I, s:I, s:s}", "min", (json_int_t)o->least, "max", (json_int_t)o->most,
		                 "delay_ns", (json_int_t)o->delay_ns, "idle_ns", (json_int_t)o->idle_ns, "scale_at",
		                 (json_int_t)o->scale_at, "on", replicas_signals[o->signal]);
	json_t *list = json_array();
	for (size_t i = 0; i < o->changes_count; i++)
		json_array_append_new(list,
		                      json_pack("[I, I]", (json_int_t)o->changes[i].at_ns, (json_int_t)o->changes[i].count));
	return list;
}

/* The sources of the prediction. */
static int add_predicted(const struct prediction *r, json_t *header)
{
	json_t *p = json_object();
	int bad = json_object_set_new(p, "twin", json_string(file_name(r->path))) |
	          json_object_set_new(p, "sha256", json_string(r->sha256));
	if (r->twin.model)
		bad |= json_object_set_new(p, "model", json_string(r->twin.model));
	bad |= json_object_set_new(p, "requests", json_integer(r->twin.requests)) |
	       json_object_set_new(p, "steps", json_integer(r->twin.steps)) | twin_errors_to_json(&r->twin, p);
	if (r->twin.from)
		bad |= json_object_set(p, "from", r->twin.from);
	json_t *assumed = assumed_json(&r->twin);
	if (json_object_size(assumed))
		bad |= json_object_set(p, "assumed", assumed);
	json_decref(assumed);
	bad |= json_object_set_new(p, "replicas", replicas_json(&r->options.replicas)) |
	       json_object_set_new(p, "seed", seed_json(r->seed));
	return bad | json_object_set_new(header, "predicted", p) ? -1 : 0;
}

static int add_targets(const struct prediction *r, json_t *header)
{
	size_t count = (size_t)r->options.replicas.most;
	char *texts = malloc(count * 320);
	const char **names = malloc(count * sizeof *names);
	for (size_t i = 0; texts && names && i < count; i++) {
		names[i] = texts + i * 320;
		snprintf(texts + i * 320, 300, "twin: %s", file_name(r->path));
		if (count > 1)
			snprintf(texts + i * 320 + strlen(names[i]), 20, " #%zu", i + 1);
	}
	int bad = texts && names ? records_header_targets(header, names, count, r->options.run.balance) : -1;
	free(texts);
	free(names);
	return bad;
}

static int write_header(struct prediction *r, struct ipf_error *err)
{
	const struct predict_options *o = &r->options;
	const struct records_about about = {
		.tool = "ipf-twin",
		.common = &o->common,
		.run = &o->run,
		.api = r->api,
		.arrivals = r->arrivals,
		.model = o->run.model ? o->run.model : r->twin.model,
		.argv = r->argv,
		.streamed = true,
		.wall_ns = o->common.reproducible ? 0 : clock_wall(),
		.clock = "virtual",
	};
	json_t *header = records_header(&about);
	r->argv = NULL;
	int result = header && add_targets(r, header) == 0 && add_predicted(r, header) == 0 ? 0 : ipf_error_memory(err);
	if (result == 0 && !o->run.force)
		result = stream_writer_open_keeping(&r->writer, o->common.output, header, "records", err);
	else if (result == 0)
		result = stream_writer_open(&r->writer, o->common.output, header, err);
	json_decref(header);
	return result < 0 ? -1 : stream_writer_flush(r->writer, err);
}

/* ---- the run ---- */

static void show(void *data, int64_t now_ns)
{
	struct prediction *r = data;
	if (r->progress.on && progress_due(&r->progress, clock_now()))
		progress_line_show(&r->line, &r->progress, now_ns);
}

static int open_driver(struct prediction *r, struct ipf_error *err)
{
	const struct predict_options *o = &r->options;
	struct twin_driver_options driver = {
		.options = o,
		.twin = &r->twin,
		.arrivals = r->arrivals,
		.server = r->server,
		.prompts = r->prompts,
		.balance = r->balance,
		.cancels = o->run.cancels,
		.writer = r->writer,
		.model = r->model,
		.fallback = r->fallback,
		.memory_most = o->run.memory_bytes ? o->run.memory_bytes : cgroup_limits_memory() / 2,
		.counters = &r->counters,
		.failures = &r->failures,
		.show = show,
		.data = r,
	};
	cancels_seed(&driver.cancels, stream_reader_header(arrival_reader_stream(r->arrivals)), INT64_MAX);
	return twin_driver_open(&r->driver, &driver, err);
}

/* Beyond the load of the runs from which the twin was made, its parameters are not known. */
static json_t *extrapolated(const struct prediction *r)
{
	const struct {
		enum twin_parameter_id id;
		int64_t most;
	} seen[] = {{TWIN_SEQUENCES, r->result.most_sequences},
	            {TWIN_STEP_TOKENS, r->result.most_step_tokens},
	            {TWIN_KV_BLOCKS, r->result.most_kv_blocks}};
	json_t *list = json_array();
	for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
		const struct twin_parameter *p = &r->twin.p[seen[i].id];
		if (isnan(p->value) && !isnan(p->at_least) && (double)seen[i].most > p->at_least)
			json_array_append_new(list, json_string(twin_parameter_names[seen[i].id]));
	}
	return list;
}

static int write_trailer(struct prediction *r, struct ipf_error *err)
{
	struct stream_writer *writer = r->writer;
	json_t *end = records_trailer(r->arrivals, &r->result.run, counters_sum(&r->counters, started));
	json_object_set_new(end, "extrapolated", extrapolated(r));
	r->writer = NULL;
	return stream_writer_close(writer, end, err);
}

static void report_end(struct prediction *r)
{
	struct buffer line = {0};
	int64_t done = counters_sum(&r->counters, done);
	if (r->options.common.quiet)
		return;
	failure_tally_sum_up(&r->failures, done, "failed", &line);
	if (line.len && !line.failed)
		fprintf(stderr, "ipf-twin: %s\n", line.data);
	buffer_release(&line);
	if (r->options.common.verbose)
		progress_line_summary(&r->line, "ipf-twin", r->result.run.unstarted, r->result.end_ns);
}

static int run(struct prediction *r, const char *schedule, struct ipf_error *err)
{
	const struct predict_options *o = &r->options;
	if ((!o->run.force && stream_keep_check(o->common.output, "records", err) < 0) || open_inputs(r, schedule, err) < 0)
		return -1;
	interrupt_watch(0);
	if (write_header(r, err) < 0 || open_driver(r, err) < 0)
		return -1;
	r->line = (struct progress_line){.counters = &r->counters, .planned = arrival_reader_planned(r->arrivals)};
	progress_init(&r->progress, o->common.progress, o->common.quiet || run_options_leave_progress(&o->run, &o->common));
	int result = twin_driver_run(r->driver, &r->result, err);
	progress_end(&r->progress);
	if (r->result.run.error.kind && !r->result.run.input.kind)
		r->result.run.input = r->result.run.error;
	if (!r->result.run.input.kind)
		r->result.run.input = *arrival_reader_cut(r->arrivals);
	if (result < 0 || write_trailer(r, err) < 0)
		return -1;
	report_end(r);
	if (r->result.stopped[0])
		return ipf_error_set(err, IPF_SYSTEM, "%s", r->result.stopped);
	*err = r->result.run.input;
	return err->kind ? -1 : 0;
}

int predict(const struct predict_options *options, const char *twin, const char *schedule, json_t *argv)
{
	struct ipf_error err = {0};
	struct prediction r = {.options = *options, .path = twin, .argv = argv, .counters.threads = 1};
	if (!options->replicas.most)
		r.options.replicas = (struct replicas_options)REPLICAS_DEFAULT;
	counter_set(&r.counters.lag_p99_ns, -1);
	twin_init(&r.twin);
	run(&r, schedule, &err);
	twin_driver_close(r.driver);
	stream_writer_abandon(r.writer);
	twin_prompt_close(r.prompts);
	twin_server_close(r.server);
	balance_free(r.balance);
	arrival_reader_close(r.arrivals);
	api_close(r.api);
	twin_release(&r.twin);
	json_decref(r.argv);
	free(r.model);
	free(r.fallback);
	free(r.result.run.stage_begin_ns);
	free(r.result.run.stage_end_ns);
	return ipf_error_report(&err, stderr, "ipf-twin");
}

#include <ipf/schedules.h>

#include "absent.h"
#include "cli/progress.h"
#include "clock.h"
#include "inputs/stage_inputs.h"
#include "inputs/trace_index.h"
#include "library.h"
#include "safe_text.h"
#include "schedule_builder.h"
#include "stages.h"
#include "stream/fields.h"
#include "stream/provenance.h"
#include "stream/schedule.h"
#include "utf8.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A schedule's sources, however its arrivals are found. */
struct making {
	char **specs; /* which stages borrow */
	size_t specs_count;
	struct stages stages;
	struct stage_inputs inputs;
	struct trace_index trace;
	struct schedule_builder builder;
	struct progress progress; /* none */
	struct ipf_error cut;     /* the trace was cut */
	uint64_t seed;
};

static void release(struct making *m)
{
	for (size_t i = 0; i < m->specs_count; i++)
		free(m->specs[i]);
	free(m->specs);
	schedule_builder_release(&m->builder);
	trace_index_release(&m->trace);
	stages_release(&m->stages);
	earlier_runs_release(&m->inputs.earlier);
	json_decref(m->inputs.files);
	buffer_release(&m->inputs.notes);
	buffer_release(&m->inputs.answer);
}

static json_t *make_header(struct making *m, const struct schedule *schedule, bool has_trace)
{
	struct provenance from = {.tool = "libipf", .from = json_array(), .has_seed = true, .seed = m->seed};
	if (has_trace && from.from)
		json_array_append(from.from, m->trace.header);
	if (m->inputs.files && from.from)
		json_array_extend(from.from, m->inputs.files);
	json_t *header = stream_header("schedule", &from);
	if (header && schedule_to_header(schedule, header) < 0) {
		json_decref(header);
		header = NULL;
	}
	return header;
}

static json_t *make_trailer(const struct making *m, bool has_trace)
{
	json_t *extra = json_object(), *from = json_array();
	if (has_trace)
		json_array_append(from, m->trace.digest);
	if (json_array_size(from) > 0)
		json_object_set(extra, "from", from);
	json_decref(from);
	if (m->cut.kind)
		json_object_set_new(extra, "incomplete", json_string(m->cut.text));
	return extra;
}

/* A search needs the results of earlier runs, which only ipf-sched takes. */
static int parse_stages(struct making *m, const char *const *specs, size_t count, struct ipf_error *err)
{
	if (count == 0 || count > INT_MAX)
		return ipf_error_set(err, IPF_USAGE, "expected at least one stage, such as poisson:rate=5,for=1m");
	for (size_t i = 0; i < count; i++)
		if (strncmp(specs[i], "search:", strlen("search:")) == 0)
			return ipf_error_set(err, IPF_USAGE, "stage %zu (search): only ipf-sched makes searches", i + 1);
	if (!(m->specs = calloc(count, sizeof *m->specs)))
		return ipf_error_memory(err);
	for (m->specs_count = 0; m->specs_count < count; m->specs_count++)
		if (!(m->specs[m->specs_count] = strdup(specs[m->specs_count])))
			return ipf_error_memory(err);
	return stages_parse(&m->stages, m->specs, (int)count, &m->inputs, err);
}

static int write_built(struct making *m, const char *path, bool has_trace, struct ipf_error *err)
{
	struct stream_writer *writer = NULL;
	if (schedule_builder_prepare(&m->builder, err) < 0)
		return -1;
	json_t *header = make_header(m, &m->builder.schedule, has_trace);
	int status = header ? schedule_check_header(header, err) : ipf_error_memory(err);
	if (status == 0)
		status = stream_writer_open(&writer, path, header, err);
	json_decref(header);
	if (status < 0)
		return -1;
	if (schedule_builder_write(&m->builder, writer, &m->progress, err) < 0) {
		stream_writer_abandon(writer);
		return -1;
	}
	return stream_writer_close(writer, make_trailer(m, has_trace), err);
}

/* A schedule of a part of a trace is whole, but the caller should know. */
static int finish(struct making *m, int status, struct ipf_error *err)
{
	if (status == 0 && m->cut.kind) {
		*err = m->cut;
		status = -1;
	}
	release(m);
	return status;
}

int ipf_schedule_write(const char *path, const char *trace, const char *const *stages, size_t count, uint64_t seed,
                       struct ipf_error *err)
{
	struct making m = {.seed = seed};
	library_begin();
	int status = parse_stages(&m, stages, count, err);
	if (status == 0 && trace)
		status = trace_index_read(&m.trace, trace, &m.progress, &m.cut, err);
	m.builder = (struct schedule_builder){.stages = &m.stages, .trace = trace ? &m.trace : NULL, .seed = seed};
	if (status == 0)
		status = write_built(&m, path, trace != NULL, err);
	return finish(&m, status, err);
}

int ipf_schedule_check(const char *const *stages, size_t count, struct ipf_error *err)
{
	struct making m = {.seed = 0};
	library_begin();
	return finish(&m, parse_stages(&m, stages, count, err), err);
}

/* ---- times ---- */

static int check_times(const struct trace_index *trace, const char *name, const int64_t *at_ns, size_t count,
                       struct ipf_error *err)
{
	if (count == 0)
		return ipf_error_set(err, IPF_USAGE, "at_ns: expected at least one time");
	if (!name || !*name || !utf8_valid(name, strlen(name), NULL) || !safe_text_is_safe(slice_of(name)))
		return ipf_error_set(err, IPF_USAGE, "stage: expected a name in UTF-8 without control characters");
	for (size_t i = 0; i < count; i++)
		if (at_ns[i] < (i ? at_ns[i - 1] : 0) || at_ns[i] > FIELD_INT_MAX)
			return ipf_error_set(err, IPF_USAGE, "at_ns[%zu]: expected %lld or more, got %lld", i,
			                     (long long)(i ? at_ns[i - 1] : 0), (long long)at_ns[i]);
	if (trace->heads < trace->count)
		return ipf_error_at(err, IPF_INPUT, trace->name, 0,
		                    "expected requests without sessions: later turns start when earlier ones have ended");
	return 0;
}

static int write_arrivals(struct stream_writer *writer, const struct trace_index *trace, const int64_t *at_ns,
                          size_t count, struct ipf_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct schedule_arrival a = {
			.n = (int64_t)i, .at_ns = at_ns[i], .req = (int64_t)i % trace->count, .wait_ns = IPF_ABSENT};
		schedule_arrival_write(&a, stream_writer_begin_line(writer));
		if (stream_writer_end_line(writer, err) < 0)
			return -1;
	}
	return 0;
}

static int write_times(struct making *m, const char *path, struct schedule_stage *stage, const int64_t *at_ns,
                       struct ipf_error *err)
{
	struct stream_writer *writer = NULL;
	struct schedule schedule = {.stages = stage,
	                            .count = 1,
	                            .trace_requests = m->trace.count,
	                            .trace_repeated_prompts = m->trace.repeats,
	                            .trace_reuse = m->trace.reuse};
	memcpy(schedule.trace_sha256, m->trace.sha256, sizeof schedule.trace_sha256);
	json_t *header = make_header(m, &schedule, true);
	int status = header ? schedule_check_header(header, err) : ipf_error_memory(err);
	if (status == 0)
		status = stream_writer_open(&writer, path, header, err);
	json_decref(header);
	if (status < 0)
		return -1;
	if (write_arrivals(writer, &m->trace, at_ns, (size_t)stage->arrivals, err) < 0) {
		stream_writer_abandon(writer);
		return -1;
	}
	return stream_writer_close(writer, make_trailer(m, true), err);
}

int ipf_schedule_times(const char *path, const char *trace, const char *stage, const int64_t *at_ns, size_t count,
                       struct ipf_error *err)
{
	struct making m = {.seed = 0};
	library_begin();
	if (!trace)
		return ipf_error_set(err, IPF_USAGE, "trace: expected a file, got NULL");
	int status = trace_index_read(&m.trace, trace, &m.progress, &m.cut, err);
	if (status == 0)
		status = check_times(&m.trace, stage, at_ns, count, err);
	if (status == 0) {
		int64_t end_ns = at_ns[count - 1] + 1;
		struct schedule_stage s = {.name = (char *)stage,
		                           .kind = (char *)"times",
		                           .spec = (char *)"times",
		                           .end_ns = end_ns,
		                           .slots = IPF_ABSENT,
		                           .arrivals = (int64_t)count,
		                           .rate = (double)count / ((double)end_ns / (double)NS_PER_S),
		                           .measured = true};
		status = write_times(&m, path, &s, at_ns, err);
	}
	return finish(&m, status, err);
}

#include "absent.h"
#include "run/generated_input.h"
#include "stream/provenance.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int begin(struct generated_input *m, const char *kind, const struct schedule *schedule,
                 struct stream_writer **writer, struct ipf_error *err)
{
	struct provenance p = {.tool = "ipf-fire", .argv = json_array(), .undated = true};
	m->fd = memfd_create(kind, MFD_CLOEXEC);
	if (m->fd < 0) {
		json_decref(p.argv);
		return ipf_error_errno(err, errno, NULL, "cannot make a %s", kind);
	}
	snprintf(m->path, sizeof m->path, "/proc/self/fd/%d", m->fd);
	json_t *header = stream_header(kind, &p);
	int result = !header || (schedule && schedule_to_header(schedule, header) < 0)
	                 ? ipf_error_memory(err)
	                 : stream_writer_open(writer, m->path, header, err);
	json_decref(header);
	return result;
}

/* Closes what was written, or lets it go. */
static int end(struct generated_input *m, struct stream_writer *writer, int result, struct ipf_error *err)
{
	if (result == 0)
		result = stream_writer_close(writer, json_object(), err);
	else
		stream_writer_abandon(writer);
	if (result < 0)
		generated_input_release(m);
	return result;
}

int generated_input_schedule(struct generated_input *m, const struct schedule_stage *stage, const int64_t *at_ns,
                             struct ipf_error *err)
{
	struct schedule_stage copy = *stage;
	const struct schedule schedule = {.stages = &copy, .count = 1, .trace_requests = IPF_ABSENT};
	struct stream_writer *writer = NULL;
	struct buffer line = {0};
	int result = begin(m, "schedule", &schedule, &writer, err);
	for (int64_t i = 0; result == 0 && i < stage->arrivals; i++) {
		const struct schedule_arrival arrival = {.n = i, .at_ns = at_ns[i], .wait_ns = IPF_ABSENT};
		buffer_clear(&line);
		buffer_clear(&line);
		schedule_arrival_write(&arrival, &line);
		result = stream_writer_line(writer, &line, err);
	}
	buffer_release(&line);
	return end(m, writer, result, err);
}

int generated_input_trace(struct generated_input *m, const struct trace_request *request, struct ipf_error *err)
{
	struct stream_writer *writer = NULL;
	struct buffer line = {0};
	int result = begin(m, "trace", NULL, &writer, err);
	if (result == 0) {
		trace_request_write(request, &line);
		result = stream_writer_line(writer, &line, err);
	}
	buffer_release(&line);
	return end(m, writer, result, err);
}

void generated_input_release(struct generated_input *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

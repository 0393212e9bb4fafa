#include "run/generated_input.h"
#include "stream/provenance.h"

#include "absent.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int begin(struct generated_input *input, const char *kind, const struct schedule *schedule,
                 struct stream_writer **writer, struct ipf_error *err)
{
	struct provenance p = {.tool = "ipf-fire", .argv = json_array(), .undated = true};
	input->fd = memfd_create(kind, MFD_CLOEXEC);
	if (input->fd < 0) {
		json_decref(p.argv);
		return ipf_error_errno(err, errno, NULL, "cannot generate a %s", kind);
	}
	snprintf(input->path, sizeof input->path, "/proc/self/fd/%d", input->fd);
	json_t *header = stream_header(kind, &p);
	int result = !header || (schedule && schedule_to_header(schedule, header) < 0)
	                 ? ipf_error_memory(err)
	                 : stream_writer_open(writer, input->path, header, err);
	json_decref(header);
	return result;
}

/* Completes the stream, or abandons it if `result` is an error. */
static int end(struct generated_input *input, struct stream_writer *writer, int result, struct ipf_error *err)
{
	if (result == 0)
		result = stream_writer_close(writer, json_object(), err);
	else
		stream_writer_abandon(writer);
	if (result < 0)
		generated_input_release(input);
	return result;
}

int generated_input_schedule(struct generated_input *input, const struct schedule_stage *stage, const int64_t *at_ns,
                             struct ipf_error *err)
{
	struct schedule_stage copy = *stage;
	const struct schedule schedule = {.stages = &copy, .count = 1, .trace_requests = IPF_ABSENT};
	struct stream_writer *writer = NULL;
	struct buffer line = {0};
	int result = begin(input, "schedule", &schedule, &writer, err);
	for (int64_t i = 0; result == 0 && i < stage->arrivals; i++) {
		const struct schedule_arrival arrival = {.n = i, .at_ns = at_ns[i], .wait_ns = IPF_ABSENT};
		buffer_clear(&line);
		schedule_arrival_write(&arrival, &line);
		result = stream_writer_line(writer, &line, err);
	}
	buffer_release(&line);
	return end(input, writer, result, err);
}

int generated_input_trace(struct generated_input *input, const struct trace_request *request, struct ipf_error *err)
{
	struct stream_writer *writer = NULL;
	struct buffer line = {0};
	int result = begin(input, "trace", NULL, &writer, err);
	if (result == 0) {
		trace_request_write(request, &line);
		result = stream_writer_line(writer, &line, err);
	}
	buffer_release(&line);
	return end(input, writer, result, err);
}

void generated_input_release(struct generated_input *input)
{
	if (input->fd >= 0)
		close(input->fd);
	input->fd = -1;
}

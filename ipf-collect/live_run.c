#include "live_run.h"

#include "clock.h"
#include "gpu/accelerators.h"
#include "live/line_queue.h"
#include "live/run_clock.h"

#include <stdlib.h>

struct live_run {
	struct line_queue *queue;
	struct run_clock *clock;
	struct accelerators *accelerators; /* NULL: not asked for */
	struct buffer line;
};

int live_run_start(struct live_run **live, const struct collect_options *options, struct ipf_error *err)
{
	if (!options->gpu.count)
		return 0;
	struct live_run *l = calloc(1, sizeof *l);
	*live = l;
	if (!l || !(l->clock = run_clock_new()) || !(l->queue = line_queue_new(LINE_QUEUE_BYTES)))
		return ipf_error_memory(err);
	return accelerators_start(&l->accelerators, &options->gpu, options->every_ns, l->queue, err);
}

int live_run_begin(struct live_run *l, const struct record_inputs *inputs, struct ipf_error *err)
{
	const struct record_input *first = inputs->list;
	if (!l)
		return 0;
	if (!inputs->live)
		return ipf_error_set(err, IPF_USAGE,
		                     "--gpu: devices can only be sampled while the run lasts, but %s is complete",
		                     stream_reader_name(record_reader_stream(first->reader)));
	for (size_t i = 1; i < inputs->count; i++)
		if (inputs->list[i].offset_ns < first->offset_ns)
			first = &inputs->list[i];
	struct stream_reader *stream = record_reader_stream(first->reader);
	if (run_clock_start(l->clock, stream_reader_header(stream)) < 0)
		return ipf_error_at(err, IPF_INPUT, stream_reader_name(stream), 1, "t0_unix_ns: missing, but --gpu needs it");
	accelerators_align(l->accelerators, l->clock);
	return 0;
}

int live_run_fd(const struct live_run *l)
{
	return l ? line_queue_fd(l->queue) : -1;
}

int live_run_write(struct live_run *l, struct stream_writer *writer, struct run_view *view, struct ipf_error *err)
{
	if (!l)
		return 0;
	for (buffer_clear(&l->line); line_queue_take(l->queue, &l->line); buffer_clear(&l->line)) {
		run_view_sample(view, buffer_all(&l->line));
		if (stream_writer_line(writer, &l->line, err) < 0)
			return -1;
	}
	return 0;
}

int live_run_row(struct live_run *l, const struct observation *o, struct ipf_error *err)
{
	return l && accelerators_row(l->accelerators, o) < 0 ? ipf_error_memory(err) : 0;
}

void live_run_stop(struct live_run *l)
{
	if (l && l->accelerators)
		accelerators_stop(l->accelerators);
}

void live_run_trailer(const struct live_run *l, const struct schedule *schedule, json_t *trailer)
{
	if (l)
		json_object_set_new(trailer, "accelerators", accelerators_json(l->accelerators, schedule));
}

void live_run_describe(const struct live_run *l, bool verbose, struct buffer *out)
{
	if (l)
		accelerators_describe(l->accelerators, verbose, out);
}

void live_run_free(struct live_run *l)
{
	if (!l)
		return;
	live_run_stop(l);
	accelerators_free(l->accelerators);
	line_queue_free(l->queue);
	run_clock_free(l->clock);
	buffer_release(&l->line);
	free(l);
}

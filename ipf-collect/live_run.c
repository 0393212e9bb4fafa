#include "live_run.h"

#include "clock.h"
#include "gpu/accelerators.h"
#include "live/line_queue.h"
#include "live/run_clock.h"
#include "scrape/scraper.h"

#include <stdlib.h>

struct live_run {
	struct line_queue *queue;
	struct run_clock *clock;
	struct accelerators *accelerators; /* NULL: not asked for; like the next */
	struct scraper *scraper;
	struct buffer line;
};

int live_run_start(struct live_run **live, const struct collect_options *options, struct ipf_error *err)
{
	if (!options->gpu.count && !options->scrape.targets.count)
		return 0;
	struct live_run *l = calloc(1, sizeof *l);
	*live = l;
	if (!l || !(l->clock = run_clock_new()) || !(l->queue = line_queue_new(LINE_QUEUE_BYTES)))
		return ipf_error_memory(err);
	if (options->scrape.targets.count &&
	    scraper_start(&l->scraper, &options->scrape, options->every_ns, l->clock, l->queue, err) < 0)
		return -1;
	return options->gpu.count ? accelerators_start(&l->accelerators, &options->gpu, options->every_ns, l->queue, err)
	                          : 0;
}

int live_run_begin(struct live_run *l, const struct record_inputs *inputs, struct ipf_error *err)
{
	const struct record_input *first = inputs->list;
	if (!l)
		return 0;
	if (!inputs->live)
		return ipf_error_set(err, IPF_USAGE, "%s can only be sampled while the run lasts, but %s is complete",
		                     l->accelerators ? "--gpu: devices" : "--scrape: servers",
		                     stream_reader_name(record_reader_stream(first->reader)));
	for (size_t i = 1; i < inputs->count; i++)
		if (inputs->list[i].offset_ns < first->offset_ns)
			first = &inputs->list[i];
	struct stream_reader *stream = record_reader_stream(first->reader);
	if (run_clock_start(l->clock, stream_reader_header(stream)) < 0)
		return ipf_error_at(err, IPF_INPUT, stream_reader_name(stream), 1,
		                    "t0_unix_ns: missing, but --gpu and --scrape need it");
	if (l->accelerators)
		accelerators_align(l->accelerators, l->clock);
	if (l->scraper)
		scraper_align(l->scraper);
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
	return l && l->accelerators && accelerators_row(l->accelerators, o) < 0 ? ipf_error_memory(err) : 0;
}

void live_run_stop(struct live_run *l)
{
	if (l && l->accelerators)
		accelerators_stop(l->accelerators);
	if (l && l->scraper)
		scraper_stop(l->scraper);
}

void live_run_trailer(const struct live_run *l, const struct schedule *schedule, json_t *trailer)
{
	if (l && l->accelerators)
		json_object_set_new(trailer, "accelerators", accelerators_json(l->accelerators, schedule));
	if (!l || !l->scraper)
		return;
	json_t *server = json_pack("{s:o}", "targets", scraper_json(l->scraper));
	if (line_queue_dropped(l->queue))
		json_object_set_new(server, "dropped", json_integer((json_int_t)line_queue_dropped(l->queue)));
	json_object_set_new(trailer, "server", server);
}

void live_run_describe(const struct live_run *l, bool verbose, struct buffer *out)
{
	if (l && l->accelerators)
		accelerators_describe(l->accelerators, verbose, out);
}

void live_run_free(struct live_run *l)
{
	if (!l)
		return;
	scraper_free(l->scraper);
	if (l->accelerators) {
		accelerators_stop(l->accelerators);
		accelerators_free(l->accelerators);
	}
	line_queue_free(l->queue);
	run_clock_free(l->clock);
	buffer_release(&l->line);
	free(l);
}

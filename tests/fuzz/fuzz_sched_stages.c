/* ipf-sched's inputs. The first byte chooses:
 *
 * Stages, a line each, up to a NUL, and the lines of a trace behind it: refused with a reason, or a schedule whose
 * lines are in order and are read again. A file of rates. Results of an earlier run, from which a search continues. */
#define FUZZ_JSON_LINES
#include "fuzz_input.h"

#include "absent.h"
#include "inputs/rate_file.h"
#include "inputs/trace_index.h"
#include "inputs/stage_inputs.h"
#include "kinds/stage_kind.h"
#include "schedule_builder.h"
#include "search/earlier_runs.h"
#include "stages.h"

enum { SPECS = 6 };

static struct memory_file file, output;

static size_t split_lines(char *text, char **items)
{
	size_t count = 0;
	for (char *at = strtok(text, "\n"); at && count < SPECS; at = strtok(NULL, "\n"))
		if (!strstr(at, "file=")) /* no file but ours is opened */
			items[count++] = at;
	return count;
}

/* Few arrivals, to draw them in no time: the builder counts the possible ones, not we. */
static bool is_small(const struct stages *stages)
{
	for (size_t i = 0; i < stages->count; i++) {
		const struct stage *s = &stages->list[i];
		double most = s->rate;
		const double rates[] = {s->from_rate, s->to_rate, s->base, s->peak, s->high};
		for (size_t k = 0; k < sizeof rates / sizeof *rates; k++)
			most = rates[k] > most || !(most > 0) ? rates[k] : most;
		bool few = (s->n != IPF_ABSENT && s->n <= 500) ||
		           (s->for_ns != IPF_ABSENT && most > 0 && most * (double)s->for_ns <= 500e9) ||
		           s->kind->type == STAGE_REST || s->kind->type == STAGE_CLOSED;
		if (!few || (s->slots != IPF_ABSENT && s->slots > 1000) || s->points.count > 100)
			return false;
	}
	return true;
}

static void read_back(const struct schedule *planned)
{
	struct schedule_reader *reader;
	struct schedule_arrival arrival;
	struct ipf_error err = {0};
	int64_t lines[64] = {0}, n = -1, at_ns = 0;
	int got;
	must(schedule_reader_open(&reader, output.path, &err) == 0);
	must(schedule_reader_header(reader)->count == planned->count);
	while ((got = schedule_reader_next(reader, &arrival, &err)) == 1) {
		must(arrival.n > n && (arrival.at_ns == IPF_ABSENT || arrival.at_ns >= 0));
		n = arrival.n;
		if (arrival.at_ns != IPF_ABSENT && !arrival.after_count)
			must(arrival.at_ns >= at_ns), at_ns = arrival.at_ns;
		if (arrival.stage < 64)
			lines[arrival.stage]++;
	}
	must(got == 0);
	for (size_t i = 0; i < planned->count && i < 64; i++)
		must(lines[i] == planned->stages[i].arrivals);
	schedule_reader_close(reader);
}

static void build(const struct stages *stages, const struct trace_index *trace, struct stage_inputs *inputs)
{
	struct schedule_builder builder = {.stages = stages, .trace = trace, .seed = 1, .first_req = inputs->first_req};
	struct ipf_error err = {0};
	struct progress progress;
	struct stream_writer *writer;
	progress_init(&progress, false, true);
	if (schedule_builder_prepare(&builder, &err) < 0) {
		must_explain(&err);
	} else if (builder.arrivals <= 20000) {
		json_t *header = json_pack("{s:s, s:i}", "ipf", "schedule", "version", 1);
		must(header && schedule_to_header(&builder.schedule, header) == 0);
		must(stream_writer_open(&writer, memory_file_set(&output, (struct slice){0}), header, &err) == 0);
		must(schedule_builder_write(&builder, writer, &progress, &err) == 0);
		must(stream_writer_close(writer, NULL, &err) == 0);
		json_decref(header);
		read_back(&builder.schedule);
	}
	schedule_builder_release(&builder);
}

/* False: there is none. */
static bool read_trace(struct trace_index *trace, struct slice lines)
{
	struct buffer sealed = {0};
	struct ipf_error err = {0}, cut = {0};
	struct progress progress;
	progress_init(&progress, false, true);
	seal_stream(lines, "trace", &sealed);
	int got = trace_index_read(trace, memory_file_set(&file, buffer_all(&sealed)), &progress, &cut, &err);
	if (got < 0)
		must_explain(&err);
	for (int64_t head = 0; got == 0 && head < trace->heads; head++)
		must(trace_index_head(trace, head) < trace_index_head(trace, head + 1));
	buffer_release(&sealed);
	return got == 0;
}

static void read_stages(struct slice rest, struct stage_inputs *inputs)
{
	char *text = take_text(&rest), *items[SPECS];
	size_t count = split_lines(text, items);
	struct stages stages = {0};
	struct trace_index trace = {0};
	struct ipf_error err = {0};
	if (stages_parse(&stages, items, (int)count, inputs, &err) < 0)
		must_explain(&err);
	else if (count && !inputs->answer.len && is_small(&stages) && (!rest.len || read_trace(&trace, rest)))
		build(&stages, rest.len ? &trace : NULL, inputs);
	stages_release(&stages);
	if (rest.len)
		trace_index_release(&trace);
	free(text);
}

static void read_rates(struct slice text)
{
	struct rate_points points = {0};
	json_t *entry = NULL;
	struct ipf_error err = {0};
	if (rate_file_read(memory_file_set(&file, text), &points, &entry, &err) < 0)
		must_explain(&err);
	for (size_t i = 0; i < points.count && !err.kind; i++)
		must(points.list[i].rate >= 0 && points.list[i].at_ns >= 0 &&
		     (i == 0 || points.list[i].at_ns > points.list[i - 1].at_ns));
	free(points.list);
	json_decref(entry);
}

static void read_earlier(struct slice rest, bool users)
{
	static const char *const searches[] = {"search:goal=p99:ttft=500ms,low=1,high=64,for=10s",
	                                       "search:users,goal=p90:e2e=2s,low=1,high=64,for=10s"};
	struct stage_inputs inputs = {.force = users};
	struct buffer sealed = {0};
	struct ipf_error err = {0};
	seal_stream(rest, "results", &sealed);
	if (earlier_runs_read(&inputs.earlier, memory_file_set(&file, buffer_all(&sealed)), &err) < 0)
		must_explain(&err);
	else
		read_stages(slice_of(searches[users]), &inputs);
	earlier_runs_release(&inputs.earlier);
	json_decref(inputs.files);
	buffer_release(&inputs.notes);
	buffer_release(&inputs.answer);
	buffer_release(&sealed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stage_inputs inputs = {0};
	if (size < 2)
		return 0;
	struct slice rest = {(const char *)data + 1, size - 1};
	if (data[0] % 4 == 1)
		read_rates(rest);
	else if (data[0] % 4 == 2)
		read_earlier(rest, data[0] & 4);
	else
		read_stages(rest, &inputs);
	json_decref(inputs.files);
	buffer_release(&inputs.notes);
	buffer_release(&inputs.answer);
	return 0;
}

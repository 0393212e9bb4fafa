#include "convert.h"

#include "absent.h"
#include "clock.h"
#include "json/json_put.h"
#include "shape/checked_requests.h"
#include "shape/request_batch.h"
#include "shape/selection.h"
#include "sources/source_reader.h"
#include "stream/provenance.h"
#include "stream/trace.h"

#include <math.h>
#include <string.h>

/* ---- header and trailer ---- */

static json_t *make_header(const struct prep_config *c, int argc, char **argv)
{
	struct provenance p = {
		.tool = "ipf-prep",
		.argv = options_argv(&prep_program, argc, argv, true, c->common.reproducible),
		.has_seed = true,
		.seed = c->common.seed,
		.reproducible = c->common.reproducible,
	};
	json_t *header = stream_header("trace", &p);
	if (!header)
		return NULL;
	json_object_set_new(header, "tokenizer", token_counter_describe(c->tokens));
	json_object_set_new(header, "source", json_string(c->format->name));
	const struct chat_template *t = &c->template;
	if (t->path)
		json_object_set_new(header, "template",
		                    json_pack("{s:s, s:I, s:o}", "from", t->path, "tokens", (json_int_t)t->chat, "message",
		                              t->message == IPF_ABSENT ? json_null() : json_integer((json_int_t)t->message)));
	if (c->dequantise)
		json_object_set_new(
			header, "dequantised",
			json_string("each arrival is drawn between its stamp and the next, at most the median step later"));
	if (c->prompt == PROMPT_NONE)
		json_object_set_new(header, "prompts", json_string("none"));
	else if (c->traits & MAKES_TEXT)
		json_object_set_new(header, "filled", json_pack("{s:s}", "how", c->format->filled));
	return header;
}

static void set_residual(json_t *end, const struct length_error *r)
{
	if (r->requests)
		json_object_set_new(end, "residual",
		                    json_pack("{s:I, s:f, s:f, s:I, s:I}", "requests", (json_int_t)r->requests, "exact",
		                              residual_exact(r), "mean", (double)r->sum / (double)r->requests, "p99",
		                              (json_int_t)residual_p99(r), "max", (json_int_t)r->max));
}

static void set_counts(json_t *end, const char *name, const struct reason *reasons, int count)
{
	if (!count)
		return;
	json_t *counts = json_object();
	for (int i = 0; i < count; i++)
		json_object_set_new(counts, reasons[i].why, json_integer((json_int_t)reasons[i].count));
	json_object_set_new(end, name, counts);
}

/* Prompts equal to an earlier one, although users did not send them so. */
static void set_repeats(json_t *end, const struct prompt_repeats *r)
{
	if (r->repeated)
		json_object_set_new(end, "repeated_prompts",
		                    json_pack("{s:I, s:I}", "requests", (json_int_t)r->repeated, "most", (json_int_t)r->most));
}

static void set_checked(json_t *end, const struct checked_counts *checked)
{
	if (checked->canaries) {
		json_t *canaries = json_object();
		json_object_set_new(canaries, "requests", json_integer((json_int_t)checked->canaries));
		json_put_count(canaries, "input_tokens", checked->input_tokens);
		json_put_count(canaries, "output_tokens", checked->output_tokens);
		json_object_set_new(end, "canaries", canaries);
	}
	if (checked->repeats)
		json_object_set_new(end, "repeats", json_pack("{s:I}", "requests", (json_int_t)checked->repeats));
}

/* Which records and members of which file are not in the trace. */
static void set_notes(json_t *end, const struct record_notes *notes)
{
	json_t *left_out = record_notes_left_out_json(notes), *unread = record_notes_unread_json(notes);
	if (left_out)
		json_object_set_new(end, "left_out_of", left_out);
	if (unread)
		json_object_set_new(end, "unread", unread);
}

/* The input, its parts missing from the trace, and the assumptions. */
static json_t *make_trailer(const struct prep_config *c, const struct source_reader *reading,
                            const struct selection_counts *counts)
{
	struct schedule_reuse reuse;
	json_t *end = json_pack("{s:O}", "from", reading->from);
	if (!end)
		return NULL;
	if (c->option_files)
		json_array_extend(reading->from, c->option_files);
	if (counts->assumed)
		json_object_set_new(
			end, "assumed",
			json_pack("{s:i, s:I}", "output_tokens", OUTPUT_TOKENS_ASSUMED, "requests", (json_int_t)counts->assumed));
	set_residual(end, &counts->residual);
	set_counts(end, "left_out", counts->reasons, counts->reason_count);
	set_counts(end, "inexact", counts->inexact, counts->inexact_count);
	set_notes(end, &reading->notes);
	if (counts->shift_ns)
		json_object_set_new(end, "shift_ns", json_integer((json_int_t)counts->shift_ns));
	set_repeats(end, &counts->repeats);
	set_checked(end, &counts->checked);
	prompt_reuse_find(&counts->reuse, counts->input_tokens, &reuse);
	if (!c->query.given) /* a ranking model reads each input behind the query */
		schedule_reuse_to_json(&reuse, end);
	if (reading->bad)
		json_object_set_new(end, "bad", json_integer((json_int_t)reading->bad));
	if (reading->ended_early)
		json_object_set_new(end, "incomplete", json_sprintf("reading ended at %s", reading->why));
	else if (reading->bad)
		json_object_set_new(
			end, "incomplete",
			json_sprintf("%lld bad record%s left out", (long long)reading->bad, reading->bad == 1 ? "" : "s"));
	return end;
}

/* ---- the conversion ---- */

/* Writes requests as lines of the trace. */
struct line_sink {
	struct request_sink sink; /* must be first: write_request() casts it */
	const struct prep_config *config;
	json_t *header;
	struct stream_writer *writer; /* NULL: the header has not been written */
	struct buffer line;
};

static int open_trace(struct line_sink *lines, struct ipf_error *err)
{
	const struct prep_config *c = lines->config;
	if (c->format->describe)
		c->format->describe(c->format_state, lines->header);
	if (stream_writer_open(&lines->writer, c->common.output, lines->header, err) < 0)
		return -1;
	/* Prompts repeat each other over long distances. */
	if ((c->traits & MAKES_TEXT) && (c->traits & (HAS_BLOCKS | HAS_SESSIONS)) && c->prompt != PROMPT_NONE)
		stream_writer_long_distance(lines->writer);
	return 0;
}

static int write_request(struct request_sink *sink, const struct trace_request *request, struct ipf_error *err)
{
	struct line_sink *lines = (struct line_sink *)sink;
	if (!lines->writer && open_trace(lines, err) < 0)
		return -1;
	trace_request_write(request, &lines->line);
	return stream_writer_line(lines->writer, &lines->line, err);
}

/* Reads, selects, and hands over. */
static int read_requests(const struct prep_config *c, struct trace_renderer *renderer, const struct input_paths *paths,
                         struct source_reader *reading, struct selection_counts *counts, struct ipf_error *err)
{
	struct selection *selection = NULL;
	int status = selection_new(&selection, c, renderer, counts, &reading->progress, err);
	if (status == 0) {
		reading->sink = selection_sink(selection);
		status = source_reader_run(reading, paths->items, (int)paths->count, err);
	}
	if (status == 0)
		status = selection_finish(selection, err);
	if (status == 0)
		status = token_counter_check(c->tokens, err);
	selection_free(selection);
	return status;
}

/* The names of where media go to, and where they come from. */
struct media_names {
	struct buffer file, root, source;
};

static void media_names_release(struct media_names *names)
{
	buffer_release(&names->file);
	buffer_release(&names->root);
	buffer_release(&names->source);
}

static int media_names_init(struct media_names *names, const struct prep_config *c, const struct input_paths *paths,
                            struct ipf_error *err)
{
	const char *output = c->common.output, *first = paths->count ? paths->items[0] : NULL;
	const char *slash = first ? strrchr(first, '/') : NULL;
	if (c->media_file)
		buffer_text(&names->file, c->media_file);
	else if (output && strcmp(output, "-") != 0)
		buffer_format(&names->file, "%s" MEDIA_FILE_SUFFIX, output);
	if (c->media_root)
		buffer_text(&names->root, c->media_root);
	else if (slash)
		buffer_slice(&names->root, (struct slice){first, (size_t)(slash + 1 - first)});
	else if (first && strcmp(first, "-") != 0)
		buffer_text(&names->root, ".");
	if (paths->count == 1 && strcmp(first, "-") != 0)
		buffer_format(&names->source, "%s" MEDIA_FILE_SUFFIX, first);
	return names->file.failed || names->root.failed || names->source.failed ? ipf_error_memory(err) : 0;
}

static int open_media(struct media_store *media, const struct prep_config *c, const struct input_paths *paths,
                      struct media_names *names, struct ipf_error *err)
{
	media_store_init(media, &c->media, c->common.seed);
	if (media_names_init(names, c, paths, err) < 0)
		return -1;
	media->source = names->source.data;
	media->path = names->file.data;
	media->root = names->root.data;
	return 0;
}

/* Before the output is opened: records may name files in the folder of the data. */
static int keep_media(const struct prep_config *c, const struct input_paths *paths, struct ipf_error *err)
{
	struct media_names names = {0};
	int status = media_names_init(&names, c, paths, err);
	if (status == 0 && media_store_keep(names.root.data, c->common.output, err) < 0)
		status = -1;
	if (status == 0 && media_store_keep(names.root.data, names.file.data, err) < 0)
		status = -1;
	media_names_release(&names);
	return status;
}

static void begin_progress(const struct prep_config *c, struct progress *progress)
{
	progress_init(progress, c->common.progress,
	              c->common.quiet || progress_is_left(c->common.output, false, c->common.progress));
}

static bool is_given(const struct share_or_count *option)
{
	return option->share > 0 || option->count > 0;
}

static bool checks_answers(const struct prep_config *c)
{
	return is_given(&c->canaries) || is_given(&c->repeats);
}

/* Reads everything into the sink. */
static int write_requests(const struct prep_config *c, struct line_sink *lines, const struct input_paths *paths,
                          struct source_reader *reading, struct selection_counts *counts, struct ipf_error *err)
{
	struct media_names names = {0};
	struct trace_renderer renderer = {0};
	struct media_store media;
	struct request_batch batch;
	struct checked_requests checked;
	request_batch_init(&batch, c, &lines->sink);
	checked_requests_init(&checked, c, &counts->checked, &lines->sink);
	struct request_sink *to = c->batch.given ? &batch.sink : checks_answers(c) ? &checked.sink : &lines->sink;
	int status = open_media(&media, c, paths, &names, err);
	if (status == 0)
		status = trace_renderer_init(&renderer, c, to, &media, counts, err);
	if (status == 0)
		status = read_requests(c, &renderer, paths, reading, counts, err);
	if (status == 0)
		status = request_batch_finish(&batch, err);
	if (status == 0)
		status = checked_requests_finish(&checked, err);
	checked_requests_release(&checked);
	request_batch_release(&batch);
	trace_renderer_release(&renderer);
	if (media_store_close(&media, err) < 0)
		status = -1;
	media_names_release(&names);
	return status;
}

/* The trace gets its trailer even if the input ends at an error. Its header comes first, so an output that cannot be
 * written is found at once. Only a format that describes its input has to read before. */
static int write_trace(const struct prep_config *c, struct line_sink *lines, const struct input_paths *paths,
                       struct source_reader *reading, struct selection_counts *counts, struct ipf_error *err)
{
	int status = keep_media(c, paths, err);
	if (status == 0 && !c->format->describe)
		status = open_trace(lines, err);
	if (status == 0)
		begin_progress(c, &reading->progress);
	if (status == 0)
		status = write_requests(c, lines, paths, reading, counts, err);
	if (status == 0 && !lines->writer)
		status = open_trace(lines, err);
	buffer_release(&lines->line);
	if (status == 0)
		return stream_writer_close(lines->writer, make_trailer(c, reading, counts), err);
	stream_writer_abandon(lines->writer);
	return status;
}

/* ---- messages a user should see unasked ---- */

/* Fewer requests or sessions than were asked for: how many, and why. */
static void note_shortfall(const struct prep_config *c, const struct source_reader *reading,
                           const struct selection_counts *counts)
{
	bool of_requests = c->max_requests != IPF_ABSENT;
	int64_t wanted = of_requests ? c->max_requests : c->max_sessions;
	int64_t written = of_requests ? counts->requests : counts->units;
	bool enough = (of_requests && counts->requests >= c->max_requests) ||
	              (c->max_sessions != IPF_ABSENT && counts->units >= c->max_sessions);
	if (wanted == IPF_ABSENT || enough)
		return;
	fprintf(stderr, "ipf-prep: %lld of the %lld %s of %s were written: ", (long long)written, (long long)wanted,
	        !of_requests     ? "sessions"
	        : c->batch.given ? "inputs"
	                         : "requests",
	        of_requests ? "-n" : "--sessions");
	if (counts->too_long)
		fprintf(stderr, "the shortest remaining session has %lld requests, and sessions are written whole\n",
		        (long long)counts->shortest_too_long);
	else if (reading->ended_early || reading->bad || counts->reason_count)
		fputs("the data has no more usable, selected ones (-v shows why)\n", stderr);
	else
		fprintf(stderr, "the data has no more%s\n",
		        c->traits & HAS_TIMES ? "" : "; --sample with draws some of it again");
}

/* Requests left out by limits on lengths: "--max-input 400 left out 2 of 4 sessions (7 requests)". */
static void note_limits(const struct prep_config *c, const struct selection_counts *counts)
{
	const struct {
		const char *option;
		int64_t limit;
	} limits[] = {{"--min-input", c->limits.min_input},
	              {"--max-input", c->limits.max_input},
	              {"--min-output", c->limits.min_output},
	              {"--max-output", c->limits.max_output},
	              {"--max-total", c->limits.max_total}};
	const char *before = "ipf-prep: ";
	bool copies = c->sample == SAMPLE_WITH || !isnan(c->scale); /* more are written than were read */
	int64_t all = counts->units;

	for (int i = 0; i < counts->reason_count; i++)
		all += counts->reasons[i].count;
	for (int i = 0; i < counts->reason_count; i++) {
		const struct reason *r = &counts->reasons[i];
		size_t k = 0;
		while (k < sizeof limits / sizeof *limits && !strstr(r->why, limits[k].option))
			k++;
		if (k == sizeof limits / sizeof *limits)
			continue;
		bool sessions = r->requests != r->count || counts->requests != counts->units;
		fprintf(stderr, "%s%s %lld left out %lld ", before, limits[k].option, (long long)limits[k].limit,
		        (long long)r->count);
		if (!copies)
			fprintf(stderr, "of %lld ", (long long)all);
		fputs(sessions ? "sessions" : "requests", stderr);
		if (sessions)
			fprintf(stderr, " (%lld request%s)", (long long)r->requests, r->requests == 1 ? "" : "s");
		before = "; ";
	}
	if (*before == ';')
		fputc('\n', stderr);
}

/* The trace was cut out of a longer one, or its times count from 1970: by how much its arrivals were shifted. */
static void note_shift(int64_t shift_ns)
{
	int64_t first_ns = -shift_ns, seconds = first_ns / NS_PER_S;
	if (first_ns == 0)
		return;
	fputs("ipf-prep: arrivals were shifted to begin at 0: the first one is at ", stderr);
	if (seconds >= 86400)
		fprintf(stderr, "%lld d ", (long long)(seconds / 86400));
	if (seconds >= 3600)
		fprintf(stderr, "%lld h ", (long long)(seconds / 3600 % 24));
	if (seconds >= 60)
		fprintf(stderr, "%lld min ", (long long)(seconds / 60 % 60));
	fprintf(stderr, "%.3f s in the data\n", (double)(first_ns % (60 * NS_PER_S)) / 1e9);
}

static void note_repeats(const struct prompt_repeats *r)
{
	if (r->repeated == 0)
		return;
	fprintf(
		stderr,
		"ipf-prep: %s%lld of %lld prompts repeat%s an earlier one, and one occurs %lld times: a server's prefix cache "
		"makes these faster than prompts of users\n",
		r->partly ? "at least " : "", (long long)r->repeated, (long long)r->prompts, r->repeated == 1 ? "s" : "",
		(long long)r->most);
}

/* Shares of a short trace may give none. */
static void note_checked(const struct prep_config *c, const struct selection_counts *counts)
{
	const struct checked_counts *checked = &counts->checked;
	if (is_given(&c->canaries) && !checked->canaries)
		fprintf(stderr, "ipf-prep: --canaries: no canary is among %lld requests; use --canaries N\n",
		        (long long)counts->requests);
	if (is_given(&c->repeats) && !checked->repeats)
		fputs(
			"ipf-prep: --repeats: no request is marked; those with a session, token ids or a list as tags cannot be\n",
			stderr);
	if (c->common.verbose && checked->canaries)
		fprintf(stderr, "ipf-prep: %lld canaries, %.2g%% of all requests and %.2g%% of their input tokens\n",
		        (long long)checked->canaries,
		        100 * (double)checked->canaries / (double)(checked->canaries + counts->requests),
		        100 * (double)checked->input_tokens / ((double)checked->input_tokens + (double)counts->input_tokens));
}

static int no_requests(const struct prep_config *c, const struct source_reader *reading,
                       const struct selection_counts *counts, struct ipf_error *err)
{
	if (!counts->too_long && (c->traits & HAS_PACKETS))
		return ipf_error_set(err, IPF_INPUT,
		                     "no requests: %lld packets have none whole of a known API (--api names others)",
		                     (long long)reading->records);
	if (!counts->too_long)
		return ipf_error_set(err, IPF_INPUT, "no requests: all %lld records were left out; -v shows why",
		                     (long long)reading->records);
	char turns[48] = "";
	if (c->traits & HAS_TURNS)
		snprintf(turns, sizeof turns, ", --turns %lld", (long long)c->max_requests);
	return ipf_error_set(err, IPF_INPUT,
	                     "no requests: -n %lld has no room for the shortest session, which has %lld, and sessions are "
	                     "written whole; use -n %lld%s or --sessions 1 without -n",
	                     (long long)c->max_requests, (long long)counts->shortest_too_long,
	                     (long long)counts->shortest_too_long, turns);
}

static int report(const struct prep_config *c, const struct source_reader *reading,
                  const struct selection_counts *counts, struct ipf_error *err)
{
	if (c->capture.records_only)
		return 0;
	if (!c->common.quiet)
		residual_print(&counts->residual, stderr);
	if (c->common.verbose)
		selection_counts_print(counts, reading->records, reading->bad, stderr);
	if (!c->common.quiet)
		selection_counts_print_inexact(counts, stderr);
	if (!c->common.quiet) {
		record_notes_print(&reading->notes, stderr);
		note_limits(c, counts);
		note_shift(counts->shift_ns);
		if (c->format->kind != SOURCE_GENERATED)
			arrival_pace_print(&counts->pace, c->scale, &c->fields, stderr);
	}
	if (counts->requests == 0 && reading->records > reading->bad && !c->capture.records_only)
		return no_requests(c, reading, counts, err);
	if (!c->common.quiet && counts->requests > 0) {
		note_shortfall(c, reading, counts);
		note_repeats(&counts->repeats);
		note_checked(c, counts);
	}
	if (c->strict && record_notes_any(&reading->notes))
		return ipf_error_set(err, IPF_INPUT, "not all data is in the trace (--strict)");
	return 0;
}

static struct source_reader reader_of(const struct prep_config *c, struct input *first)
{
	return (struct source_reader){.format = c->format,
	                              .state = c->format_state,
	                              .quiet = c->common.quiet,
	                              .first = first,
	                              .undigested = c->capture.records_only,
	                              .stop = c->on_error == ON_ERROR_STOP};
}

/* Returns the exit status, or -1. */
static int finish(int status, struct source_reader *reading, struct selection_counts *counts)
{
	prompt_repeats_release(&counts->repeats);
	prompt_reuse_release(&counts->reuse);
	bool incomplete = reading->ended_early || reading->bad; /* the reader has reported why */
	source_reader_release(reading);
	return status < 0 ? -1 : incomplete ? 3 : 0;
}

int convert(const struct prep_config *c, const struct input_paths *paths, struct input *first, int argc, char **argv,
            struct ipf_error *err)
{
	struct selection_counts counts = {0};
	struct source_reader reading = reader_of(c, first);
	struct line_sink lines = {.sink = {write_request}, .config = c, .header = make_header(c, argc, argv)};
	int status = lines.header ? write_trace(c, &lines, paths, &reading, &counts, err) : ipf_error_memory(err);
	json_decref(lines.header);
	if (status == 0)
		status = report(c, &reading, &counts, err);
	return finish(status, &reading, &counts);
}

int convert_requests(const struct prep_config *c, const struct input_paths *paths, struct input *first,
                     struct request_sink *to, struct convert_read *read, struct ipf_error *err)
{
	struct selection_counts counts = {0};
	struct source_reader reading = reader_of(c, first);
	begin_progress(c, &reading.progress);
	struct trace_renderer renderer = {0};
	struct media_names names = {0};
	struct media_store media;
	int status = open_media(&media, c, paths, &names, err);
	media.path = NULL; /* they stay in the requests, whichever file they are in now */
	if (status == 0)
		status = trace_renderer_init(&renderer, c, to, &media, &counts, err);
	if (status == 0)
		status = read_requests(c, &renderer, paths, &reading, &counts, err);
	trace_renderer_release(&renderer);
	if (media_store_close(&media, err) < 0)
		status = -1;
	media_names_release(&names);
	if (status == 0)
		status = report(c, &reading, &counts, err);
	*read = (struct convert_read){.assumed = counts.assumed, .from = json_incref(reading.from)};
	return finish(status, &reading, &counts);
}

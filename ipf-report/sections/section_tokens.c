/* Tokens of successful requests: how many, by whose count, and how counts differ. */
#include "sections/distribution_table.h"
#include "sections/sentence.h"
#include "sections/stream_commands.h"

#include "cli/units.h"
#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "usage 746, tokenizer 3": how many there are of each, the members of an object. */
static void tell_counts(const struct telling *t, const char *label, json_t *counts)
{
	const char *text = counts_text(t->d, counts);
	if (*text)
		doc_fact(t->d, label, "%s", text);
}

static void tell_source(const struct telling *t)
{
	const char *source = text_at(t->total, "tokens/source");
	json_t *sources = json_at(t->total, "tokens/sources");
	double ok = figure_at(t->total, "requests/ok");
	char number[40];
	if (json_object_size(sources) > 1)
		tell_counts(t, "counted by", sources);
	else if (source)
		doc_fact(t->d, "counted by", "%s (%s answer%s%s)", source, show_whole(ok, number), plural(ok),
		         strcmp(source, "none") == 0 ? "; ipf-collect -t counts them" : "");
}

/* Whose count of the input it is. A server without usage has none: the trace's is shown, and compared with nothing. */
static void tell_input(const struct telling *t)
{
	json_t *reported = json_at(t->total, "tokens/residual/input_minus_asked");
	double ok = figure_at(t->total, "requests/ok"), n = reported ? figure_at(reported, "n") : 0;
	char a[40], b[40];
	if (!json_at(t->total, "tokens/asked_input") || !(n < ok))
		return;
	if (n == 0)
		doc_fact(t->d, "input", "not reported by the server: as the trace has it");
	else
		doc_fact(t->d, "input", "reported in %s of %s answers; of the others as the trace has it", show_whole(n, a),
		         show_whole(ok, b));
}

/* Did the trace estimate its tokens, instead of counting them? */
static bool is_estimated(const struct telling *t)
{
	struct streams streams;
	bool found = false;
	streams_find(&streams, json_at(t->report, "run/headers"));
	for (int i = 0; i < streams.count; i++)
		found |= strcmp(words_at(streams.list[i], "ipf"), "trace") == 0 &&
		         json_is_false(json_at(streams.list[i], "tokenizer/exact"));
	return found;
}

#define ESTIMATE_FAR_OFF 0.1

static void tell_estimate(const struct telling *t)
{
	double share = figure_at(t->total, "tokens/residual/input_minus_asked/share");
	char a[40];
	if (fabs(share) > ESTIMATE_FAR_OFF && is_estimated(t) && !json_at(t->total, "media"))
		doc_fact(t->d, "lengths",
		         "the trace estimated its tokens, the server counted %s of that: ipf-prep -t TOKENIZER counts them",
		         show_percent(1 + share, a))
			->tone = TONE_WARN;
}

/* Rounded as shown, so there is no "-0.0". */
static double percent(double share)
{
	return round(1000 * share) / 10 + 0.0;
}

/* For transcriptions and speech: how long a second of audio takes. */
static void tell_real_time(const struct telling *t)
{
	double median = figure_at(t->total, "latency/rtf_ms/p50") / 1000,
		   high = figure_at(t->total, "latency/rtf_ms/p99") / 1000;
	char a[40], b[40], c[40];
	if (!isnan(median) && !isnan(high))
		doc_fact(t->d, "real time", "a factor of %s at p50 (%s times faster than real time), %s at p99",
		         show_number(median, a), show_number(1 / median, b), show_number(high, c));
}

/* Media sent besides text. The trace counts the tokens of the text only. */
static void tell_media(const struct telling *t)
{
	json_t *media = json_at(t->total, "media");
	char size[32], length[32], number[40];
	double images = figure_at(media, "images"), audio = figure_at(media, "audio_clips"),
		   video = figure_at(media, "video_clips"), bytes = figure_at(media, "bytes"),
		   seconds = figure_at(media, "audio_s");
	struct buffer text = {0};
	if (images > 0)
		buffer_format(&text, "%s image%s", show_whole(images, number), plural(images));
	if (audio > 0)
		buffer_format(&text, "%s%s audio clip%s", text.len ? ", " : "", show_whole(audio, number), plural(audio));
	if (seconds > 0)
		buffer_format(&text, " of %s", format_duration((int64_t)(seconds * 1e9), length));
	if (video > 0)
		buffer_format(&text, "%s%s video clip%s", text.len ? ", " : "", show_whole(video, number), plural(video));
	if (bytes > 0)
		buffer_format(&text, "; %s in all, which the lengths in the trace leave out",
		              format_size((int64_t)bytes, size));
	if (text.len)
		doc_fact(t->d, "sent", "%s", text.data);
	tell(t, "images", t->total, "{throughput/images_per_s} a second");
	tell(t, "audio", t->total, "{throughput/audio_s_per_s} s of it a second");
	tell(t, "audio", t->total,
	     "{throughput/output_audio_s_per_s} s of answers a second; {media/uninterrupted%} of them play without a wait");
	tell_real_time(t);
	t->d->failed |= text.failed;
	buffer_release(&text);
}

/* Counts of the same tokens against each other. */
static void tell_residuals(const struct telling *t)
{
	static const struct doc_column columns[] = {{.name = "n", .path = "n", .kind = CELL_COUNT},
	                                            {.name = "mean", .path = "mean"},
	                                            {.name = "min", .path = "min"},
	                                            {.name = "max", .path = "max"},
	                                            {.name = "share", .path = "share", .kind = CELL_RANGE}};
	json_t *all = json_at(t->total, "tokens/residual"), *one;
	const char *key;
	char text[40];
	if (json_object_size(all) == 0)
		return;
	struct doc_table *table = doc_table(t->d, &(struct doc_table_spec){.id = "residuals",
	                                                                   .caption = "Differences of counts",
	                                                                   .rows = "counts of the same tokens",
	                                                                   .columns = columns,
	                                                                   .count = 5,
	                                                                   .whole = true});
	json_object_foreach(all, key, one)
	{
		doc_row(t->d, table, doc_replace(t->d, key, "_", ' '), NULL)->definition = "residual";
		for (int i = 0; i < 4; i++)
			doc_cell_figure(t->d, table, figure_at(one, columns[i].path), columns[i].kind);
		double share = figure_at(one, "share");
		snprintf(text, sizeof text, "%+.1f %%", percent(share));
		doc_cell_said(t->d, table, share, text, TONE_PLAIN);
	}
}

static void tell_events(const struct telling *t)
{
	json_t *events = json_at(t->total, "events");
	tell(t, "events", events, "{content#} with content[, {coalesced_share%} of them shared a read]");
	if (figure_at(events, "stalls") > 0)
		tell(t, "stalls", events, "{stalls#} stall{s:stalls} in {stalled_requests#} request{s:stalled_requests}");
	tell(t, "fluidity", t->total, "{fluidity/share%} of {fluidity/deadlines#} tokens met their deadline");
}

void section_tokens(const struct telling *t)
{
	static const char *const rows[][2] = {{"input", "input"},
	                                      {"output", "output"},
	                                      {"asked_input", "requested input"},
	                                      {"asked_output", "requested output"},
	                                      {"reasoning", "reasoning"}};
	json_t *tokens = json_at(t->total, "tokens");
	if (!(figure_at(t->total, "requests/ok") > 0) ||
	    (json_at(t->report, "run/imported") && !json_at(tokens, "input") && !json_at(tokens, "output")))
		return;
	struct doc_table *table = distribution_table(
		t, (struct doc_table_spec){.id = "tokens", .caption = "Tokens", .rows = "tokens", .whole = true}, tokens);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (json_at(tokens, rows[i][0]))
			doc_row_of(t->d, table, rows[i][1], NULL, json_at(tokens, rows[i][0]));
	if (json_at(t->total, "tool_calls"))
		doc_row_of(t->d, table, "tool calls", NULL, json_at(t->total, "tool_calls"));
	tell_source(t);
	tell_input(t);
	tell(t, "cached", tokens, "{cached_share%} of the input tokens, as the server reports");
	tell_media(t);
	tell(t, "images", tokens, "{image#} of the input tokens, as the server reports");
	tell(t, "audio", tokens, "{audio#} of the input tokens, as the server reports");
	tell(t, "audio", tokens, "{output_audio#} of the output tokens, as the server reports");
	tell_events(t);
	tell_counts(t, "finish", json_at(tokens, "finish_reasons"));
	tell_residuals(t);
	tell_estimate(t);
}

/* Where the time of requests went, by a twin of the server. */
#include "sections/sentence.h"
#include "sections/why_picture.h"

#include <math.h>
#include <string.h>

/* A saved report can have any name; -1: unknown. */
static int number_of(const char *part)
{
	for (int i = 0; i < WHY_WORDS; i++)
		if (part && strcmp(why_words[i].part, part) == 0)
			return i;
	return -1;
}

static const struct doc_column columns[] = {{.group = "p50", .name = "time", .unit = "ms"},
                                            {.group = "p50", .name = "share", .kind = CELL_PERCENT},
                                            {.group = "p99", .name = "time", .unit = "ms"},
                                            {.group = "p99", .name = "share", .kind = CELL_PERCENT}};
static const char *const percentiles[] = {"p50", "p99"};
enum { PERCENTILES = 2 };

/* A figure of both percentiles, and its share of the measured time if `share` says where that is. */
static void tell_row(const struct telling *t, struct doc_table *table, json_t *latency, const char *name,
                     const char *path, const char *share)
{
	double ms[PERCENTILES];
	for (int k = 0; k < PERCENTILES; k++)
		ms[k] = figure_at(latency, doc_say(t->d, "%s/%s", percentiles[k], path));
	if ((isnan(ms[0]) && isnan(ms[1])) || (ms[0] == 0 && ms[1] == 0))
		return;
	doc_row(t->d, table, name, NULL);
	for (int k = 0; k < PERCENTILES; k++) {
		doc_cell_figure(t->d, table, ms[k], CELL_NUMBER);
		doc_cell_figure(t->d, table, share ? figure_at(latency, doc_say(t->d, "%s/%s", percentiles[k], share)) : NAN,
		                CELL_PERCENT);
	}
}

static void tell_table(const struct telling *t, json_t *latency, const char *id, const char *caption)
{
	struct doc_table *table = doc_table(
		t->d, &(struct doc_table_spec){.id = id, .caption = caption, .rows = "part", .columns = columns, .count = 4});
	for (int i = 0; i < WHY_WORDS; i++)
		tell_row(t, table, latency, why_words[i].row, doc_say(t->d, "parts/%s/ms", why_words[i].part),
		         doc_say(t->d, "parts/%s/share", why_words[i].part));
	tell_row(t, table, latency, "measured", "measured_ms", NULL);
	if (table->count > 0)
		table->rows[table->count - 1].total = true;
	if (figure_at(latency, "p50/slot_wait_ms") > 0 || figure_at(latency, "p99/slot_wait_ms") > 0)
		tell_row(t, table, latency, "before: slot", "slot_wait_ms", NULL);
}

/* The main part of the slowest requests' time. */
static void tell_greatest(const struct telling *t, json_t *latency, const char *label)
{
	json_t *slow = json_at(latency, "p99");
	const int number = number_of(text_at(slow, "greatest"));
	if (number < 0)
		return;
	const char *part = why_words[number].part;
	const char *ms = doc_say(t->d, "{parts/%s/ms} ms of {measured_ms} ms", part);
	const char *share = doc_say(t->d, "[ ({parts/%s/share%%})]", part);
	const char *others = strcmp(label, "E2E at p99") == 0
	                         ? "[, beside {others_later} other sequences after its first token]"
	                         : "[, beside {others} other sequences]";
	tell(t, label, slow,
	     doc_say(t->d, "the greatest part is %s: %s%s%s, the mean of {requests#} request{s:requests}",
	             why_words[number].phrase, ms, share, others));
}

static void tell_worst(const struct telling *t, json_t *latency, const char *id, const char *caption)
{
	static const struct doc_column worst_columns[] = {
		{.name = "time", .unit = "ms"}, {.name = "greatest part", .kind = CELL_WORDS}, {.name = "of it", .unit = "ms"}};
	json_t *worst = json_at(latency, "p99/worst"), *one;
	size_t i;
	if (json_array_size(worst) == 0)
		return;
	struct doc_table *table = doc_table(
		t->d, &(struct doc_table_spec){
				  .id = id, .caption = caption, .rows = "request", .columns = worst_columns, .count = 3});
	json_array_foreach(worst, i, one)
	{
		const int number = number_of(text_at(one, "greatest"));
		doc_row(t->d, table, doc_say(t->d, "%.0f", figure_at(one, "n")), NULL);
		doc_cell_figure(t->d, table, figure_at(one, "ms"), CELL_NUMBER);
		doc_cell_text(t->d, table, number < 0 ? "unknown" : why_words[number].row, TONE_PLAIN);
		doc_cell_figure(t->d, table, figure_at(one, "greatest_ms"), CELL_NUMBER);
	}
}

static void tell_over_time(const struct telling *t, json_t *intervals)
{
	static const struct doc_column over_columns[] = {
		{.name = "requests", .kind = CELL_COUNT, .path = "requests"},
		{.name = "TTFT", .path = "ttft/measured_ms"},
		{.name = "E2E", .path = "e2e/measured_ms"},
		{.group = "of E2E", .name = "queue", .path = "e2e/parts/queue/ms"},
		{.group = "of E2E", .name = "thrown out", .path = "e2e/parts/thrown_out/ms"},
		{.group = "of E2E", .name = "own prompt", .path = "e2e/parts/own_prompt/ms"},
		{.group = "of E2E", .name = "decoding", .path = "e2e/parts/decoding/ms"},
	};
	json_t *one;
	size_t i;
	if (json_array_size(intervals) < 2)
		return;
	struct doc_table *table = doc_table(t->d,
	                                    &(struct doc_table_spec){.id = "why-over-time",
	                                                             .caption = "Means by when requests started, ms",
	                                                             .rows = "from (s)",
	                                                             .columns = over_columns,
	                                                             .count = sizeof over_columns / sizeof *over_columns});
	json_array_foreach(intervals, i, one)
		doc_row_of(t->d, table, doc_say(t->d, "%.10g", figure_at(one, "t_s")), NULL, one);
}

static void tell_stages(const struct telling *t, json_t *why)
{
	json_t *stage;
	size_t i;
	json_array_foreach(json_at(why, "stages"), i, stage)
	{
		const char *name = words_at(stage, "name");
		tell_table(t, json_at(stage, "ttft"), doc_say(t->d, "why-ttft-%d", (int)i + 1),
		           doc_say(t->d, "TTFT of %s, by part", name));
		tell_table(t, json_at(stage, "e2e"), doc_say(t->d, "why-e2e-%d", (int)i + 1),
		           doc_say(t->d, "E2E of %s, by part", name));
	}
}

static void tell_fit(const struct telling *t, json_t *why)
{
	if (json_is_false(json_at(why, "describes")))
		tell(t, NULL, why,
		     "the twin {twin!} does not describe this run: its medians are off[, TTFT by {ttft_error%}][, E2E by "
		     "{e2e_error%}]; the parts below are of another server")
			->tone = TONE_BAD;
	else
		tell(t, "by", why,
		     "the twin {twin!}, whose medians differ from the measured ones[ by {ttft_error%} (TTFT)][ and by "
		     "{e2e_error%} (E2E)]");
	if (figure_at(why, "left_out") > 0)
		tell(
			t, "left out", why,
			"{left_out#} request{s:left_out} of which not all is known, which the twin cannot hold, or beyond the first 524,288");
}

static void tell_pictures(const struct telling *t, json_t *why)
{
	struct buffer html = {0};
	why_pictures(&html, why);
	if (html.len > 0)
		doc_part(t->d, PART_PICTURES, "pictures", html.data);
	t->d->failed |= html.failed;
	buffer_release(&html);
}

void section_why(const struct telling *t)
{
	json_t *why = json_at(t->report, "why");
	tell(t, NULL, why, "unknown: {absent!}");
	if (!why || text_at(why, "absent"))
		return;
	tell_fit(t, why);
	tell_greatest(t, json_at(why, "ttft"), "TTFT at p99");
	tell_greatest(t, json_at(why, "e2e"), "E2E at p99");
	tell_pictures(t, why);
	tell_table(t, json_at(why, "ttft"), "why-ttft", "TTFT from start, by part");
	tell_table(t, json_at(why, "e2e"), "why-e2e", "E2E from start, by part");
	doc_note(t->d, "p50: the mean of the requests between p45 and p55; p99: of those above p98");
	if (t->brief)
		return;
	tell_worst(t, json_at(why, "ttft"), "why-ttft-worst", "Slowest by TTFT");
	tell_worst(t, json_at(why, "e2e"), "why-e2e-worst", "Slowest by E2E");
	tell_stages(t, why);
	tell_over_time(t, json_at(why, "over_time/intervals"));
}

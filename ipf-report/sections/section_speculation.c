/* Speculative decoding: the server's figures about its drafts, the reads' signs of them from the outside, and whether
 * drafts for these prompts are as good as in production. */
#include "sections/sentence.h"
#include "sections/stream_commands.h"

#include "document/shown_numbers.h"

#include <math.h>
#include <string.h>

#define SEVERAL_LEAST 1.1  /* tokens of a read: below, some reads were late */
#define STEPS_MOST    1.25 /* the gap before several tokens, by that before one: with drafts, steps last equally long */
#define BUFFER_LEAST  1.6  /* held back: two tokens take two steps */

/* Are prompts made, instead of recorded or written by people? */
static bool has_made_prompts(const struct telling *t, const char **how)
{
	struct streams streams;
	*how = NULL;
	streams_find(&streams, json_at(t->report, "run/headers"));
	for (int i = 0; i < streams.count; i++) {
		const char *stream = text_at(streams.list[i], "ipf"), *source = text_at(streams.list[i], "source");
		if (stream && strcmp(stream, "trace") == 0 &&
		    (json_at(streams.list[i], "filled") || (source && !strcmp(source, "synthetic")) ||
		     (source && !strcmp(source, "prefix"))))
			*how = "the prompts are synthetic text";
		else if (!*how && json_is_true(json_at(streams.list[i], "exact_output")))
			*how = "answers were made longer than the model wanted (--exact-output)";
	}
	return *how != NULL;
}

/* "1: 62.1 %, 2: 20.4 %, … of WHAT", with their common unit. */
static void tell_shares(const struct telling *t, const char *label, json_t *values, double all, const char *what)
{
	struct buffer text = {0};
	const char *name;
	json_t *value;
	char share[40];
	json_object_foreach(values, name, value) buffer_format(&text, "%s%s: %s", text.len ? ", " : "", name,
	                                                       show_percent(json_number_value(value) / all, share));
	if (text.len)
		doc_fact(t->d, label, "%s %s", text.data, what);
	t->d->failed |= text.failed;
	buffer_release(&text);
}

static double sum_of(json_t *values)
{
	double sum = 0;
	const char *name;
	json_t *value;
	json_object_foreach(values, name, value) sum += json_number_value(value);
	return sum;
}

static const char *what_gaps_say(double ratio)
{
	return ratio < STEPS_MOST     ? ": steps of one length, as with drafts"
	       : ratio > BUFFER_LEAST ? ": tokens held back, rather than drafts"
	                              : "";
}

static void tell_reads(const struct telling *t, json_t *reads)
{
	double ratio = figure_at(reads, "gap_ratio");
	tell(t, "from outside", reads, "{tokens_per_read} tokens a read[, several in {several_share%} of the reads]");
	tell_shares(t, "by tokens", json_at(reads, "by_tokens"), sum_of(json_at(reads, "by_tokens")), "of the reads");
	if (isfinite(ratio))
		doc_fact(t->d, "gaps", "%s",
		         doc_say(t->d, "several tokens came after %.2f times the gap of one%s", ratio, what_gaps_say(ratio)));
}

void section_speculation(const struct telling *t)
{
	json_t *said = json_at(t->total, "speculation"), *reads = json_at(t->total, "token_reads"),
		   *server = json_at(t->report, "server");
	const char *how;
	bool drafts = said || json_at(server, "acceptance");
	if (!drafts && !(figure_at(reads, "tokens_per_read") >= SEVERAL_LEAST))
		return;
	tell(t, "by usage", said,
	     "{acceptance%} of {draft_tokens#} draft tokens accepted[, {tokens_per_step} tokens a step]");
	tell(t, "by counters", server, "{acceptance%} of the draft tokens accepted");
	tell_shares(t, "up to token", json_at(server, "accepted_at"), 1, "of the drafts accepted");
	tell_shares(t, "accepted", json_at(server, "drafts_by_accepted"), 1, "of the drafts");
	tell_reads(t, reads);
	if (has_made_prompts(t, &how) && (drafts || figure_at(reads, "gap_ratio") < STEPS_MOST))
		doc_fact(t->d, "doubtful", "%s, of which drafts guess more or fewer tokens than of real traffic", how)->tone =
			TONE_WARN;
}

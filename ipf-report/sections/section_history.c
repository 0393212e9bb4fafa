/* Sessions continuing the server's own answers: whether their prompts repeat the server's tokens. */
#include "sections/sentence.h"

#include <math.h>

static void tell_tokens(const struct telling *t, json_t *history)
{
	if (figure_at(history, "differing_turns") > 0)
		tell(
			t, "differs", history,
			"{differing_turns#} of {compared_turns#} turn{s:compared_turns} do not begin with the tokens before: "
			"{differing_tokens#} of {compared_tokens#} ({differing_share%}) come after the first other one, so that no "
			"prefix cache finds them")
			->tone = TONE_BAD;
	else
		tell(
			t, "exact", history,
			"{compared_turns#} turn{s:compared_turns}, each of which begins with all tokens of the turn before and its answer, "
			"{compared_tokens#} together");
	if (!isnan(figure_at(history, "text_tokens")))
		tell(t, "rebuilt", history,
		     "as text, which the tokenizer reads as {text_tokens#} tokens where the server had generated "
		     "{text_generated_tokens#}")
			->tone = figure_at(history, "text_tokens") == figure_at(history, "text_generated_tokens") ? TONE_PLAIN
		                                                                                              : TONE_BAD;
}

/* The fate of the server's own answers, and of the calls in them. */
static void tell_answers(const struct telling *t, json_t *sent)
{
	if (figure_at(sent, "live") > 0)
		tell(t, "turns", sent, "{live#} with the server's own answers before them");
	if (figure_at(sent, "server") > 0)
		tell(t, "by name", sent, "{server#} that name the answer before them, which the server keeps");
	if (figure_at(sent, "recorded") > 0)
		tell(t, "recorded", sent,
		     "{recorded#} with the recorded answer: the request before failed, or nothing of its answer could be used")
			->tone = TONE_WARN;
	if (figure_at(sent, "left_out") > 0)
		tell(t, "left out", sent,
		     "{left_out#} without the turn before, of which there is neither a usable nor a recorded answer")
			->tone = TONE_BAD;
	tell(t, "tools", json_at(sent, "tools"),
	     "{calls#} call{s:calls} of the server got recorded results; {calls_left_out#} without one and "
	     "{results_left_out#} result{s:results_left_out} without a call were left out");
}

void section_history(const struct telling *t)
{
	json_t *history = json_at(t->total, "history"), *sent = json_at(t->report, "run/history");
	tell_answers(t, sent);
	if (!history)
		return;
	if (!sent)
		tell(t, "turns", history, "{turns#} with the server's own answers before them");
	tell_tokens(t, history);
	tell(t, "found", history,
	     "{found_tokens#} of {generated_tokens#} generated tokens ({found_share%}) were in the cache of the next turn");
	if (isnan(figure_at(history, "generated_tokens")))
		doc_fact(t->d, "found", "not known: the server does not report cached tokens");
}

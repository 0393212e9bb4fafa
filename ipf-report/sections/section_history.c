/* Sessions that continue the server's own answers: whether their prompts are what the server had before. */
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

void section_history(const struct telling *t)
{
	json_t *history = json_at(t->total, "history");
	if (!history)
		return;
	tell(t, "turns", history, "{turns#} after the server's own answers");
	tell_tokens(t, history);
	tell(t, "found", history,
	     "{found_tokens#} of {generated_tokens#} generated tokens ({found_share%}) were in the cache of the next turn");
	if (isnan(figure_at(history, "generated_tokens")))
		doc_fact(t->d, "found", "not known: the server does not report cached tokens");
}

/* Splitting at matches, in the five ways that the reference has. */
#include "tokenizer/pretokenize.h"
#include "tokenizer/regex.h"

#include <stdlib.h>

/* ---- the five ways
 * ------------------------------------------------------------------------------------------------------------- */

static void flush(struct splitter *s)
{
	if (s->open)
		add_part(s->out, s->text, s->start, s->end);
	s->open = false;
}

static void open_piece(struct splitter *s, size_t start, size_t end)
{
	flush(s);
	s->start = start;
	s->end = end;
	s->open = true;
}

void splitter_add(struct splitter *s, size_t start, size_t end, bool match)
{
	bool extend = false;
	switch (s->behavior) {
	case REMOVED:
		if (!match)
			open_piece(s, start, end);
		return;
	case ISOLATED:
		break;
	case CONTIGUOUS:
		extend = match == s->previous;
		break;
	case MERGED_WITH_PREVIOUS:
		extend = match && !s->previous;
		break;
	case MERGED_WITH_NEXT: /* a match that waits, and what is none */
		extend = !match && s->previous;
		break;
	}
	if (extend && s->open)
		s->end = end;
	else
		open_piece(s, start, end);
	s->previous = match;
}

void splitter_finish(struct splitter *s)
{
	flush(s);
}

int config_behavior(const json_t *config, const char *part, bool optional, enum behavior *behavior,
                    struct ipf_error *err)
{
	static const char *const names[] = {[REMOVED] = "Removed",
	                                    [ISOLATED] = "Isolated",
	                                    [MERGED_WITH_PREVIOUS] = "MergedWithPrevious",
	                                    [MERGED_WITH_NEXT] = "MergedWithNext",
	                                    [CONTIGUOUS] = "Contiguous"};
	struct slice text;
	if (optional && !json_object_get(config, "behavior"))
		return 0;
	if (config_text(config, part, "behavior", &text, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (slice_is(text, names[i])) {
			*behavior = (enum behavior)i;
			return 0;
		}
	return ipf_error_set(err, IPF_INPUT, "%s: unknown behavior \"%.60s\"", part, text.data);
}

/* ---- Split
 * -----------------------------------------------------------------------------------------------------------------------
 */

struct split {
	struct pretokenizer base;
	struct regex *pattern;
	enum behavior behavior;
	bool invert;
};

static int split_pattern(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                         struct ipf_error *err)
{
	const struct split *p = (const struct split *)self;
	struct splitter s = {.text = text, .out = out, .behavior = p->behavior};
	struct regex_walk walk;
	size_t start, end, done = 0;
	int found;

	if (!text.len)
		return 0;
	regex_walk_begin(&walk, p->pattern, text);
	while ((found = regex_walk_next(&walk, &start, &end, err)) == 1) {
		if (start > done)
			splitter_add(&s, done, start, p->invert);
		splitter_add(&s, start, end, !p->invert);
		done = end;
	}
	regex_walk_end(&walk);
	if (found < 0)
		return -1;
	if (done < text.len)
		splitter_add(&s, done, text.len, p->invert);
	splitter_finish(&s);
	return pieces_status(out, err);
}

static void free_split(struct pretokenizer *self)
{
	regex_free(((struct split *)self)->pattern);
	free(self);
}

int pretokenizer_split(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	static const char part[] = "pre_tokenizer: Split";
	struct slice pattern;
	bool literal;
	struct split *p = calloc(1, sizeof *p);

	if (!p)
		return ipf_error_memory(err);
	p->base = (struct pretokenizer){split_pattern, free_split};
	if (config_pattern(config, part, &pattern, &literal, err) < 0 ||
	    config_behavior(config, part, false, &p->behavior, err) < 0 ||
	    config_bool(config, part, "invert", false, &p->invert, err) < 0 ||
	    regex_new(&p->pattern, pattern, literal, err) < 0) {
		free_split(&p->base);
		return -1;
	}
	*pretokenizer = &p->base;
	return 0;
}

/* Split: at the matches of a pattern. */
#include "tokenizer/part_config.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/regex.h"
#include "tokenizer/splitter.h"

#include <stdlib.h>

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
	return text_pieces_status(out, err);
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
	    splitter_behavior(config, part, false, &p->behavior, err) < 0 ||
	    config_bool(config, part, "invert", false, &p->invert, err) < 0 ||
	    regex_new(&p->pattern, pattern, literal, err) < 0) {
		free_split(&p->base);
		return -1;
	}
	*pretokenizer = &p->base;
	return 0;
}

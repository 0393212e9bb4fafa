#include "tokenizer/splitter.h"

#include "tokenizer/part_config.h"

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
	case MERGED_WITH_NEXT: /* a match is joined with the stretch behind it */
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

int splitter_behavior(const json_t *config, const char *part, bool optional, enum behavior *behavior,
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

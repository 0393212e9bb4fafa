#include "tokenizer/normalizer_sequence.h"

#include <stdlib.h>

struct normalizer_sequence {
	struct normalizer base;
	size_t count;
	struct normalizer *parts[];
};

/* Each part takes the result of the one before: two buffers in turn. The last result goes to `out`. */
static int apply_sequence(const struct normalizer *self, struct slice text, struct buffer *out, struct ipf_error *err)
{
	const struct normalizer_sequence *s = (const struct normalizer_sequence *)self;
	struct buffer turns[2] = {{0}, {0}};
	int status = 0, turn = 0, changed = 0;

	for (size_t i = 0; i < s->count && status >= 0; i++) {
		struct buffer *to = &turns[turn];
		buffer_clear(to);
		status = s->parts[i]->apply(s->parts[i], text, to, err);
		if (status > 0 && to->failed)
			status = ipf_error_memory(err);
		if (status <= 0)
			continue;
		text = to->len ? buffer_all(to) : (struct slice){"", 0};
		changed = status > changed ? status : changed;
		turn = !turn;
	}
	if (status >= 0 && changed)
		buffer_slice(out, text);
	buffer_release(&turns[0]);
	buffer_release(&turns[1]);
	return status < 0 ? -1 : changed;
}

static void free_sequence(struct normalizer *self)
{
	struct normalizer_sequence *s = (struct normalizer_sequence *)self;
	for (size_t i = 0; i < s->count; i++)
		s->parts[i]->free(s->parts[i]);
	free(s);
}

struct normalizer *normalizer_sequence_new(size_t most, struct ipf_error *err)
{
	struct normalizer_sequence *s = calloc(1, sizeof *s + most * sizeof *s->parts);
	if (!s) {
		ipf_error_memory(err);
		return NULL;
	}
	s->base = (struct normalizer){apply_sequence, free_sequence};
	return &s->base;
}

void normalizer_sequence_add(struct normalizer *sequence, struct normalizer *part)
{
	struct normalizer_sequence *s = (struct normalizer_sequence *)sequence;
	s->parts[s->count++] = part;
}

#include "tokenizer/text_pieces.h"

#include "array.h"

#include <stdlib.h>

void text_pieces_end(struct text_pieces *p)
{
	if (!array_room(p->ends, p->cap, p->count + 1)) {
		p->failed = true;
		return;
	}
	p->ends[p->count++] = p->text.len;
	if (p->text.failed)
		p->failed = true;
}

void text_pieces_add(struct text_pieces *p, const char *text, size_t len)
{
	buffer_append(&p->text, text, len);
	text_pieces_end(p);
}

void text_pieces_clear(struct text_pieces *p)
{
	buffer_clear(&p->text);
	p->count = 0;
	p->failed = false;
	p->head = p->heads = 0;
}

void text_pieces_release(struct text_pieces *p)
{
	buffer_release(&p->text);
	free(p->ends);
	*p = (struct text_pieces){0};
}

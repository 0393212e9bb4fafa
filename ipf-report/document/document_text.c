#include "document/document_text.h"

#include "document/text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	WIDTH = 80,
	WIDTH_LEAST = 40,
	LABEL_AT = 2,
	TEXT_AT = 14,
	STATUS_AT = 19,
	DETAIL_AT = 29,
	TERM_AT = 18,
	SHAPE_AT = 24
};

struct writer {
	struct text_lines l;
	bool ascii, brief;
	bool open;      /* the title of a section is on the current line */
	bool explained; /* the mark of weak percentiles */
};

/* Ends the line of the title. */
static void close_title(struct writer *w)
{
	if (w->open)
		end_line(&w->l);
	w->open = false;
}

static void show_fact(struct writer *w, const struct doc_part *part)
{
	if (part->label || w->l.column >= TEXT_AT)
		close_title(w);
	w->open = false;
	if (part->label) {
		move_to(&w->l, LABEL_AT);
		put(&w->l, TONE_PLAIN, part->label);
	}
	move_to(&w->l, TEXT_AT);
	put_wrapped(&w->l, TEXT_AT, part->tone, part->text ? part->text : "");
	if (part->hint) {
		move_to(&w->l, TEXT_AT + 4);
		put_wrapped(&w->l, TEXT_AT + 4, TONE_FAINT, part->hint);
	}
}

static void show_check(struct writer *w, const struct doc_part *part)
{
	if (part->label)
		close_title(w);
	w->open = false;
	if (part->label) {
		move_to(&w->l, LABEL_AT);
		put(&w->l, TONE_PLAIN, part->label);
	}
	move_to(&w->l, STATUS_AT);
	put(&w->l, part->tone, part->status ? part->status : "");
	if (part->text && *part->text) {
		move_to(&w->l, DETAIL_AT);
		put_wrapped(&w->l, DETAIL_AT, TONE_PLAIN, part->text);
	} else {
		end_line(&w->l);
	}
}

/* As many as there is room for: one can stand for the highest of several neighbours. */
static void put_levels(struct writer *w, const struct doc_part *part, int room)
{
	const int each = room > 0 ? (part->level_count + room - 1) / room : part->level_count;
	for (int i = 0; i < part->level_count; i += each) {
		double highest = part->levels[i];
		for (int k = i + 1; k < i + each && k < part->level_count; k++)
			highest = fmax(highest, part->levels[k]);
		put_level(&w->l, highest, w->ascii);
	}
}

static void show_levels(struct writer *w, const struct doc_part *part)
{
	close_title(w);
	move_to(&w->l, LABEL_AT);
	put(&w->l, TONE_PLAIN, part->label);
	if (part->hint)
		put_right(&w->l, SHAPE_AT - 1, TONE_PLAIN, part->hint);
	move_to(&w->l, part->hint ? SHAPE_AT : TEXT_AT);
	put_levels(w, part, w->l.width - w->l.column - (part->text ? 1 + text_width(part->text) : 0));
	if (part->text)
		put(&w->l, TONE_FAINT, " ");
	if (part->text)
		put(&w->l, part->hint ? TONE_PLAIN : TONE_FAINT, part->text);
	end_line(&w->l);
}

static void show_words(struct writer *w, const struct doc_part *part)
{
	const bool note = part->kind == PART_NOTE, item = part->kind == PART_ITEM;
	if (!part->label && w->open && w->l.column < TEXT_AT && part->kind == PART_TEXT) {
		w->open = false;
		move_to(&w->l, TEXT_AT);
		put_wrapped(&w->l, TEXT_AT, part->tone, part->text);
		return;
	}
	close_title(w);
	move_to(&w->l, LABEL_AT);
	if (part->label)
		put(&w->l, TONE_STRONG, part->label);
	if (part->label)
		put(&w->l, TONE_PLAIN, " ");
	if (item)
		put(&w->l, TONE_PLAIN, "- ");
	put_wrapped(&w->l, item ? LABEL_AT + 2 : LABEL_AT, note && part->tone == TONE_PLAIN ? TONE_FAINT : part->tone,
	            part->text);
}

static void show_term(struct writer *w, const struct doc_part *part)
{
	close_title(w);
	move_to(&w->l, LABEL_AT);
	put(&w->l, TONE_PLAIN, part->label);
	move_to(&w->l, TERM_AT);
	put_wrapped(&w->l, TERM_AT, TONE_PLAIN, part->text);
}

/* Lines as they are. */
static void show_lines(struct writer *w, const struct doc_part *part)
{
	close_title(w);
	if (part->label) {
		move_to(&w->l, LABEL_AT);
		put_wrapped(&w->l, LABEL_AT, TONE_PLAIN, part->label);
	}
	for (const char *at = part->text; *at;) {
		size_t len = strcspn(at, "\n");
		move_to(&w->l, LABEL_AT + 2);
		put_slice(&w->l, TONE_PLAIN, (struct slice){at, len});
		end_line(&w->l);
		at += len + (at[len] == '\n');
	}
}

static void show_table(struct writer *w, const struct doc_table *t, bool first)
{
	char text[120];
	if (w->open) /* the caption stands for the title */
		w->open = false;
	else if (!first && t->count)
		end_line(&w->l);
	if (text_table(&w->l, t, w->brief) && !w->explained) {
		move_to(&w->l, LABEL_AT);
		put_wrapped(&w->l, LABEL_AT + 2, TONE_FAINT, DOC_WEAK);
		w->explained = true;
	}
	if (t->count + t->left_out > doc_rows_few(t)) {
		snprintf(text, sizeof text, "the first %zu of %zu; the JSON report has all", doc_rows_few(t),
		         t->count + t->left_out);
		move_to(&w->l, LABEL_AT);
		put_wrapped(&w->l, LABEL_AT, TONE_FAINT, text);
	}
}

static void show_part(struct writer *w, const struct doc_part *part, bool first)
{
	switch (part->kind) {
	case PART_FACT:
		show_fact(w, part);
		break;
	case PART_CHECK:
		show_check(w, part);
		break;
	case PART_LEVELS:
		show_levels(w, part);
		break;
	case PART_HEADING:
		close_title(w);
		if (w->l.out->len)
			end_line(&w->l);
		put_wrapped(&w->l, 0, TONE_STRONG, part->text);
		break;
	case PART_TERM:
		show_term(w, part);
		break;
	case PART_COMMAND:
	case PART_CODE:
		show_lines(w, part);
		break;
	case PART_TABLE:
		show_table(w, part->table, first);
		break;
	case PART_TILE:
	case PART_PICTURES:
		break;
	default:
		show_words(w, part);
	}
}

static bool is_shown(const struct doc_part *part)
{
	return part->media & IN_TEXT && part->kind != PART_TILE && part->kind != PART_PICTURES &&
	       !(part->kind == PART_TABLE && part->table->count == 0);
}

static void show_section(struct writer *w, const struct doc_section *s)
{
	bool first = true;
	for (size_t i = 0; i < s->count; i++) {
		if (!is_shown(&s->parts[i]))
			continue;
		if (first && w->l.out->len)
			end_line(&w->l);
		if (first && s->parts[i].kind != PART_TABLE && s->title)
			put(&w->l, TONE_STRONG, s->title);
		w->open = first && s->title;
		show_part(w, &s->parts[i], first);
		first = false;
	}
	close_title(w);
}

void document_text(const struct document *d, const struct text_style *style, struct buffer *out)
{
	int width = style->width ? style->width : WIDTH;
	struct writer w = {.l = {.out = out, .width = width < WIDTH_LEAST ? WIDTH_LEAST : width, .colour = style->colour},
	                   .ascii = style->ascii,
	                   .brief = d->brief};
	for (size_t i = 0; i < d->count; i++)
		show_section(&w, &d->sections[i]);
	out->failed |= d->failed;
}

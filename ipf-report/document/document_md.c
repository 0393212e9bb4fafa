#include "document/document_md.h"

#include "safe_text.h"

#include <ctype.h>
#include <string.h>

/* A text verbatim, whatever Markdown would make of it: special characters become references, and text that would notify
 * people or link issues is code. */
static void put_slice(struct buffer *out, struct slice text)
{
	struct buffer safe = {0};
	safe_text_append(&safe, text);
	out->failed |= safe.failed;
	for (size_t i = 0; i < safe.len; i++) {
		unsigned char c = (unsigned char)safe.data[i];
		if (c >= 0x80 || isalnum(c) || strchr(" .,:;()%/+-='", c))
			buffer_byte(out, (char)c);
		else if (c == '@' || c == '#')
			buffer_format(out, "`%c`", c);
		else
			buffer_format(out, "&#%d;", c);
	}
	buffer_release(&safe);
}

static void put_text(struct buffer *out, const char *text)
{
	put_slice(out, slice_of(text));
}

/* A text without backquotes. */
static void put_code(struct buffer *out, struct slice text)
{
	struct buffer safe = {0};
	safe_text_append(&safe, text);
	buffer_byte(out, '`');
	buffer_slice(out, buffer_all(&safe));
	buffer_byte(out, '`');
	out->failed |= safe.failed;
	buffer_release(&safe);
}

/* A sentence of ours, with `words` between backquotes as code. A text from outside in it may have any. */
static void put_prose(struct buffer *out, const char *text)
{
	const char *open, *close;
	while ((open = strchr(text, '`')) && (close = strchr(open + 1, '`'))) {
		put_slice(out, (struct slice){text, (size_t)(open - text)});
		if (close > open + 1)
			put_code(out, (struct slice){open + 1, (size_t)(close - open - 1)});
		text = close + 1;
	}
	put_text(out, text);
}

static void put_heads(struct buffer *out, const struct doc_table_spec *s)
{
	buffer_text(out, "| ");
	put_text(out, s->rows);
	buffer_text(out, " |");
	for (int i = 0; i < s->count; i++) {
		const struct doc_column *c = &s->columns[i];
		if (c->keep == KEEP_ROOM)
			continue;
		buffer_byte(out, ' ');
		put_text(out, c->group);
		buffer_text(out, c->group && *c->name ? " " : "");
		put_text(out, c->name);
		buffer_text(out, c->unit ? ", " : "");
		put_text(out, c->unit);
		buffer_text(out, " |");
	}
	buffer_text(out, "\n| --- |");
	for (int i = 0; i < s->count; i++)
		if (s->columns[i].keep != KEEP_ROOM)
			buffer_text(out, s->columns[i].kind == CELL_WORDS ? " --- |" : " ---: |");
	buffer_byte(out, '\n');
}

static void put_cell(struct buffer *out, const struct doc_cell *cell)
{
	const char *mark = cell->tone == TONE_BAD ? "**" : "";
	buffer_byte(out, ' ');
	if (!cell->text) {
		buffer_text(out, cell->kind == CELL_WORDS ? "|" : "– |");
		return;
	}
	buffer_text(out, *cell->text ? mark : "");
	put_text(out, cell->text);
	buffer_text(out, *cell->text ? mark : "");
	buffer_text(out, cell->weak ? "~ |" : " |");
}

/* One empty line. */
static void put_gap(struct buffer *out)
{
	if (out->len > 1 && out->data[out->len - 1] == '\n' && out->data[out->len - 2] != '\n')
		buffer_byte(out, '\n');
}

static void put_table(struct buffer *out, const struct doc_table *t, const char *title)
{
	put_gap(out);
	if (strcmp(t->spec.caption, title) != 0) {
		buffer_text(out, "**");
		put_text(out, t->spec.caption);
		buffer_text(out, "**\n\n");
	}
	put_heads(out, &t->spec);
	for (size_t i = 0; i < doc_rows_few(t); i++) {
		const struct doc_row *row = &t->rows[i];
		buffer_text(out, "| ");
		put_text(out, row->name);
		buffer_text(out, row->remark || row->aside ? ", " : "");
		put_text(out, row->remark ? row->remark : row->aside ? "not measured" : NULL);
		buffer_text(out, " |");
		for (int k = 0; k < t->spec.count; k++)
			if (t->spec.columns[k].keep != KEEP_ROOM)
				put_cell(out, &row->cells[k]);
		buffer_byte(out, '\n');
	}
	if (t->weak)
		buffer_text(out, "\n" DOC_WEAK "\n");
	if (t->count + t->left_out > doc_rows_few(t))
		buffer_format(out, "\nThe first %zu of %zu; the JSON report has all.\n", doc_rows_few(t),
		              t->count + t->left_out);
	buffer_byte(out, '\n');
}

/* Lines as code, by their indent, which no text ends. */
static void put_lines(struct buffer *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		struct buffer safe = {0};
		safe_text_append(&safe, (struct slice){text, len});
		buffer_text(out, "    ");
		buffer_slice(out, buffer_all(&safe));
		buffer_byte(out, '\n');
		out->failed |= safe.failed;
		buffer_release(&safe);
		text += len + (text[len] == '\n');
	}
}

/* "- **label**: text", "- label status: text", "text" */
static void put_words(struct buffer *out, const struct doc_part *part)
{
	const bool list = part->kind == PART_FACT || part->kind == PART_CHECK || part->kind == PART_TERM;
	const char *text = part->text ? part->text : "";
	if (list || part->kind == PART_ITEM)
		buffer_text(out, "- ");
	else
		put_gap(out);
	if (part->label && *part->label) {
		buffer_text(out, list ? "" : "**");
		put_text(out, part->label);
		buffer_text(out, !list ? "** " : part->status ? " " : *text ? ": " : "");
	}
	if (part->status) {
		buffer_text(out, "**");
		put_text(out, part->status);
		buffer_text(out, *text ? "**: " : "**");
	}
	if (part->kind == PART_TEXT || part->kind == PART_TERM)
		put_prose(out, text);
	else
		put_text(out, text);
	if (part->hint && part->kind != PART_CHECK) {
		buffer_text(out, *text ? " (" : "(");
		put_text(out, part->hint);
		buffer_byte(out, ')');
	}
	buffer_text(out, list || part->kind == PART_ITEM ? "\n" : "\n\n");
}

static void put_part(struct buffer *out, const struct doc_part *part, const char *title)
{
	switch (part->kind) {
	case PART_TABLE:
		put_table(out, part->table, title);
		break;
	case PART_HEADING:
		put_gap(out);
		buffer_text(out, "#### ");
		put_text(out, part->text);
		buffer_text(out, "\n\n");
		break;
	case PART_COMMAND:
	case PART_CODE:
		put_lines(out, part->text);
		break;
	default:
		put_words(out, part);
	}
}

static bool is_shown(const struct doc_part *part)
{
	return part->media & IN_MARKDOWN && part->kind != PART_TILE && part->kind != PART_PICTURES &&
	       part->kind != PART_LEVELS && !(part->kind == PART_TABLE && part->table->count == 0);
}

static void put_section(struct buffer *out, const struct doc_section *s)
{
	bool first = true;
	for (size_t i = 0; i < s->count; i++) {
		if (!is_shown(&s->parts[i]))
			continue;
		if (first) {
			put_gap(out);
			buffer_text(out, s->folded ? "<details><summary>" : "### ");
			put_text(out, s->title);
			buffer_text(out, s->folded ? "</summary>\n\n" : "\n\n");
		}
		/* code needs an empty line before it */
		if ((s->parts[i].kind == PART_COMMAND || s->parts[i].kind == PART_CODE) && !first &&
		    s->parts[i - 1].kind != s->parts[i].kind)
			put_gap(out);
		put_part(out, &s->parts[i], s->title ? s->title : "");
		first = false;
	}
	if (!first && s->folded) {
		put_gap(out);
		buffer_text(out, "</details>\n");
	}
}

void document_md(const struct document *d, struct buffer *out)
{
	buffer_text(out, "## ");
	put_text(out, d->title);
	buffer_byte(out, '\n');
	for (size_t i = 0; i < d->count; i++)
		put_section(out, &d->sections[i]);
	out->failed |= d->failed;
}

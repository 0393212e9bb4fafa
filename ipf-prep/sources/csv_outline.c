#include "sources/csv_outline.h"

#include "input/csv.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define ROWS_LOOKED_AT 50
#define NAME_MAX       48 /* bytes */
#define WORDS_MAX      4

/* A table of a single column looks like text, unless its heading is a name of columns of prompts. */
static bool is_usual_name(const char *name)
{
	static const char *const usual[] = {"prompt", "prompts", "question", "instruction", "text", "query", "input"};
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (strcasecmp(name, usual[i]) == 0)
			return true;
	return false;
}

/* How much a field looks like the name of a column. */
enum likeness { NO_NAME, A_NAME, AN_IDENTIFIER };

static enum likeness name_likeness(const char *name)
{
	name += strspn(name, " ");
	size_t words = 0, len = strlen(name);
	bool identifier = len > 0, in_word = false;
	if (len > NAME_MAX || strpbrk(name, "\n\r"))
		return NO_NAME;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];
		bool ends_phrase = strchr(".?!:;,", c) != NULL && (i + 1 == len || name[i + 1] == ' ');
		if (ends_phrase)
			return NO_NAME;
		identifier &= isalnum(c) || strchr("_-./()%#@", c) != NULL;
		words += c != ' ' && !in_word;
		in_word = c != ' ';
	}
	return words > WORDS_MAX ? NO_NAME : identifier ? AN_IDENTIFIER : A_NAME;
}

static enum likeness header_likeness(const struct csv *csv, bool *spaced)
{
	enum likeness least = AN_IDENTIFIER;
	size_t empty = 0;
	for (size_t i = 0; i < csv->column_count; i++) {
		const char *name = csv->columns[i];
		empty += !*name;
		*spaced |= i > 0 && *name == ' ';
		enum likeness likeness = *name ? name_likeness(name) : A_NAME;
		least = likeness < least ? likeness : least;
		for (size_t k = 0; k < i; k++)
			if (*name && strcmp(name, csv->columns[k]) == 0)
				return NO_NAME;
	}
	/* The index of some programs has no name. */
	return csv->column_count < 2 || empty > 1 ? NO_NAME : least;
}

/* Counts rows, and of them those with as many fields as the header, or more. */
static void count_rows(struct csv *csv, bool whole, size_t *rows, size_t *equal, size_t *enough)
{
	struct ipf_error ignored = {0};
	*rows = *equal = *enough = 0;
	for (int i = 0, got; i < ROWS_LOOKED_AT && (got = csv_next(csv, &ignored)) != 0; i++) {
		bool cut = !whole && csv->window->begin == csv->window->end && csv->window->ended;
		if (cut)
			break;
		++*rows;
		*equal += got > 0 && csv->count == csv->column_count;
		*enough += got > 0 && csv->count >= csv->column_count;
		ipf_error_clear(&ignored);
	}
}

bool csv_outline_is_table(struct slice head, bool whole)
{
	struct slice left = head;
	struct byte_window window = {.read = byte_window_read_slice, .data = &left};
	struct csv csv = {0};
	struct ipf_error ignored = {0};
	bool table = false, spaced = false;
	csv_begin(&csv, &window);
	if (csv_header(&csv, &ignored) == 1) {
		size_t rows, equal, enough;
		enum likeness likeness = header_likeness(&csv, &spaced);
		count_rows(&csv, whole, &rows, &equal, &enough);
		/* Commas in prose have a space behind them. */
		if (csv.column_count == 1)
			table = rows > 0 && is_usual_name(csv.columns[0]);
		else if (likeness == AN_IDENTIFIER && !spaced)
			table = enough * 2 >= rows;
		else if (likeness == AN_IDENTIFIER)
			table = rows > 0 && equal == rows;
		else if (likeness == A_NAME)
			table = !spaced && equal * 10 >= rows * 9;
	}
	csv_release(&csv);
	byte_window_release(&window);
	return table;
}

#include "cli/nearest.h"

#include <stdbool.h>
#include <string.h>

#define LONGEST_NAME 64

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The Damerau-Levenshtein distance, in the form that never edits a swapped pair again. */
static size_t edits(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][LONGEST_NAME + 1], *before = rows[0], *last = rows[1], *row = rows[2], *spare;

	for (size_t j = 0; j <= b_len; j++)
		last[j] = before[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[b_len];
}

void nearest_try(struct nearest *near, const char *typed, size_t len, const char *known)
{
	size_t known_len = strlen(known), n;

	if (len == 0 || len > LONGEST_NAME || known_len > LONGEST_NAME)
		return;
	n = edits(typed, len, known, known_len);
	if (n <= 1 + len / 3 && (!near->name || n < near->edits))
		*near = (struct nearest){known, n};
}

/* Has the word the letters of the name in their order, beginning with the same one? */
static bool spells_out(const char *word, size_t len, const char *name)
{
	size_t found = 0;
	for (size_t i = 0; i < len && name[found]; i++)
		found += word[i] == name[found];
	return len > strlen(name) && strlen(name) >= 2 && word[0] == name[0] && !name[found];
}

void nearest_try_short(struct nearest *near, const char *typed, size_t len, const char *known)
{
	nearest_try(near, typed, len, known);
	if (!near->name && spells_out(typed, len, known))
		*near = (struct nearest){known, LONGEST_NAME};
}

/* Prompts and answers of canaries: marks are found within a text, a solved task is right, and any two texts get a
 * verdict. The second text begins behind the first NUL. */
#include "canary/canary.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find_marks(struct slice text)
{
	struct slice mark;
	size_t at = 0, before = 0;
	for (; (mark = canary_mark_find(text, &at)).data; before = at)
		if (mark.len != CANARY_MARK || at > text.len || mark.data < text.data + before || !canary_is_mark(mark))
			abort();
	if (at != text.len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer solved = {0};
	/* a copy of its own, so a sanitizer sees one byte too far */
	char *copy = malloc(size ? size : 1);
	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	const char *end = size ? memchr(copy, '\0', size) : NULL;
	struct slice first = {copy, end ? (size_t)(end - copy) : size};
	struct slice second = end ? (struct slice){end + 1, size - first.len - 1} : (struct slice){0};

	find_marks(first);
	if (!canary_solve(first, &solved) && solved.len)
		abort();
	for (int kind = 0; kind < CANARY_KINDS; kind++) {
		canary_judge((enum canary_kind)kind, first, second);
		/* a duplicate member counts as wrong only in the answer */
		if (kind != CANARY_JSON && canary_judge((enum canary_kind)kind, buffer_all(&solved), second) !=
		                               canary_judge((enum canary_kind)kind, second, buffer_all(&solved)))
			abort();
	}
	buffer_release(&solved);
	free(copy);
	return 0;
}

#include "answers/repetition.h"

#include <stdint.h>

size_t repetition_bytes(struct slice text)
{
	/* Knuth, Morris and Pratt on the reversed end of the text: for each of its prefixes, the longest border. */
	static _Thread_local uint16_t border[REPETITION_SEARCHED + 1];
	const size_t len = text.len < REPETITION_SEARCHED ? text.len : REPETITION_SEARCHED;
	const char *last = text.data + text.len - 1;
	size_t k = 0, found = 0;
	for (size_t i = 2; i <= len; i++) {
		while (k && last[-(ptrdiff_t)(i - 1)] != last[-(ptrdiff_t)k])
			k = border[k];
		k += last[-(ptrdiff_t)(i - 1)] == last[-(ptrdiff_t)k];
		border[i] = (uint16_t)k;
		const size_t piece = i - k;
		if (piece <= REPETITION_PIECE && i >= REPETITION_TIMES * piece && i >= REPETITION_BYTES)
			found = i;
	}
	return found;
}

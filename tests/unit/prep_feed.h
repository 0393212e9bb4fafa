/* Bytes of a string, in pieces as small or as odd as a test wants them. */
#ifndef IPF_TEST_PREP_FEED_H
#define IPF_TEST_PREP_FEED_H

#include "input/byte_window.h"
#include "unit.h"

struct prompt_pieces {
	const char *text;
	size_t len, at;
	size_t most; /* bytes at a time; 0: a random number up to 20 */
	uint64_t random;
};

static inline int64_t read_pieces(void *data, char *to, size_t cap, struct ipf_error *err)
{
	struct prompt_pieces *p = data;
	size_t len = p->most ? p->most : 1 + (size_t)(test_random(&p->random) % 20);
	(void)err;
	if (len > p->len - p->at)
		len = p->len - p->at;
	if (len > cap)
		len = cap;
	memcpy(to, p->text + p->at, len);
	p->at += len;
	return (int64_t)len;
}

#endif

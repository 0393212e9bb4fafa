/* A text a byte window reads in chunks, as small as a test wants. */
#ifndef IPF_TEST_CHUNKED_TEXT_H
#define IPF_TEST_CHUNKED_TEXT_H

#include "input/byte_window.h"
#include "unit.h"

struct chunked_text {
	const char *text;
	size_t len, at;
	size_t most; /* bytes at a time; 0: a random number up to 20 */
	uint64_t random;
};

static inline int64_t read_chunks(void *data, char *to, size_t cap, struct ipf_error *err)
{
	struct chunked_text *p = data;
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

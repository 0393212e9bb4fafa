#include "text_hash.h"

uint64_t text_hash(struct slice text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < text.len; i++)
		h = (h ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
	return h;
}

uint64_t text_hash_mixed(struct slice text)
{
	uint64_t h = text_hash(text);
	h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
	h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ h >> 33;
}

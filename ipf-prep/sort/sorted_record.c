#include "sort/sorted_record.h"

#include <endian.h>

/* A key is followed by zeros up to a multiple of 8 bytes. */
uint64_t sorted_record_prefix(const struct sorted_record *r)
{
	uint64_t prefix;
	if (r->key_len == 0)
		return 0;
	memcpy(&prefix, r->bytes, sizeof prefix);
	return be64toh(prefix);
}

int sorted_record_compare(const struct sorted_record *a, const struct sorted_record *b)
{
	int order = memcmp(a->bytes, b->bytes, a->key_len < b->key_len ? a->key_len : b->key_len);
	return order ? order : a->key_len < b->key_len ? -1 : a->key_len > b->key_len;
}

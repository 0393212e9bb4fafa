/* A record as it is in memory and in temporary files: its key and its bytes, each at a multiple of 8 bytes. */
#ifndef PREP_SORTED_RECORD_H
#define PREP_SORTED_RECORD_H

#include "buffer.h"

#include <stdint.h>

struct sorted_record {
	uint32_t key_len, len;
	char bytes[];
};

/* The most bytes of a key, and of a record. */
#define SORTED_RECORD_MOST ((size_t)1 << 31)

static inline size_t sorted_record_padded(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

static inline size_t sorted_record_size(size_t key_len, size_t len)
{
	return sizeof(struct sorted_record) + sorted_record_padded(key_len) + sorted_record_padded(len);
}

static inline struct slice sorted_record_key(const struct sorted_record *r)
{
	return (struct slice){r->bytes, r->key_len};
}

static inline struct slice sorted_record_bytes(const struct sorted_record *r)
{
	return (struct slice){r->bytes + sorted_record_padded(r->key_len), r->len};
}

/* The first bytes of the key as a number, by which most records can be told apart. */
uint64_t sorted_record_prefix(const struct sorted_record *r);
/* < 0, 0 or > 0, as the key of a sorts before, with or behind b's. */
int sorted_record_compare(const struct sorted_record *a, const struct sorted_record *b);

#endif

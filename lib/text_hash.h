/* Hashes of texts, the same in every run and on every machine. */
#ifndef IPF_TEXT_HASH_H
#define IPF_TEXT_HASH_H

#include "buffer.h"

#include <stdint.h>

/* FNV-1a, 64 bits. The low bits of short texts are alike: mix it before use in a table or as a seed. */
uint64_t text_hash(struct slice text);

/* The same, finally mixed as in MurmurHash3: all bits are of good quality. */
uint64_t text_hash_mixed(struct slice text);

#endif

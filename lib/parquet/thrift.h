/* Reads Thrift's compact protocol, in which Parquet writes its footer and the headers of its pages.
 *
 *     struct thrift t = {.at = bytes, .end = bytes + len};
 *     for (struct thrift_field f = {0}; thrift_next(&t, &f);)
 *         switch (f.id) {
 *         case 1: rows = thrift_integer(&t, f.type); break;
 *         default: thrift_skip(&t, f.type);
 *         }
 *     if (t.fault) …
 *
 * Each field from thrift_next must be read or skipped. The first fault stays, and everything read after it is 0 or
 * empty. The memory for a list is bounded by the remaining bytes: an element takes at least one. Specification:
 * github.com/apache/thrift, doc/specs/thrift-compact-protocol.md.
 */
#ifndef IPF_THRIFT_H
#define IPF_THRIFT_H

#include "buffer.h"

#include <stdbool.h>
#include <stdint.h>

enum thrift_fault {
	THRIFT_GOOD,
	THRIFT_CUT,  /* the bytes end too early */
	THRIFT_WRONG /* a field has another type than it should have, or an impossible value */
};

enum {
	THRIFT_TRUE = 1,
	THRIFT_FALSE,
	THRIFT_BYTE,
	THRIFT_I16,
	THRIFT_I32,
	THRIFT_I64,
	THRIFT_DOUBLE,
	THRIFT_BINARY,
	THRIFT_LIST,
	THRIFT_SET,
	THRIFT_MAP,
	THRIFT_STRUCT
};

struct thrift {
	const unsigned char *at, *end;
	enum thrift_fault fault;
};

struct thrift_field {
	int64_t id;
	int type;
};

/* The next field of a struct: false at its end, or after a fault. Begin with a field of zeros. */
bool thrift_next(struct thrift *t, struct thrift_field *f);
int64_t thrift_integer(struct thrift *t, int type);
bool thrift_bool(struct thrift *t, int type);
struct slice thrift_binary(struct thrift *t, int type); /* borrows the bytes */
/* Begins a list of elements of one type: how many follow. */
size_t thrift_list(struct thrift *t, int type, int element_type);
/* Begins a struct: a fault if the type is another. */
void thrift_struct(struct thrift *t, int type);
void thrift_skip(struct thrift *t, int type);

#endif

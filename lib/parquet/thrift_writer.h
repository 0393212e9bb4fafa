/* Writes Thrift's compact protocol, which thrift.h reads.
 *
 *     struct thrift_writer w = {.out = &bytes};
 *     thrift_put_struct(&w, 0);                      // a struct that is no field
 *     thrift_put_integer(&w, 1, THRIFT_I32, 2);
 *     thrift_put_list(&w, 2, THRIFT_BINARY, 2);
 *     thrift_put_binary(&w, 0, slice_of("a"));       // 0: an element of the list
 *     thrift_put_binary(&w, 0, slice_of("b"));
 *     thrift_end_struct(&w);
 *
 * The fields of a struct have ascending ids from 1. The id 0 writes a value without the head of a field: an element of
 * a list, or the outermost struct. If memory runs out, `out` has failed.
 */
#ifndef IPF_THRIFT_WRITER_H
#define IPF_THRIFT_WRITER_H

#include "buffer.h"
#include "parquet/thrift.h"

enum { THRIFT_WRITER_DEPTH = 8 }; /* structs within each other, at most */

struct thrift_writer {
	struct buffer *out;
	int last[THRIFT_WRITER_DEPTH]; /* the id of the field before, of each open struct */
	int depth;
};

void thrift_put_integer(struct thrift_writer *w, int id, int type, int64_t value); /* I16, I32 or I64 */
void thrift_put_bool(struct thrift_writer *w, int id, bool value);                 /* only a field */
void thrift_put_binary(struct thrift_writer *w, int id, struct slice bytes);
/* `count` elements follow. */
void thrift_put_list(struct thrift_writer *w, int id, int element_type, size_t count);
/* Its fields follow, then its end. */
void thrift_put_struct(struct thrift_writer *w, int id);
void thrift_end_struct(struct thrift_writer *w);

#endif

#include "parquet/run_writer.h"

/* Groups of a packed run, so that its head fits in the byte that is reserved for it. */
#define GROUPS_MAX 63

static void pack_group(struct run_writer *r)
{
	uint64_t bits = 0;
	unsigned count = 0;
	if (r->groups == 0 || r->groups == GROUPS_MAX) {
		r->head = r->out.len;
		r->groups = 0;
		buffer_byte(&r->out, 0);
	}
	for (unsigned i = 0; i < 8; i++) {
		bits |= (uint64_t)r->group[i] << count;
		for (count += r->width; count >= 8; count -= 8, bits >>= 8)
			buffer_byte(&r->out, (char)bits);
	}
	r->groups++;
	if (!r->out.failed)
		r->out.data[r->head] = (char)(r->groups << 1 | 1);
	r->held = 0;
}

static void repeat_value(struct run_writer *r)
{
	uint64_t head = r->repeats << 1;
	for (; head >= 0x80; head >>= 7)
		buffer_byte(&r->out, (char)(head | 0x80));
	buffer_byte(&r->out, (char)head);
	for (unsigned bit = 0; bit < r->width; bit += 8)
		buffer_byte(&r->out, (char)(r->last >> bit));
	r->repeats = 0;
	r->groups = 0;
}

static void settle(struct run_writer *r)
{
	while (r->repeats) {
		if (r->held == 0 && r->repeats >= 8) {
			repeat_value(r);
			return;
		}
		r->group[r->held++] = r->last;
		r->repeats--;
		if (r->held == 8)
			pack_group(r);
	}
}

void run_writer_put(struct run_writer *r, uint32_t value, uint64_t count)
{
	if (value != r->last) {
		settle(r);
		r->last = value;
	}
	r->repeats += count;
}

void run_writer_end(struct run_writer *r)
{
	settle(r);
	while (r->held && r->held < 8)
		r->group[r->held++] = 0;
	if (r->held)
		pack_group(r);
	r->groups = 0;
}

void run_writer_clear(struct run_writer *r)
{
	buffer_clear(&r->out);
	r->repeats = r->groups = r->held = 0;
}

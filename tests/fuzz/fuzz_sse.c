/* Any bytes, cut into events: these come in order, end within the body, and only the last one may lack its end. */
#include "api/framing.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void frame(struct framing *f, enum framing_kind kind, struct slice body)
{
	struct framing_event event;
	size_t end = 0, sum = 0;
	bool last = false;

	framing_begin(f, kind, body);
	while (framing_next(f, &event)) {
		if (last || event.end < end || event.end > body.len || (event.end == end && !event.pending))
			abort();
		/* an event by itself may end where a pending one does, in the last line */
		last = event.pending && !event.bare;
		end = event.end;
		for (size_t i = 0; i < event.data.len; i++)
			sum += (unsigned char)event.data.data[i];
		for (size_t i = 0; i < event.name.len; i++)
			sum += (unsigned char)event.name.data[i];
	}
	if (framing_next(f, &event) && kind != FRAMING_SSE)
		abort();
	if (sum == SIZE_MAX) /* never: but the bytes have to be looked at */
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct framing f = {0};
	/* a copy of its own, so a sanitizer sees one byte too far */
	char *copy = malloc(size ? size : 1);

	if (!copy)
		return 0;
	for (size_t i = 0; i < size; i++)
		copy[i] = (char)data[i];
	frame(&f, FRAMING_SSE, (struct slice){copy, size});
	frame(&f, FRAMING_NDJSON, (struct slice){copy, size});
	frame(&f, FRAMING_JSON, (struct slice){copy, size});
	frame(&f, FRAMING_JSON_SEQUENCE, (struct slice){copy, size});
	framing_release(&f);
	free(copy);
	return 0;
}

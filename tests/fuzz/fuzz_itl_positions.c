/* A line of inter-token latencies by position is either refused, with a reason, or written back as a line reading the
 * same. */
#include "series/itl_positions.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_all(const struct itl_positions *all, struct buffer *lines)
{
	for (int bin = 0; bin < ITL_POSITION_BINS; bin++)
		if (itl_positions_get(all, 0, bin))
			itl_positions_write(all, 0, bin, lines);
}

static void reread(struct itl_positions *all)
{
	struct buffer line = {0}, again = {0};
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	struct itl_positions *copy = itl_positions_new();
	write_all(all, &line);
	if (line.len) {
		if (jdoc_parse(&doc, line.data, line.len, &err) < 0 || itl_positions_read(copy, 0, &doc, &err) < 0)
			abort();
		write_all(copy, &again);
		if (again.len != line.len || memcmp(again.data, line.data, line.len) != 0)
			abort();
		if (itl_positions_read(all, 0, &doc, &err) < 0)
			abort();
	}
	itl_positions_free(copy);
	buffer_release(&line);
	buffer_release(&again);
	jdoc_release(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	char *text = malloc(size + 1); /* exactly as long as it is, so reading beyond it is noticed */
	struct itl_positions *all = itl_positions_new();
	if (!text || !all)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (jdoc_parse(&doc, text, size, &err) == 0 && itl_positions_read(all, 0, &doc, &err) == 0)
		reread(all);
	else if (err.kind != IPF_INPUT || !err.text[0])
		abort();
	itl_positions_free(all);
	jdoc_release(&doc);
	free(text);
	return 0;
}

/* A line of a window is either refused, with a reason, or written back as a line reading the same: also when added to a
 * set, moved and made longer. */
#include "series/series.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct window *w, struct buffer *line)
{
	struct buffer again = {0};
	window_write(w, &again);
	if (again.len != line->len || memcmp(again.data, line->data, line->len) != 0)
		abort();
	buffer_release(&again);
}

static void reread(struct buffer *line)
{
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	if (jdoc_parse(&doc, line->data, line->len, &err) < 0)
		abort();
	struct window *w = window_read(&doc, JDOC_ROOT, &err);
	if (!w)
		abort();
	same(w, line);
	window_free(w);
	jdoc_release(&doc);
}

static void collect(struct slice line)
{
	struct series *s = series_new(SERIES_EVERY_LEAST_NS, 2000);
	struct buffer out = {0};
	struct ipf_error err = {0};
	if (series_read(s, line, 0, &err) < 0 || series_read(s, line, INT64_MAX, &err) < 0 ||
	    series_read(s, line, -SERIES_EVERY_MOST_NS, &err) < 0)
		abort();
	while (series_spill(s, &out) || series_take(s, &out))
		reread(&out);
	buffer_release(&out);
	series_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	char *text = malloc(size + 1); /* exactly as long as it is, so reading beyond it is noticed */
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	struct window *w = jdoc_parse(&doc, text, size, &err) == 0 ? window_read(&doc, JDOC_ROOT, &err) : NULL;
	if (w) {
		struct buffer line = {0};
		window_write(w, &line);
		reread(&line);
		collect((struct slice){text, size});
		buffer_release(&line);
	} else if (err.kind != IPF_INPUT || !err.text[0]) {
		abort();
	}
	window_free(w);
	jdoc_release(&doc);
	free(text);
	return 0;
}

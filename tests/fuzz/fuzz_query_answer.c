/* Any bytes as an answer of Prometheus: whatever is read has names and labels within the text, and nothing crashes. */
#include "scrape/query_answer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	size_t series, values, bytes;
};

static bool begin(void *data, const struct exposition_series *series)
{
	struct seen *s = data;
	s->series++;
	s->bytes += series->name.len;
	for (size_t i = 0; i < series->labels_count; i++) {
		const struct exposition_label *l = &series->labels[i];
		/* reads all of both */
		s->bytes += l->name.len + l->value.len + (memchr(l->name.data, 0xff, l->name.len) != NULL) +
		            (memchr(l->value.data, 0xff, l->value.len) != NULL);
	}
	return true;
}

static void take(void *data, double unix_s, double value)
{
	struct seen *s = data;
	(void)unix_s;
	s->values += value == value;
	if (!s->series)
		abort();
}

static bool name(void *data, struct slice text)
{
	struct seen *s = data;
	s->bytes += text.len;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = {0};
	const struct query_handler handler = {&seen, begin, take};
	struct jdoc doc = {0};
	struct ipf_error range = {0}, names = {0}, own = {0};
	/* a copy of its own, so a sanitizer sees one byte too far */
	char *copy = malloc(size ? size : 1);
	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	struct slice body = {copy, size};
	bool good = query_answer_range(&doc, body, &handler, &range) == 0;
	if (good == (range.kind != IPF_OK) || (query_answer_error(&doc, body, &own) < 0 && good))
		abort();
	query_answer_names(&doc, body, name, &seen, &names);
	jdoc_release(&doc);
	free(copy);
	return 0;
}

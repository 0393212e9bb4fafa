/* Any text is JSON or is refused with a reason, and in the same way whether its "text" and "rows" are read directly or
 * from nodes; the values are the same. */
#include "json/jdoc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_rows(const struct jdoc *nodes, const struct jdoc_direct *d)
{
	jdoc_id list = jdoc_get(nodes, JDOC_ROOT, "rows");
	struct jdoc_each row = jdoc_each(nodes, list);
	check(jdoc_count(nodes, list) == d->rows_count);
	for (size_t i = 0; jdoc_step(&row); i++) {
		struct jdoc_each value = jdoc_each(nodes, row.value);
		int64_t integer;
		for (size_t k = 0; jdoc_step(&value); k++)
			check(k < JDOC_ROW && jdoc_to_int(nodes, value.value, &integer) && integer == d->rows[i][k]);
		check(jdoc_count(nodes, row.value) == JDOC_ROW);
	}
}

/* Is the member read the one of that name? A key may come twice, and not both times as a text or a list. */
static bool is_first(const struct jdoc *j, jdoc_id node, const char *key)
{
	return node != JDOC_NONE && node == jdoc_get(j, JDOC_ROOT, key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer text = {0}, expected = {0};
	struct jdoc nodes = {0}, doc = {0};
	struct jdoc_direct d = {.text_key = "text", .text = &text, .rows_key = "rows"};
	struct ipf_error err = {0}, other = {0};
	char *json = malloc(size + 1); /* one more, or it could be NULL; nothing is read behind the end */
	if (!json)
		return 0;
	memcpy(json, data, size);
	char *exact = realloc(json, size ? size : 1);
	json = exact ? exact : json;
	int status = jdoc_parse_direct(&doc, json, size, &d, &err);
	check(jdoc_parse(&nodes, json, size, &other) == status && !strcmp(err.text, other.text));
	check(status == 0 || (err.kind == IPF_INPUT && err.text[0]));
	if (status == 0 && is_first(&doc, d.text_node, "text")) {
		size_t most = jdoc_raw(&nodes, jdoc_get(&nodes, JDOC_ROOT, "text")).len; /* decoding never makes it longer */
		expected = (struct buffer){.data = malloc(most), .cap = most};
		check(expected.data != NULL);
		jdoc_text(&nodes, jdoc_get(&nodes, JDOC_ROOT, "text"), &expected);
		check(slice_equal(buffer_all(&text), buffer_all(&expected)));
		buffer_clear(&expected);
		jdoc_text(&doc, d.text_node, &expected); /* its node can be read again */
		check(slice_equal(buffer_all(&text), buffer_all(&expected)));
	}
	if (status == 0 && is_first(&doc, d.rows_node, "rows"))
		check_rows(&nodes, &d);
	free(json);
	free(d.rows);
	buffer_release(&text);
	buffer_release(&expected);
	jdoc_release(&nodes);
	jdoc_release(&doc);
	return 0;
}

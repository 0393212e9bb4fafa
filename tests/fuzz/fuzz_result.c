/* A line of the results is refused with a reason, or it is a row: the same row whether or not it is in the form in
 * which we write it, which is read in another way. */
#include "stream/result.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_row(struct jdoc *doc, struct slice line, struct buffer *out, int *status)
{
	struct result row;
	struct ipf_error err = {0};
	*status = result_parse(doc, line, &row, &err);
	if (*status == 0)
		result_write(&row, out);
	else if (err.kind != IPF_INPUT || !err.text[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jdoc doc = {0};
	struct buffer spaced = {0}, as_is = {0}, other = {0};
	int status, again;
	char *exact = malloc(size ? size : 1); /* exactly as long as it is, so reading beyond it is noticed */
	if (!exact)
		return 0;
	memcpy(exact, data, size);
	buffer_byte(&spaced, ' '); /* no line of ours */
	buffer_append(&spaced, exact, size);
	write_row(&doc, (struct slice){exact, size}, &as_is, &status);
	write_row(&doc, buffer_all(&spaced), &other, &again);
	if (status != again || !slice_equal(buffer_all(&as_is), buffer_all(&other)))
		abort();
	free(exact);
	buffer_release(&spaced);
	buffer_release(&as_is);
	buffer_release(&other);
	jdoc_release(&doc);
	return 0;
}

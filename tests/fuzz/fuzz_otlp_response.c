/* An OTLP receiver's answer: any bytes give a number that is not negative, and texts that are parts of them. */
#include "push/otlp_response.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct slice part, struct slice whole)
{
	if (part.data && (part.data < whole.data || part.len > (size_t)(whole.data + whole.len - part.data)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice body = {(const char *)data, size};
	struct otlp_partial_success partial = otlp_partial_success(body);
	if (partial.rejected < 0)
		abort();
	check(partial.message, body);
	check(otlp_status_message(body), body);
	return 0;
}

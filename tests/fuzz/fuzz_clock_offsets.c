/* Client lines of two clients in turn, and HTTP dates: each is refused or taken in, and the figures of the clocks then
 * agree. */
#include "absent.h"
#include "http_date.h"
#include "series/clock_offsets.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct clock_offsets *c = clock_offsets_new();
	json_t *header = json_pack("{s:I, s:s}", "t0_unix_ns", (json_int_t)1700000000000000000, "target", "http://s/");
	struct jdoc doc = {0};
	const char *at = (const char *)data, *end = at + size;
	int64_t date_s = http_date_parse((struct slice){at, size});
	if (!c || !header || clock_offsets_client(c, header) != 0 || clock_offsets_client(c, header) != 1)
		abort();
	if (date_s != IPF_ABSENT && (date_s < 0 || date_s > INT64_C(400000000000)))
		abort();
	for (int client = 0; at < end; client = !client) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct ipf_error err = {0};
		if (!stop)
			stop = end;
		if (jdoc_parse(&doc, at, (size_t)(stop - at), &err) == 0 &&
		    (clock_offsets_read(c, client, &doc, JDOC_ROOT, &err) < 0) != (err.kind != IPF_OK))
			abort();
		at = stop + 1;
	}
	struct clock_offset o = clock_offsets_between(c, 0, 1);
	if (o.low_ns > o.high_ns || (o.low_ns == IPF_ABSENT) != !o.by_date || o.by_ntp)
		abort();
	json_decref(clock_offsets_json(c));
	clock_offsets_free(c);
	json_decref(header);
	jdoc_release(&doc);
	return 0;
}

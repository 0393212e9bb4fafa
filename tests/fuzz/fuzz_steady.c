/* Lines of windows, one after another: each is refused with a reason or taken in, and each stage has a steady part with
 * finite figures or a reason why not. */
#include "series/steady.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct steady_finding *f)
{
	if (f->found == (f->reason[0] != 0) || (f->found && f->to_ns <= f->from_ns))
		abort();
	for (int m = 0; f->found && m < STEADY_MEASURES; m++)
		if (f->figures[m].known && !(f->figures[m].mean > 0 && isfinite(f->figures[m].spread)))
			abort();
	json_t *json = steady_json(f);
	if (!json)
		abort();
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct steady *s = steady_new();
	const struct schedule none = {0};
	const char *at = (const char *)data, *end = at + size;
	struct buffer text = {0};
	if (!s)
		return 0;
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct ipf_error err = {0};
		if (!stop)
			stop = end;
		if (steady_read(s, (struct slice){at, (size_t)(stop - at)}, &err) < 0 ? !err.text[0] : err.kind != IPF_OK)
			abort();
		at = stop + 1;
	}
	for (size_t i = 0; i < steady_stages(s); i++) {
		struct steady_finding f = steady_find(s, i);
		check(&f);
	}
	steady_summary(s, &none, &text);
	buffer_release(&text);
	steady_free(s);
	return 0;
}

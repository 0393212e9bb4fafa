/* Lines of samples, one after another: each is refused with a reason or taken in, and every question about them then
 * has an answer making sense. */
#include "series/server_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct sample_store *store, const struct sample_range *range)
{
	for (int source = 0; source < sample_store_sources(store); source++) {
		enum sample_kind kind;
		const char *name;
		for (size_t i = 0; (name = sample_store_name(store, source, i, &kind)) != NULL; i++) {
			struct bucket_histogram h = {0};
			struct gauge_figures gauge = sample_store_gauge_figures(store, source, name, range);
			struct counter_figures counter = sample_store_counter_figures(store, source, name, range);
			if ((kind != SAMPLE_GAUGE && !isnan(gauge.mean)) || (kind != SAMPLE_COUNTER && !isnan(counter.sum)) ||
			    gauge.p50 > gauge.max + 1e-9 * fabs(gauge.max) || counter.seconds < 0)
				abort();
			sample_store_histogram_figures(store, source, name, range, &h);
			struct bucket_quantile q = bucket_histogram_quantile(&h, 90);
			if (h.count > 0 && h.unplaced == 0 && !(q.low <= q.value && q.value <= q.high))
				abort();
			bucket_histogram_release(&h);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sample_store *store = sample_store_new(size % 2 ? 1000 : 100000);
	struct server_samples servers = {.store = store};
	struct gpu_samples devices = {.store = store};
	struct jdoc doc = {0};
	const char *at = (const char *)data, *end = at + size;
	if (!store)
		return 0;
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct ipf_error err = {0};
		if (!stop)
			stop = end;
		if (jdoc_parse(&doc, at, (size_t)(stop - at), &err) == 0) {
			int bad = jdoc_text_is(&doc, jdoc_get(&doc, JDOC_ROOT, "sample"), "gpu")
			              ? gpu_samples_add(&devices, 0, 0, &doc, &err)
			              : server_samples_add(&servers, 0, 0, &doc, &err);
			if (bad < 0 ? err.kind == IPF_OK || !err.text[0] : err.kind != IPF_OK)
				abort();
		}
		at = stop + 1;
	}
	ask(store, &sample_range_all);
	ask(store, &(struct sample_range){0, 1500000000});
	jdoc_release(&doc);
	server_samples_release(&servers);
	gpu_samples_release(&devices);
	sample_store_free(store);
	return 0;
}

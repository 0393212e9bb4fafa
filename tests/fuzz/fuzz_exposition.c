/* Any bytes as a server's metrics, whole and in parts: the same is read, and a sample of two scrapes is JSON. */
#include "json/jdoc.h"
#include "scrape/server_sample.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const patterns[] = {"a*"};

struct scrape {
	struct snapshot snapshot;
	struct own_metrics own;
};

static void take(void *data, const struct exposition_series *series)
{
	struct scrape *s = data;
	snapshot_add(&s->snapshot, &s->own, series);
}

static void scrape(struct scrape *s, const char *text, size_t size, size_t part)
{
	struct exposition *e = exposition_new(take, s);
	struct ipf_error err = {0};
	s->own.patterns = patterns;
	s->own.patterns_count = 1;
	if (!e)
		return;
	for (size_t at = 0; at < size; at += part) {
		/* a copy of its own, so a sanitizer sees one byte too far */
		size_t len = size - at < part ? size - at : part;
		char *copy = malloc(len);
		if (copy) {
			memcpy(copy, text + at, len);
			exposition_feed(e, copy, len);
		}
		free(copy);
	}
	exposition_finish(e, &err);
	exposition_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scrape whole = {0}, parts = {0};
	struct buffer out = {0};
	struct jout w = {.out = &out};
	struct jdoc j = {0};
	struct ipf_error err = {0};
	const char *text = (const char *)data;
	scrape(&whole, text, size, size ? size : 1);
	scrape(&parts, text, size, 7);
	if (whole.snapshot.count != parts.snapshot.count)
		abort();
	scrape(&parts, text, size / 2, size);
	struct server_sample sample = {
		server_recognize(&whole.snapshot), &whole.snapshot, &parts.snapshot, &whole.own, NULL, 0};
	jout_begin_map(&w);
	if (server_sample_write(&sample, &w)) {
		jout_end_map(&w);
		if (!out.failed && jdoc_parse(&j, out.data, out.len, &err) < 0)
			abort();
	}
	jdoc_release(&j);
	buffer_release(&out);
	snapshot_release(&whole.snapshot);
	snapshot_release(&parts.snapshot);
	own_metrics_release(&whole.own);
	own_metrics_release(&parts.own);
	return 0;
}

#include "source.h"

#include "nearest.h"

#include <string.h>

extern const struct source_format source_sharegpt, source_alpaca, source_jsonl, source_text, source_azure, source_mooncake;

static const struct source_format *const formats[] = {
	&source_sharegpt, &source_alpaca, &source_jsonl, &source_text, &source_azure, &source_mooncake,
};

#define FORMATS (sizeof formats / sizeof *formats)

const struct source_format *source_at(size_t i)
{
	return i < FORMATS ? formats[i] : NULL;
}

const struct source_format *source_find(const char *name, struct ipf_error *err)
{
	struct buffer known = {0};
	struct nearest near = {0};
	for (size_t i = 0; i < FORMATS; i++) {
		if (strcmp(formats[i]->name, name) == 0) {
			buffer_release(&known);
			return formats[i];
		}
		buffer_format(&known, "%s%s", i ? " " : "", formats[i]->name);
		nearest_try(&near, name, strlen(name), formats[i]->name);
	}
	ipf_error_set(err, IPF_USAGE, "unknown source \"%s\"%s%s%s (known: %s)", name, near.name ? ", did you mean \"" : "",
	              near.name ? near.name : "", near.name ? "\"?" : "", known.data ? known.data : "");
	buffer_release(&known);
	return NULL;
}

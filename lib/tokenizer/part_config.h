/* Reads the configuration of a part of a tokenizer: members by name, strict about their types. `part`, for example
 * "normalizer: Replace", begins each error message. All functions return 0, or -1 with an error of kind IPF_INPUT. */
#ifndef IPF_TOKENIZER_PART_CONFIG_H
#define IPF_TOKENIZER_PART_CONFIG_H

#include "buffer.h"
#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A string. */
int config_text(const json_t *config, const char *part, const char *name, struct slice *text, struct ipf_error *err);
/* A boolean, and an integer of 0 or more. If the member is optional and absent, `*value` keeps its value. */
int config_bool(const json_t *config, const char *part, const char *name, bool optional, bool *value,
                struct ipf_error *err);
int config_size(const json_t *config, const char *part, const char *name, bool optional, size_t *value,
                struct ipf_error *err);
/* A string of one character. */
int config_character(const json_t *config, const char *part, const char *name, struct slice *text,
                     struct ipf_error *err);
/* {"String": …} (literal) or {"Regex": …} under "pattern". */
int config_pattern(const json_t *config, const char *part, struct slice *text, bool *literal, struct ipf_error *err);
/* The value of "type": returns its index in `names`, or -1 with `part: unknown type "Foo"`. */
int config_type(const json_t *config, const char *part, const char *const *names, size_t count, struct ipf_error *err);
/* The members of a Metaspace, both as a pre-tokenizer and as a decoder. */
struct metaspace_config {
	struct slice replacement;
	enum metaspace_scheme { METASPACE_ALWAYS, METASPACE_FIRST, METASPACE_NEVER } scheme;
};
int config_metaspace(const json_t *config, const char *part, struct metaspace_config *metaspace, struct ipf_error *err);

/* Sets the error `part: name: expected EXPECTED` and returns -1. */
int config_refuse(const char *part, const char *name, const char *expected, struct ipf_error *err);

#endif

/* Reading the configuration of a part: members by name, strict about their types, `part` (as "normalizer: Replace") in
 * each message. */
#ifndef IPF_TOKENIZER_CONFIG_H
#define IPF_TOKENIZER_CONFIG_H

#include "tokenizer/pipeline.h"

/* A text: 0, or -1 where it is missing or something else. */
int config_text(const json_t *config, const char *part, const char *name, struct slice *text, struct ipf_error *err);
/* Where absent, `*value` stays as it is if `optional`. */
int config_bool(const json_t *config, const char *part, const char *name, bool optional, bool *value,
                struct ipf_error *err);
int config_size(const json_t *config, const char *part, const char *name, bool optional, size_t *value,
                struct ipf_error *err);
/* A text of one character. */
int config_character(const json_t *config, const char *part, const char *name, struct slice *text,
                     struct ipf_error *err);
/* {"String": …} or {"Regex": …} under "pattern". */
int config_pattern(const json_t *config, const char *part, struct slice *text, bool *literal, struct ipf_error *err);
/* The value of "type", for look-ups in a table: index of the name, or -1 with `part: unknown type "Foo"`. */
int config_type(const json_t *config, const char *part, const char *const *names, size_t count, struct ipf_error *err);

/* What a Metaspace has as a pre-tokenizer and as a decoder. (pretokenize_space.c) */
int config_metaspace(const json_t *config, const char *part, struct slice *replacement, bool *never, bool *first,
                     struct ipf_error *err);

int config_refuse(const char *part, const char *name, const char *expected, struct ipf_error *err);

#endif

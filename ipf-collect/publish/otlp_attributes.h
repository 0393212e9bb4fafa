/* Attributes of OpenTelemetry: opentelemetry.proto.common.v1.KeyValue, each appended to `out` as the field `number` of
 * the message with them (OTLP 1.9). Unknown values get no attribute: an absent slice, IPF_ABSENT and NAN append
 * nothing.
 *
 *     otlp_put_int(out, 9, "gen_ai.usage.output_tokens", row->output_tokens);
 *
 * Texts are cut to OTLP_TEXT bytes, at the end of a character.
 */
#ifndef COLLECT_OTLP_ATTRIBUTES_H
#define COLLECT_OTLP_ATTRIBUTES_H

#include "buffer.h"

#include <stdbool.h>
#include <stdint.h>

#define OTLP_TEXT ((size_t)1024)

/* A text in UTF-8. */
void otlp_put_text(struct buffer *out, uint32_t number, const char *key, struct slice text);
/* The text in `json`, with its quotes. */
void otlp_put_json_text(struct buffer *out, uint32_t number, const char *key, struct slice json);
/* The same as a list with this one text. */
void otlp_put_json_list(struct buffer *out, uint32_t number, const char *key, struct slice json);
void otlp_put_int(struct buffer *out, uint32_t number, const char *key, int64_t value);
void otlp_put_double(struct buffer *out, uint32_t number, const char *key, double value);
void otlp_put_true(struct buffer *out, uint32_t number, const char *key);

/* Appends the characters of a text in JSON, cut as those of attributes. Nothing for an absent slice. */
void otlp_json_text(struct slice json, struct buffer *out);

#endif

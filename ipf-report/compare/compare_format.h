/* The formats of a comparison: those of -f for two sides.
 *
 *     if (!compare_has_format("json")) …                        // ipf-report compare -f csv
 *     compare_render(&comparison, "json", &style, &out);
 */
#ifndef COMPARE_COMPARE_FORMAT_H
#define COMPARE_COMPARE_FORMAT_H

#include "compare/comparison.h"
#include "document/document_text.h"

#define COMPARE_FORMATS_TEXT "text, html, json, md or junit"

struct compare_style {
	struct text_style text;
};

extern const char *const compare_format_names[]; /* the first is the default; NULL ends them */
bool compare_has_format(const char *name);
/* Appends the comparison. When memory runs out, the buffer's `failed` is set. */
void compare_render(const struct comparison *c, const char *name, const struct compare_style *style,
                    struct buffer *out);

#endif

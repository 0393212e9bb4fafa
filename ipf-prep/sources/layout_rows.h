/* A layout, in rows for people: "input_tokens", "ContextTokens". */
#ifndef PREP_LAYOUT_ROWS_H
#define PREP_LAYOUT_ROWS_H

#include "sources/layout.h"

/* Calls `row` with a label and the places, in the order of the fields. */
void layout_each_row(const struct layout *layout, void (*row)(const char *label, const char *places, void *data),
                     void *data);

#endif

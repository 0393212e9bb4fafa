/* The formats for people, of a JSON report: the same from results as from a saved report. */
#ifndef REPORT_FORMATS_FOR_PEOPLE_H
#define REPORT_FORMATS_FOR_PEOPLE_H

#include "document/document_text.h"
#include "formats/report_format.h"
#include "sections/sections.h"

struct people_style {
	const struct report_format *format; /* &format_text, &format_md or &format_html */
	struct text_style text;
};

void render_for_people(json_t *json, const struct report_view *view, const struct people_style *style,
                       struct buffer *out);

#endif

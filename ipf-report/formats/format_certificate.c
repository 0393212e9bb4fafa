/* The certificate as text and as JSON. */
#include "formats/certificate.h"
#include "document/document_text.h"
#include "figures/figures.h"
#include "json_report/json_report.h"
#include "sections/sections.h"

static void render_text(const struct report *report, struct buffer *out)
{
	json_t *certificate = certificate_json(report), *total = json_object();
	struct document d = {0};
	json_object_set_new(total, "accuracy", json_accuracy(report, &report->figures->total));
	certificate_document(&d, certificate, total);
	document_text(&d, report->style, out);
	document_release(&d);
	json_decref(total);
	json_decref(certificate);
}

static int append(const char *bytes, size_t len, void *out)
{
	buffer_append(out, bytes, len);
	return 0;
}

static void render_json(const struct report *report, struct buffer *out)
{
	json_t *json = certificate_json(report);
	if (json_dump_callback(json, append, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0)
		out->failed = true;
	buffer_byte(out, '\n');
	json_decref(json);
}

const struct report_format format_certificate_text = {.render = render_text};
const struct report_format format_certificate_json = {.render = render_json};

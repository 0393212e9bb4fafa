#include "commands/saved_report.h"

#include "absent.h"
#include "commands/write_report.h"
#include "formats/formats_for_people.h"
#include "memory.h"
#include "safe_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEAD_BYTES = 65536 };

/* Whether the text begins as a JSON report does: {"ipf": "report", …}. */
static bool begins_report(const char *text)
{
	static const char *const parts[] = {"{", "\"ipf\"", ":", "\"report\""};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		text += strspn(text, " \t\r\n");
		if (strncmp(text, parts[i], strlen(parts[i])) != 0)
			return false;
		text += strlen(parts[i]);
	}
	return true;
}

/* A report whose members are in another order, as after jq -S, is found by the same member further on. */
static bool has_report(const char *text)
{
	const char *at = text + strspn(text, " \t\r\n");
	if (*at != '{')
		return false;
	for (at = strstr(text, "\"ipf\""); at; at = strstr(at + 1, "\"ipf\"")) {
		const char *value = at + strlen("\"ipf\"");
		value += strspn(value, " \t\r\n:");
		if (strncmp(value, "\"report\"", 8) == 0)
			return true;
	}
	return begins_report(text);
}

int saved_report_read(const struct operands *operands, json_t **report, struct ipf_error *err)
{
	char head[HEAD_BYTES + 1];
	json_error_t wrong;
	FILE *file = operands->count == 1 && strcmp(operands->items[0], "-") != 0 ? fopen(operands->items[0], "rb") : NULL;
	if (!file) /* reading it as results says why */
		return 0;
	size_t len = fread(head, 1, HEAD_BYTES, file);
	head[len] = 0;
	if (!has_report(head) || fseek(file, 0, SEEK_SET) < 0) {
		fclose(file);
		return 0;
	}
	*report = json_loadf(file, JSON_REJECT_DUPLICATES, &wrong);
	fclose(file);
	if (*report &&
	    strcmp(json_string_value(json_object_get(*report, "ipf")) ? json_string_value(json_object_get(*report, "ipf"))
	                                                              : "",
	           "report") != 0) {
		json_decref(*report);
		*report = NULL;
		return 0;
	}
	if (!*report)
		return memory_ran_out() ? ipf_error_memory(err)
		                        : ipf_error_at(err, IPF_INPUT, operands->items[0], (int64_t)wrong.line,
		                                       "a JSON report that is cut or damaged: %s", shown(wrong.text).text);
	return 1;
}

/* A report has figures that were computed: options that compute them anew need the results. */
static int check_options(const struct report_options *o, struct ipf_error *err)
{
	const struct {
		bool given;
		const char *name;
	} computing[] = {{o->by.by != GROUPINGS, "--by"},
	                 {o->figures.percentiles.chosen, "--percentiles"},
	                 {o->meta, "--meta"},
	                 {o->plots, "--plots"},
	                 {o->said.any, "--as"},
	                 {o->stage, "--stage"},
	                 {o->slo.count > 0, "--slo"},
	                 {o->figures.window != WINDOW_STAGE, "--window"},
	                 {o->figures.errors_as_inf, "--errors-as-inf"},
	                 {o->figures.early_stopping, "--early-stopping"},
	                 {!isnan(o->price.per_hour), "--price"},
	                 {o->accuracy_ns != IPF_ABSENT, "--accuracy"},
	                 {o->trace, "--trace"},
	                 {o->certificate, "certificate"},
	                 {o->delivery.push.targets.count > 0, "--push"},
	                 {o->delivery.upload.url, "--upload"}};
	for (size_t i = 0; i < sizeof computing / sizeof *computing; i++)
		if (computing[i].given)
			return ipf_error_set(err, IPF_USAGE,
			                     "%s requires results: a saved report has the figures that were computed for it",
			                     computing[i].name);
	if (!report_formats[o->format]->sections && report_formats[o->format] != &format_json)
		return ipf_error_set(err, IPF_USAGE, "-f %s requires results: a saved report can be shown as text, html or md",
		                     report_format_names[o->format]);
	return 0;
}

static int append(const char *bytes, size_t len, void *out)
{
	buffer_append(out, bytes, len);
	return 0;
}

/* As text, a page, Markdown, or as it is. */
static int render(json_t *report, const struct report_options *options, struct buffer *out, struct ipf_error *err)
{
	const struct report_format *format = report_formats[options->format];
	struct report_view view = {.brief = format == &format_text && !options->full, .sections = options->sections};
	struct html_plots plots = {0};
	int bad = format->drawn ? draw_page_plots(json_object_get(report, "plots"), &plots, err) : 0;
	if (plots.count)
		view.pictures = plots.figures.data;
	if (bad == 0 && format->sections)
		render_for_people(report, &view, &(struct people_style){format, report_style(options)}, out);
	else if (bad == 0 && json_dump_callback(report, append, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0)
		out->failed = true;
	if (bad == 0 && format == &format_json)
		buffer_byte(out, '\n');
	html_plots_release(&plots);
	return bad < 0 ? -1 : out->failed || memory_ran_out() ? ipf_error_memory(err) : 0;
}

/* What --strict finds in it. */
static void judge(json_t *report, struct ipf_error *invalid)
{
	const char *status = text_at(report, "verdict/status");
	json_t *objective;
	size_t i;
	if (status && strcmp(status, "INVALID") == 0)
		ipf_error_set(invalid, IPF_INVALID, "the verdict is INVALID (--strict)");
	json_array_foreach(json_at(report, "total/goodput/objectives"), i, objective)
	{
		if (json_is_false(json_at(objective, "met")))
			ipf_error_set(invalid, IPF_INVALID, "%s: missed (--strict)", shown(text_at(objective, "objective")).text);
	}
	if (figure_at(report, "accuracy/missed") > 0)
		ipf_error_set(invalid, IPF_INVALID, "--accuracy: missed (--strict)");
}

int saved_report_show(json_t *report, const struct report_options *options, struct ipf_error *err)
{
	struct report_output to = {.path = options->common.output};
	struct buffer out = {0};
	struct ipf_error invalid = {0};
	if (check_options(options, err) < 0)
		return -1;
	if (!json_is_object(json_object_get(report, "total")) || !text_at(report, "verdict/status"))
		return ipf_error_set(err, IPF_INPUT, "a JSON report without a verdict and a total");
	if (render(report, options, &out, err) == 0)
		report_output_put(&to, &out, err);
	buffer_release(&out);
	report_output_close(&to, err);
	if (options->strict)
		judge(report, &invalid);
	if (err->kind == IPF_OK)
		*err = invalid;
	return err->kind == IPF_OK ? 0 : -1;
}

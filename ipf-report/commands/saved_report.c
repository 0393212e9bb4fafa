#include "commands/saved_report.h"

#include "absent.h"
#include "commands/build_report.h"
#include "commands/write_report.h"
#include "formats/formats_for_people.h"
#include "imports/import.h"
#include "json/json_tree.h"
#include "memory.h"
#include "safe_text.h"
#include "stream/stream.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD_BYTES = 65536 };
#define REPORT_MOST ((size_t)64 << 20) /* bytes of JSON */

/* Whether a JSON text says it is a report: {"ipf": "report", …}, or the same member further on, as after jq -S. */
static bool says_report(const char *text)
{
	static const char member[] = "\"ipf\"";
	const char *at = text + strspn(text, " \t\r\n");
	bool first = true;
	if (*at != '{')
		return false;
	const char *begin = at + 1 + strspn(at + 1, " \t\r\n");
	for (at = strstr(begin, member); at; at = strstr(at + 1, member), first = false) {
		const char *value = at + strlen(member);
		value += strspn(value, " \t\r\n:");
		if (strncmp(value, "\"report\"", 8) == 0)
			return true;
		if (first && at == begin) /* a stream of ours */
			return false;
	}
	return false;
}

/* Bytes read from a pipe for a look would be missing. */
static int is_one_file(const struct operands *operands, struct ipf_error *err)
{
	struct stat about;
	if (operands->count != 1 || strcmp(operands->items[0], "-") == 0)
		return 0;
	if (stat(operands->items[0], &about) < 0)
		return ipf_error_errno(err, errno, operands->items[0], "cannot open");
	return S_ISREG(about.st_mode);
}

/* The reader of results reports faults of the content better. */
static int looked(const struct ipf_error *why, struct ipf_error *err)
{
	if (why->kind != IPF_SYSTEM)
		return 0;
	*err = *why;
	return -1;
}

static int too_long(const char *path, size_t most, struct ipf_error *err)
{
	return ipf_error_at(err, IPF_INPUT, path, 0,
	                    "expected a JSON report of at most %zu MiB; --max-line allows longer ones", most >> 20);
}

static size_t report_most(void)
{
	return stream_line_limit() ? stream_line_limit() : REPORT_MOST;
}

/* The whole text of a report; an empty one: it is none. */
static int read_text(const char *path, struct buffer *text, struct ipf_error *err)
{
	const size_t most = report_most();
	struct stream_reader *input;
	struct ipf_error why = {0};
	struct slice part;
	int got = 0;
	if (stream_reader_open_input(&input, path, &why) < 0)
		return looked(&why, err);
	if (stream_reader_peek(input, HEAD_BYTES, &part, &why) == 0) {
		buffer_slice(text, part);
		bool report = text->len > 0 && says_report(text->data);
		buffer_clear(text);
		while (report && text->len <= most && (got = stream_reader_text(input, &part, err)) == 1)
			buffer_slice(text, part);
		if (text->len > most)
			got = too_long(path, most, err);
	} else {
		got = looked(&why, err);
	}
	stream_reader_close(input);
	return text->failed ? ipf_error_memory(err) : got;
}

int saved_report_read(const struct operands *operands, json_t **report, struct ipf_error *err)
{
	struct buffer text = {0};
	json_error_t wrong = {0};
	int found = is_one_file(operands, err);
	if (found <= 0)
		return found;
	found = read_text(operands->items[0], &text, err);
	if (found == 0 && text.len) {
		*report = json_tree_load(buffer_all(&text), report_most(), JSON_REJECT_DUPLICATES, &wrong);
		found = *report ? strcmp(words_at(*report, "ipf"), "report") == 0 : -1;
		if (found < 0)
			memory_ran_out() ? ipf_error_memory(err)
							 : ipf_error_at(err, IPF_INPUT, operands->items[0], wrong.line > 0 ? wrong.line : 0,
			                                "a cut or damaged JSON report: %s", shown(wrong.text).text);
	}
	buffer_release(&text);
	if (found <= 0) {
		json_decref(*report);
		*report = NULL;
	}
	return found;
}

/* A report has computed figures: options that compute them anew need the results. */
static int check_options(const struct report_options *o, struct ipf_error *err)
{
	const struct {
		bool given;
		const char *name;
	} computing[] = {{o->by.by != GROUPINGS, "--by"},
	                 {o->figures.percentiles.chosen, "--percentiles"},
	                 {o->meta, "--meta"},
	                 {o->plots, o->only_plots ? "plot" : "--plots"},
	                 {o->from != IMPORT_AUTOMATIC, "--from"},
	                 {o->said.any, "--as"},
	                 {o->stage, "--stage"},
	                 {o->slo.count > 0, "--slo"},
	                 {o->figures.window != WINDOW_STAGE, "--window"},
	                 {o->figures.errors_as_inf, "--errors-as-inf"},
	                 {o->figures.early_stopping, "--early-stopping"},
	                 {!isnan(o->price.per_hour), "--price"},
	                 {o->accuracy_ns != IPF_ABSENT, "--accuracy"},
	                 {o->trace, "--trace"},
	                 {o->why, "--why"},
	                 {o->certificate, "certificate"},
	                 {o->delivery.push.targets.count > 0, "--push"},
	                 {o->delivery.upload.url, "--upload"}};
	for (size_t i = 0; i < sizeof computing / sizeof *computing; i++)
		if (computing[i].given)
			return ipf_error_set(err, IPF_USAGE, "%s requires results: a saved report has only its own figures",
			                     computing[i].name);
	if (!report_formats[o->format]->sections && report_formats[o->format] != &format_json)
		return ipf_error_set(err, IPF_USAGE, "%s%s requires results: a saved report can be shown as text, html or md",
		                     report_format_option(o), report_format_names[o->format]);
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
	struct report_view view = wanted_view(options);
	struct html_plots plots = {0};
	int bad = format->drawn
	              ? draw_page_plots(json_object_get(report, "plots"), json_object_get(report, "outliers"), &plots, err)
	              : 0;
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

/* The findings of --strict in it. */
static void judge(json_t *report, struct ipf_error *invalid)
{
	const char *status = text_at(report, "verdict/status");
	json_t *objective;
	size_t i;
	if (status && strcmp(status, "INVALID") == 0)
		ipf_error_set(invalid, IPF_INVALID, "the verdict is INVALID (--strict)");
	judge_answers_strictly(json_at(report, "verdict"), invalid);
	judge_loads_strictly(json_at(report, "objectives"), invalid);
	json_array_foreach(json_at(report, "total/goodput/objectives"), i, objective)
	{
		if (json_is_false(json_at(objective, "met")))
			ipf_error_set(invalid, IPF_INVALID, "%s: missed (--strict)", shown(text_at(objective, "objective")).text);
	}
	if (figure_at(report, "accuracy/missed") > 0)
		ipf_error_set(invalid, IPF_INVALID, "--accuracy: missed (--strict)");
}

int saved_report_show(json_t *report, const char *path, const struct report_options *options, struct ipf_error *err)
{
	struct report_output to = {.path = options->common.output};
	struct buffer out = {0};
	struct ipf_error invalid = {0};
	if (check_options(options, err) < 0)
		return -1;
	if (!json_is_object(json_object_get(report, "total")) || !text_at(report, "verdict/status"))
		return ipf_error_at(err, IPF_INPUT, path, 0, "a JSON report without a verdict and a total");
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

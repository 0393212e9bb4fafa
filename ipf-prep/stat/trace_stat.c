#include "stat/trace_stat.h"

#include "cli/gnuplot.h"
#include "cli/options.h"
#include "cli/text_output.h"
#include "json/jout.h"
#include "memory.h"
#include "safe_text.h"
#include "stat/trace_compare.h"
#include "stat/trace_plot.h"
#include "stat/trace_summary.h"
#include "stream/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum stat_format { FORMAT_TEXT, FORMAT_JSON };

struct stat_options {
	struct common_options common;
	enum stat_format format;
	const char *plot;    /* file; or NULL */
	const char *against; /* the same */
};

static const char *const format_names[] = {[FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", NULL};

static const struct option_spec specs[] = {
	OPTION_CHOICE_OF('f', "format", "text|json", struct stat_options, format, format_names,
                     "write a summary for people (default), or one JSON object"),
	OPTION(OPTION_FILE, 0, "against", "FILE", struct stat_options, against,
           "compare with FILE, a trace or a model of ipf-prep fit: arrivals, lengths, sessions, prefix cache hits"),
	OPTION_UNSHAPING(OPTION_OUTPUT, 0, "plot", "FILE", struct stat_options, plot,
                     "draw plots to FILE as well, .png or .svg (requires gnuplot)"),
	OPTION_UNSHAPING(OPTION_OUTPUT, 'o', "output", "FILE", struct stat_options, common.output,
                     "write to FILE (default: standard output)"),
	INPUT_LIMITS(struct stat_options, common),
	{.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"},
};
static const struct program stat_program = {
	.name = "ipf-prep stat",
	.operands = "[TRACE]",
	.summary = "summarize a request trace: arrivals, lengths, sessions, shared prefixes",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 0,
	.max_operands = 1,
	.manual = "man ipf-prep; overview: man ipf",
};

/* ---- output ---- */

static const char *number(const json_t *value, char text[32])
{
	double v = json_number_value(value);
	if (json_is_integer(value))
		snprintf(text, 32, "%lld", (long long)json_integer_value(value));
	else
		snprintf(text, 32, fabs(v) >= 1 || v == 0 ? "%.3f" : "%.4g", v);
	return text;
}

static void show_distribution(FILE *to, const char *name, json_t *d)
{
	static const char *const keys[] = {"mean", "p50", "p90", "p99", "max"};
	if (!d)
		return;
	fprintf(to, "%-14s", shown(name).text);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		char text[32];
		json_t *value = json_object_get(d, keys[i]);
		if (i == 0)
			snprintf(text, sizeof text, "%.*f", json_number_value(value) < 10 ? 3 : 1, json_number_value(value));
		fprintf(to, "%s %s %s", i ? "," : "", keys[i], i ? number(value, text) : text);
	}
	fputc('\n', to);
}

static void show_numbers(FILE *to, const char *name, json_t *map)
{
	const char *key, *comma = "";
	json_t *value;
	if (!map)
		return;
	fprintf(to, "%-14s", shown(name).text);
	json_object_foreach(map, key, value)
	{
		char text[32];
		if (json_is_object(value))
			continue;
		fprintf(to, "%s %s %s", comma, shown(key).text,
		        json_is_string(value) ? shown(json_string_value(value)).text : number(value, text));
		comma = ",";
	}
	fputc('\n', to);
}

static void show_counting(json_t *tokens, FILE *to)
{
	const char *by = json_string_value(json_object_get(tokens, "by"));
	json_t *tokenizer = json_object_get(tokens, "tokenizer");
	const char *name = json_string_value(json_object_get(tokenizer, "name")),
			   *rule = json_string_value(json_object_get(tokenizer, "rule")),
			   *source = json_string_value(json_object_get(tokens, "source"));
	if (!by)
		return;
	fprintf(to, "%-14s ", "tokens");
	if (strcmp(by, "tokenizer") == 0)
		fprintf(to, "counted by %s\n", shown(name ? name : "a tokenizer").text);
	else if (strcmp(by, "estimate") == 0)
		fprintf(to, "estimated, %s: no tokenizer counted them\n", shown(rule ? rule : "approximately").text);
	else if (strcmp(by, "unknown") == 0)
		fputs("their tokenizer is not known\n", to);
	else
		fprintf(to, "%s %s; text by %s\n", strcmp(by, "drawn") == 0 ? "drawn by" : "recorded in the data,",
		        shown(source ? source : "of lengths").text,
		        shown(rule   ? rule
		              : name ? name
		                     : "an unknown tokenizer")
		            .text);
}

/* Parts of the data missing from the trace, a line each: `name` is that of the member with the text. */
static void show_missing(FILE *to, const char *title, json_t *list, const char *name)
{
	size_t i;
	json_t *one;
	json_array_foreach(list, i, one)
	{
		char count[32], of[32], line[32];
		const json_t *first = json_object_get(one, "line");
		fprintf(to, "%-14s %s: %s of %s records of %s", title,
		        shown(json_string_value(json_object_get(one, name))).text,
		        number(json_object_get(one, "records"), count), number(json_object_get(one, "of"), of),
		        shown(json_string_value(json_object_get(one, "file"))).text);
		if (first)
			fprintf(to, ", first at line %s", number(first, line));
		fputc('\n', to);
	}
}

static void show(json_t *figures, FILE *to)
{
	char text[32];
	json_t *sessions = json_object_get(figures, "sessions"), *failed = json_object_get(figures, "failed");
	fprintf(to, "%-14s %s", "requests", number(json_object_get(figures, "requests"), text));
	if (failed)
		fprintf(to, ", %s of them failed when recorded", number(failed, text));
	json_t *queries = json_object_get(figures, "queries");
	if (queries)
		fprintf(to, ", %s with a query", number(queries, text));
	fputc('\n', to);
	show_numbers(to, "canaries", json_object_get(figures, "canaries"));
	show_numbers(to, "arrivals", json_object_get(figures, "arrivals"));
	show_counting(json_object_get(figures, "tokens"), to);
	show_distribution(to, "input tokens", json_object_get(figures, "input_tokens"));
	show_distribution(to, "output tokens", json_object_get(figures, "output_tokens"));
	show_numbers(to, "media", json_object_get(figures, "media"));
	show_distribution(to, "inputs", json_object_get(figures, "inputs"));
	show_distribution(to, "hung up, s", json_object_get(figures, "hang_up_s"));
	show_numbers(to, "sessions", sessions);
	show_distribution(to, "  turns", json_object_get(sessions, "turns"));
	show_distribution(to, "  wait s", json_object_get(sessions, "wait_s"));
	const char *tag;
	json_t *tag_figures;
	json_object_foreach(json_object_get(figures, "tags"), tag, tag_figures) show_distribution(to, tag, tag_figures);
	show_numbers(to, "prefixes", json_object_get(figures, "sharing"));
	show_numbers(to, "models", json_object_get(figures, "models"));
	show_missing(to, "left out", json_object_get(figures, "left_out_of"), "why");
	show_missing(to, "not used", json_object_get(figures, "unread"), "member");
}

/* A comparison, or if it is NULL the figures of a trace; `figures` becomes the JSON. */
static int write_figures(json_t *figures, const struct stat_options *o, const struct comparison *compared,
                         struct ipf_error *err)
{
	struct text_output out;
	struct buffer line = {0};
	if (text_output_open(&out, o->common.output, err) < 0)
		return -1;
	if (o->format == FORMAT_JSON) {
		struct jout w = {.out = &line};
		jout_json(&w, figures);
		buffer_byte(&line, '\n');
		fwrite(line.data, 1, line.len, out.to);
		if (line.failed)
			ipf_error_memory(err);
	} else if (compared) {
		comparison_show(compared, out.to);
	} else {
		show(figures, out.to);
	}
	buffer_release(&line);
	return text_output_close(&out, err) < 0 || err->kind ? -1 : 0;
}

static int is_drawn(int drawn, const char *path)
{
	if (drawn == 0)
		fprintf(stderr, "ipf-prep: gnuplot is not installed: %s is not drawn\n", shown(path).text);
	return drawn < 0 ? -1 : 0;
}

static int draw(struct trace_summary *t, const char *path, struct ipf_error *err)
{
	struct trace_plot plot = {.at = &t->at, .input = &t->input, .output = &t->output, .reuse = trace_summary_reuse(t)};
	samples_sort(&t->at);
	samples_sort(&t->input);
	samples_sort(&t->output);
	return is_drawn(trace_plot_draw(&plot, path, err), path);
}

/* Compares `path` with the file of --against. */
static int compare(const char *path, const struct stat_options *o, struct ipf_error *cut, struct ipf_error *err)
{
	struct comparison *c = calloc(1, sizeof *c);
	int status = c ? 0 : ipf_error_memory(err);
	if (status == 0 && (traffic_of(path, &c->this, cut, err) < 0 || traffic_of(o->against, &c->against, cut, err) < 0))
		status = -1;
	if (status == 0) {
		comparison_make(c);
		json_t *json = comparison_json(c);
		status = json && !memory_ran_out() ? write_figures(json, o, c, err) : ipf_error_memory(err);
		json_decref(json);
	}
	if (status == 0 && o->plot)
		status = is_drawn(comparison_draw(c, o->plot, err), o->plot);
	free(c);
	return status;
}

int trace_stat_main(int argc, char **argv)
{
	struct stat_options options = {.common = COMMON_DEFAULTS};
	struct operands operands;
	struct ipf_error err = {0}, cut = {0};
	int status;
	if (!program_start(&stat_program, argc, argv, &options, &operands, &status))
		return status;
	if (options.plot && gnuplot_check(options.plot, &err) < 0)
		return program_misuse(&stat_program, &err);
	const char *path = operands.count ? operands.items[0] : "-";
	if (options.against) {
		status = compare(path, &options, &cut, &err);
		return ipf_error_report(status < 0 ? &err : &cut, stderr, "ipf-prep");
	}
	struct trace_summary summary = {0};
	struct trace_reader *reader = NULL;
	status = trace_reader_open(&reader, path, &err);
	if (status == 0)
		status = trace_summary_read(&summary, reader, &cut, &err);
	trace_reader_close(reader);
	if (status == 0) {
		json_t *figures = trace_summary_json(&summary);
		status = figures && !memory_ran_out() ? write_figures(figures, &options, NULL, &err) : ipf_error_memory(&err);
		json_decref(figures);
	}
	if (status == 0 && options.plot)
		status = draw(&summary, options.plot, &err);
	trace_summary_release(&summary);
	return ipf_error_report(status < 0 ? &err : &cut, stderr, "ipf-prep");
}

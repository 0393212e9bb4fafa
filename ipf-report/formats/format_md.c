/* -f md: Markdown for a comment on a change, such as a pull request, or for a wiki: GitHub's and GitLab's dialect. */
#include "absent.h"
#include "formats/json_report.h"
#include "formats/md_said.h"
#include "formats/text_repeats.h"
#include "output/shell_word.h"
#include "safe_text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* A text as it is, whatever Markdown would make of it: what is not plain is a character reference, and what would
 * notify people or link issues is code. */
static void put_text(struct buffer *out, const char *text)
{
	struct buffer safe = {0};
	safe_text_append(&safe, slice_of(text));
	out->failed |= safe.failed;
	for (size_t i = 0; i < safe.len; i++) {
		unsigned char c = (unsigned char)safe.data[i];
		if (c >= 0x80 || isalnum(c) || strchr(" .,:;()%/+-='", c))
			buffer_byte(out, (char)c);
		else if (c == '@' || c == '#')
			buffer_format(out, "`%c`", c);
		else
			buffer_format(out, "&#%d;", c);
	}
	buffer_release(&safe);
}

/* A name from outside, as code. Backticks cannot quote every text inside a table: then references do. */
static void put_name(struct buffer *out, const char *name)
{
	struct buffer safe = {0};
	bool plain = true;
	if (!name || !*name)
		return;
	safe_text_append(&safe, slice_of(name));
	out->failed |= safe.failed;
	for (size_t i = 0; i < safe.len; i++)
		plain &= (unsigned char)safe.data[i] >= 0x80 || isalnum((unsigned char)safe.data[i]) ||
		         strchr(" .,:;()%/+-=_@#", safe.data[i]);
	if (plain) {
		buffer_format(out, "`%s`", safe.data ? safe.data : "");
	} else {
		buffer_text(out, "<code>");
		for (size_t i = 0; i < safe.len; i++)
			if ((unsigned char)safe.data[i] >= 0x80 || isalnum((unsigned char)safe.data[i]) || safe.data[i] == ' ')
				buffer_byte(out, safe.data[i]);
			else
				buffer_format(out, "&#%d;", safe.data[i]);
		buffer_text(out, "</code>");
	}
	buffer_release(&safe);
}

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static void put_cell_text(struct buffer *out, const char *text)
{
	buffer_text(out, " ");
	put_text(out, text);
	buffer_text(out, " |");
}

static void put_cell_name(struct buffer *out, const char *name)
{
	buffer_text(out, " ");
	put_name(out, name);
	buffer_text(out, " |");
}

/* Four significant digits; the JSON has all. A dash for what does not exist. */
static void put_cell(struct buffer *out, json_t *value)
{
	double number = json_number_value(value);
	if (json_is_integer(value))
		buffer_format(out, " %lld |", (long long)json_integer_value(value));
	else if (json_is_string(value))
		put_cell_text(out, json_string_value(value));
	else if (!json_is_number(value))
		buffer_text(out, " – |");
	else if (fabs(number) >= 1000 || number == round(number))
		buffer_format(out, " %.0f |", number);
	else
		buffer_format(out, " %.4g |", number);
}

static json_t *member(json_t *object, const char *const *path)
{
	for (; *path; path++)
		object = json_object_get(object, *path);
	return object;
}
#define MEMBER(object_, ...) member(object_, (const char *const[]){__VA_ARGS__, NULL})

/* From the due time if there is one. */
static json_t *latency(json_t *block, const char *name)
{
	json_t *both = MEMBER(block, "latency", name), *due = json_object_get(both, "from_due");
	json_t *start = json_object_get(both, "from_start");
	return due ? due : start ? start : both;
}

/* Whose figures and whose definitions these are, if not ours. */
static void put_imported(struct buffer *out, json_t *imported)
{
	if (!imported)
		return;
	buffer_text(out, strcmp(text_of(imported, "has"), "figures") == 0 ? "Figures as stated by " : "From requests of ");
	put_text(out, text_of(imported, "tool"));
	if (*text_of(imported, "version")) {
		buffer_byte(out, ' ');
		put_text(out, text_of(imported, "version"));
	}
	buffer_text(out, ", with its definitions.\n\n");
}

/* Those that ipf-collect --definition applied. */
static void put_definition(struct buffer *out, json_t *definition)
{
	if (!*text_of(definition, "tool"))
		return;
	buffer_text(out, "By the definitions of ");
	put_text(out, text_of(definition, "tool"));
	buffer_byte(out, ' ');
	put_text(out, text_of(definition, "version"));
	buffer_text(out, ".\n\n");
}

static void put_verdict(struct buffer *out, json_t *report)
{
	json_t *verdict = json_object_get(report, "verdict"), *check;
	json_t *run = json_object_get(report, "run"), *reason;
	const char *name = text_of(run, "name");
	size_t i;
	buffer_text(out, "## ");
	put_name(out, *name ? name : text_of(run, "model"));
	buffer_format(out, "%sverdict %s\n\n", *name || *text_of(run, "model") ? ": " : "", text_of(verdict, "status"));
	json_array_foreach(json_object_get(run, "incomplete"), i, reason)
	{
		buffer_text(out, "**Incomplete**: ");
		put_text(out, json_string_value(reason));
		buffer_text(out, "\n\n");
	}
	put_imported(out, json_object_get(run, "imported"));
	put_definition(out, json_object_get(run, "definition"));
	buffer_text(out, "| question | answer | detail |\n| --- | --- | --- |\n");
	json_array_foreach(json_object_get(verdict, "checks"), i, check)
	{
		char question[40];
		snprintf(question, sizeof question, "%s", text_of(check, "name"));
		for (char *c = question; *c; c++)
			*c = *c == '_' ? ' ' : *c;
		buffer_text(out, "|");
		put_cell_text(out, question);
		put_cell_text(out, text_of(check, "status"));
		put_cell_text(out, text_of(check, "detail"));
		buffer_byte(out, '\n');
	}
	buffer_byte(out, '\n');
}

static void put_stage(struct buffer *out, json_t *block, bool measured)
{
	buffer_text(out, measured ? "|" : "| (not measured)");
	put_cell_name(out, text_of(block, "name"));
	put_cell(out, MEMBER(block, "rate", "offered"));
	put_cell(out, MEMBER(block, "rate", "completed"));
	put_cell(out, MEMBER(block, "throughput", "output_tokens_per_s"));
	put_cell(out, json_object_get(latency(block, "ttft_ms"), "p50"));
	put_cell(out, json_object_get(latency(block, "ttft_ms"), "p99"));
	put_cell(out, MEMBER(block, "latency", "tpot_ms", "p50"));
	put_cell(out, MEMBER(block, "latency", "tpot_ms", "p99"));
	put_cell(out, json_object_get(latency(block, "e2e_ms"), "p99"));
	put_cell(out, MEMBER(block, "requests", "ok"));
	put_cell(out, MEMBER(block, "requests", "failed"));
	buffer_byte(out, '\n');
}

/* The head of a table of put_stage. */
static void put_stage_head(struct buffer *out, const char *title, const char *what)
{
	buffer_format(out,
	              "### %c%s\n\n| %s | offered/s | completed/s | output tokens/s | TTFT p50 | TTFT p99 | TPOT p50 | "
	              "TPOT p99 | E2E p99 | ok | failed |\n| --- |",
	              toupper((unsigned char)*title), title + 1, what);
	for (int i = 0; i < 10; i++)
		buffer_text(out, " ---: |");
	buffer_byte(out, '\n');
}

static void put_stages(struct buffer *out, json_t *report)
{
	json_t *stage;
	size_t i;
	put_stage_head(out, "Stages", "stage");
	json_array_foreach(json_object_get(report, "stages"), i, stage)
		put_stage(out, stage, json_is_true(json_object_get(stage, "measured")));
	put_stage(out, json_object_get(report, "total"), true);
	buffer_text(out,
	            "\nLatencies in ms; TTFT and E2E from the due time if there is one. The total is that of the measured "
	            "stages.\n\n");
}

/* The groups that --by chose, of all measured stages. */
static void put_groups(struct buffer *out, json_t *report, enum grouping by)
{
	json_t *total = json_object_get(report, "total"), *groups, *group;
	const char *name;
	char key[32];
	size_t shown = 0;
	snprintf(key, sizeof key, "by_%s", groupings[by]);
	groups = json_object_get(total, key);
	const size_t all = json_object_size(groups) + (size_t)json_integer_value(json_object_get(total, "groups_left_out"));
	if (json_object_size(groups) == 0)
		return;
	for (char *c = key; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	put_stage_head(out, key, key + strlen("by "));
	json_object_foreach(groups, name, group)
	{
		if (shown == GROUPS_SHOWN)
			break;
		put_stage(out, group, true);
		shown++;
	}
	if (shown < all)
		buffer_format(out, "\nThe first %zu of %zu; `-f json` and `-f csv` have more.\n", shown, all);
	buffer_byte(out, '\n');
}

static void put_distribution(struct buffer *out, const char *label, json_t *d)
{
	static const char *const columns[] = {"mean", "min", "p50", "p90", "p99", "max", "n"};
	if (!json_object_size(d))
		return;
	buffer_format(out, "| %s |", label);
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		put_cell(out, json_object_get(d, columns[i]));
	buffer_byte(out, '\n');
}

static void put_distributions(struct buffer *out, json_t *report)
{
	json_t *total = json_object_get(report, "total"), *all = json_object_get(total, "latency"), *value;
	const char *key;
	char label[64];
	buffer_text(
		out,
		"<details><summary>Latencies and tokens of the measured stages</summary>\n\n"
		"| | mean | min | p50 | p90 | p99 | max | n |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
	json_object_foreach(all, key, value)
	{
		json_t *start = json_object_get(value, "from_start"), *due = json_object_get(value, "from_due");
		snprintf(label, sizeof label, "%.30s%s", key, start ? " from start" : "");
		put_distribution(out, label, start ? start : value);
		snprintf(label, sizeof label, "%.30s from due", key);
		put_distribution(out, label, due);
	}
	put_distribution(out, "lag_ms", json_object_get(total, "lag_ms"));
	put_distribution(out, "input tokens", MEMBER(total, "tokens", "input"));
	put_distribution(out, "output tokens", MEMBER(total, "tokens", "output"));
	buffer_text(out, "\n</details>\n\n");
}

static void put_width(struct buffer *out, double value)
{
	json_t *number = isfinite(value) ? json_real(value) : NULL;
	put_cell(out, number);
	json_decref(number);
}

static void put_accuracy(struct buffer *out, const struct report *report)
{
	const struct run_accuracy *a = report->accuracy;
	if (!a->known)
		return;
	buffer_text(out, "<details><summary>Error of the client, ms</summary>\n\n"
	                 "| ± | mean | p50 | p90 | p99 | max |\n| --- | ---: | ---: | ---: | ---: | ---: |\n");
	for (enum bar bar = 0; bar < ERROR_BARS; bar++) {
		const struct bar_spec *spec = &bar_specs[bar];
		const struct metric_summary w = bar_widths(&a->total.bars[bar], bar_summary(&report->figures->total, bar));
		const double figures[] = {w.mean, w.median, w.p90, w.p99, w.max};
		if (w.n == 0)
			continue;
		buffer_format(out, "| %s%s |", spec->json,
		              !spec->version                           ? ""
		              : strcmp(spec->version, "from_due") == 0 ? " from due"
		                                                       : " from start");
		for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
			put_width(out, figures[i]);
		buffer_byte(out, '\n');
	}
	buffer_text(out, "\n</details>\n\n");
}

/* How much the runs differ, if there are several. */
static void put_repeats(struct buffer *out, const struct report *report)
{
	const struct repeats *r = &report->analyses->repeats;
	char text[REPEATS_WORDS], a[40];
	if (r->count == 0)
		return;
	buffer_format(out, "### Repeats: %s\n\n", repeats_title(r, text));
	buffer_text(out, "| figure | mean | 95 % interval | lowest | highest |\n| --- | ---: | ---: | ---: | ---: |\n");
	for (size_t i = 0; i < r->count; i++) {
		const struct repeated_figure *f = &r->figures[i];
		const double values[] = {f->mean, f->low, f->high, f->of_runs[f->least], f->of_runs[f->most]};
		static const char *const after[] = {" | ", " to ", " | ", " | ", " |\n"};
		buffer_format(out, "| %s%s%s | ", f->label, *f->unit ? ", " : "", f->unit);
		for (size_t k = 0; k < sizeof values / sizeof *values; k++)
			buffer_format(out, "%s%s", repeats_value(f, values[k], a), after[k]);
	}
	buffer_byte(out, '\n');
	for (int k = 0; k < r->runs; k++)
		if (repeats_outliers(report, k, text)) {
			buffer_text(out, "- outlier: ");
			put_text(out, text);
			buffer_byte(out, '\n');
		}
	buffer_byte(out, '\n');
}

static void put_objectives(struct buffer *out, json_t *report)
{
	json_t *goodput = MEMBER(report, "total", "goodput"), *list = json_object_get(goodput, "objectives"), *one;
	size_t i;
	if (!json_array_size(list))
		return;
	buffer_text(
		out,
		"### Objectives\n\n| objective | value, ms | share of the requests | met |\n| --- | ---: | ---: | --- |\n");
	json_array_foreach(list, i, one)
	{
		json_t *met = json_object_get(one, "met");
		buffer_text(out, "|");
		put_cell_name(out, text_of(one, "objective"));
		put_cell(out, json_object_get(one, "value_ms"));
		put_cell(out, json_object_get(one, "share"));
		buffer_text(out, json_is_true(met) ? " yes |\n" : met ? " **no** |\n" : " |\n");
	}
	if (json_object_get(goodput, "share"))
		buffer_format(out, "\nGoodput: %.4g requests per second, %.4g %% of the requests.\n",
		              json_number_value(json_object_get(goodput, "requests_per_s")),
		              100 * json_number_value(json_object_get(goodput, "share")));
	buffer_byte(out, '\n');
}

static void put_errors(struct buffer *out, json_t *report)
{
	json_t *list = json_object_get(report, "errors"), *one;
	size_t i;
	if (!json_array_size(list))
		return;
	buffer_text(out,
	            "### Errors\n\n| requests | kind | status | message | hint |\n| ---: | --- | ---: | --- | --- |\n");
	json_array_foreach(list, i, one)
	{
		buffer_text(out, "|");
		put_cell(out, json_object_get(one, "count"));
		put_cell_name(out, text_of(one, "kind"));
		put_cell(out, json_object_get(one, "status"));
		put_cell_name(out, text_of(one, "text"));
		put_cell_text(out, text_of(one, "hint"));
		buffer_byte(out, '\n');
	}
	buffer_byte(out, '\n');
}

static void put_entry(struct buffer *out, const char *label, const char *value)
{
	if (!value || !*value)
		return;
	buffer_format(out, "| %s |", label);
	put_cell_name(out, value);
	buffer_byte(out, '\n');
}

/* The commands that made a stream, those of its inputs first: each line is code by its indent, which no text ends. */
static void put_commands(struct buffer *out, json_t *header, int depth)
{
	json_t *entry, *argument;
	const char *tool = text_of(header, "tool");
	size_t i;
	json_array_foreach(json_object_get(header, "from"), i, entry)
	{
		if (depth < 8)
			put_commands(out, entry, depth + 1);
	}
	if (!*tool || !json_is_array(json_object_get(header, "argv")))
		return;
	struct buffer name = {0};
	safe_text_append(&name, (struct slice){tool, strcspn(tool, " ")});
	buffer_format(out, "    %s", name.data ? name.data : "");
	buffer_release(&name);
	json_array_foreach(json_object_get(header, "argv"), i, argument)
	{
		buffer_byte(out, ' ');
		shell_word(out, json_string_value(argument) ? json_string_value(argument) : "");
	}
	buffer_byte(out, '\n');
}

static void put_run(struct buffer *out, json_t *report)
{
	json_t *run = json_object_get(report, "run"), *header, *value;
	const char *key;
	size_t i;
	char label[80];
	buffer_text(out, "<details><summary>How it was measured, and how to repeat it</summary>\n\n| | |\n| --- | --- |\n");
	put_entry(out, "started", text_of(run, "started"));
	put_entry(out, "target", text_of(run, "target"));
	put_entry(out, "API", text_of(run, "api"));
	put_entry(out, "model", text_of(run, "model"));
	put_entry(out, "schedule", text_of(run, "schedule"));
	put_entry(out, "trace", text_of(json_object_get(run, "trace"), "sha256"));
	put_entry(out, "host", text_of(json_object_get(run, "host"), "name"));
	put_entry(out, "results", text_of(run, "digest"));
	json_object_foreach(json_object_get(run, "meta"), key, value)
	{
		snprintf(label, sizeof label, "`%s`", key);
		put_entry(out, label, json_string_value(value));
	}
	json_object_foreach(json_object_get(run, "versions"), key, value)
	{
		buffer_text(out, "|");
		put_cell_name(out, key);
		put_cell_name(out, json_string_value(value));
		buffer_byte(out, '\n');
	}
	buffer_byte(out, '\n');
	json_array_foreach(json_object_get(run, "headers"), i, header) put_commands(out, header, 0);
	buffer_text(out, "\n</details>\n");
}

static void render_md(const struct report *report, struct buffer *out)
{
	json_t *json = report_json(report);
	put_verdict(out, json);
	put_stages(out, json);
	for (enum grouping by = 0; by < GROUPINGS; by++)
		put_groups(out, json, by);
	put_repeats(out, report);
	put_objectives(out, json);
	put_errors(out, json);
	put_distributions(out, json);
	put_accuracy(out, report);
	md_said(out, report);
	put_run(out, json);
	json_decref(json);
}

const struct report_format format_md = {.render = render_md, .groups = true};

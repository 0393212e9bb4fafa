/* Writes a JSON Schema at build time, from the tables the programs read, write and show by, and from the lines for
 * everything that no table knows (schemas/members.h):
 *
 *     write_schema report common.members report.members > report.schema.json
 *
 * A table is lines of members like the others: a type with the members of the table, or with its texts.
 */
#include "analysis/saturation.h"
#include "analysis/session_figures.h"
#include "catalogue/catalogue.h"
#include "catalogue/figure_list.h"
#include "figures/attainment.h"
#include "schemas/members.h"
#include "memory.h"
#include "other_tools/tool_rules.h"
#include "results/run_data.h"
#include "sections/why_picture.h"
#include "stream/fields.h"
#include "stream/record.h"
#include "verdict/verdict.h"
#include "whole_file.h"
#include "workload/fidelity.h"

#include <string.h>

static struct buffer lines;

/* ---- tables of texts ---- */

static void put_text(const char *text)
{
	if (text)
		buffer_format(&lines, "%s\"%s\"", lines.data[lines.len - 1] == ' ' ? "" : "|", text);
}

static void put_texts(void)
{
	static const struct {
		const char *type;
		const char *const *texts;
		int count; /* 0: NULL ends them */
	} tables[] = {
		{"counted_error", verdict_kinds, VERDICT_KINDS},
		{"fidelity_cause", fidelity_cause_names, FIDELITY_CAUSES},
		{"not_streamed", result_not_streamed_names, RESULT_NOT_STREAMED_COUNT},
		{"objective_state", objective_state_names, OBJECTIVE_TOO_FEW + 1},
		{"output_check", result_output_names, OUTPUT_COUNT},
		{"request_error", verdict_kinds, VERDICT_OTHER},
		{"result_doubt", result_doubt_names + 1, RESULT_DOUBTS - 1},
		{"saturation_status", saturation_status_names + 1, 3},
		{"session_part", session_part_names, SESSION_PARTS},
		{"tool", tool_names, 0},
		{"verdict_question", verdict_question_names, VERDICT_NAMES},
	};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		buffer_format(&lines, "$%s ", tables[i].type);
		for (int k = 0; tables[i].count ? k < tables[i].count : tables[i].texts[k] != NULL; k++)
			put_text(tables[i].texts[k]);
		buffer_byte(&lines, '\n');
	}
	buffer_text(&lines, "$why_part ");
	for (int i = 0; i < WHY_WORDS; i++)
		put_text(why_words[i].part);
	buffer_text(&lines, "\n$compared_figure ");
	for (int i = 0; i < COMPARED_FIGURES; i++)
		put_text(compared_figures[i].name);
	buffer_text(&lines, "\n$record_error ");
	for (enum record_error e = RECORD_CONNECT; record_error_name(e); e++)
		put_text(record_error_name(e));
	buffer_byte(&lines, '\n');
}

/* ---- tables of members ---- */

static void put_fields(const char *type, struct field_table table)
{
	static const char *const types[] = {
		[FIELD_INT] = "integer", [FIELD_UINT] = "count",        [FIELD_TOKENS] = "count", [FIELD_BOOL] = "boolean",
		[FIELD_TEXT] = "text",   [FIELD_NAME] = "text",         [FIELD_LIST] = "array",   [FIELD_INTEGERS] = "count[]",
		[FIELD_MAP] = "object",  [FIELD_TAGS] = "object/array",
	};
	buffer_format(&lines, "$%s object\n", type);
	for (const struct field *f = table.fields; f < table.fields + table.count; f++)
		buffer_format(&lines, "  %s%s %s\n", f->name, f->required ? "!" : "", types[f->type]);
}

/* The type of a figure of a block. Those with a shape of their own are types with their names. */
static const char *type_of(const struct catalogue_figure *figure, const char *name)
{
	static const char *const types[] = {
		[KIND_TEXT] = "text",       [KIND_FLAG] = "boolean",  [KIND_COUNT] = "count",
		[KIND_NUMBER] = "figure",   [KIND_RATE] = "figure",   [KIND_SHARE] = "share",
		[KIND_DURATION] = "figure", [KIND_COUNTS] = "object", [KIND_DISTRIBUTION] = "distribution",
	};
	bool own = figure->kind == KIND_GROUP || figure->kind == KIND_LIST;
	return own ? name : figure->positive ? "integer:1.." : figure->due ? "object" : types[figure->kind];
}

static void put_figure(const struct catalogue_figure *figure, const char *indent, const char *name)
{
	buffer_format(&lines, "%s%s %s\n", indent, name, type_of(figure, name));
	if (figure->due)
		buffer_format(&lines, "%s  from_start distribution\n%s  from_due distribution\n", indent, indent);
	for (int i = 0; i < figure->name_count; i++)
		if (figure->names[i])
			buffer_format(&lines, "%s  %s integer:1..\n", indent, figure->names[i]);
}

/* Figures of a group follow each other. */
static void put_figures(void)
{
	const char *group = "";
	buffer_text(&lines, "$figures object\n");
	for (const struct catalogue_figure *f = catalogue; f < catalogue + catalogue_count; f++) {
		size_t len = strcspn(f->path, "/");
		bool within = f->path[len] == '/';
		if (within && (strncmp(group, f->path, len + 1) != 0))
			buffer_format(&lines, "  %.*s object\n", (int)len, f->path);
		put_figure(f, within ? "    " : "  ", within ? f->path + len + 1 : f->path);
		group = f->path;
	}
	for (int i = 0; i < GROUPINGS; i++)
		buffer_format(&lines, "  by_%s block{}\n", groupings[i]);
}

static void put_tables(void)
{
	put_texts();
	put_fields("trace_fields", trace_fields);
	put_fields("schedule_fields", schedule_fields);
	put_fields("record_fields", record_fields);
	put_fields("record_connection_fields", record_connection_fields);
	put_fields("record_attempt_fields", record_attempt_fields);
	put_fields("result_fields", result_fields);
	put_fields("result_error_fields", result_error_fields);
	put_figures();
	buffer_byte(&lines, '\0');
}

static int read_file(json_t *types, const char *path, struct ipf_error *err)
{
	buffer_clear(&lines);
	if (whole_file_read(path, (struct whole_file){"lines of members", (size_t)1 << 20}, &lines, err) < 0)
		return -1;
	return members_read(types, path, lines.data, err);
}

int main(int argc, char **argv)
{
	struct ipf_error err = {0};
	json_set_alloc_funcs(memory_allocate, memory_free);
	json_t *types = json_object(), *schema = NULL;
	put_tables();
	int status = lines.failed ? -1 : members_read(types, "tables", lines.data, &err);
	for (int i = 2; i < argc && status == 0; i++)
		status = read_file(types, argv[i], &err);
	if (status == 0 && argc > 2)
		schema = members_schema(types, argv[1], &err);
	status = !schema || json_dumpf(schema, stdout, JSON_INDENT(1)) < 0 || putchar('\n') < 0 || fflush(stdout) != 0;
	json_decref(schema);
	json_decref(types);
	buffer_release(&lines);
	return status ? ipf_error_report(&err, stderr, "write_schema") | 1 : 0;
}

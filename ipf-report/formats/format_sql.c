/* -f sql: a run as statements for SQLite and PostgreSQL; ipf-exports(5) describes the tables. All of it is one
 * transaction. The rows of an earlier import of the same run are deleted first, so a run is there once. */
#include "absent.h"
#include "formats/report_format.h"
#include "formats/request_columns.h"
#include "formats/sql_writer.h"
#include "json_report/json_path.h"
#include "json_report/json_report.h"
#include "version.h"

#include <math.h>
#include <string.h>

/* The values of most tables are members of the JSON report. `from` is the path of one, or: */
#define RUN    "="  /* the digest of the run */
#define NUMBER "#"  /* the number of the row, from 0 */
#define BEGAN  "t0" /* the beginning of the run */
#define AT     "t"  /* the beginning of the run + t_s */

#define COLUMN(name_, type_, from_, note_)                                                                             \
	{                                                                                                                  \
		.name = name_, .type = SQL_##type_, .note = note_, .from = from_                                               \
	}
#define RUN_COLUMN COLUMN("run", TEXT, RUN, NULL)

static const struct sql_column run_columns[] = {
	COLUMN("run", TEXT, RUN, "SHA-256 of the results"),
	COLUMN("name", TEXT, "run/name", NULL),
	COLUMN("started", TIME, BEGAN, NULL),
	COLUMN("duration_s", REAL, "run/duration_s", "seconds"),
	COLUMN("verdict", TEXT, "verdict/status", "OK, DOUBTFUL, INVALID or UNKNOWN"),
	COLUMN("predicted", TEXT, "run/predicted/by", "by this twin; null: measured"),
	COLUMN("incomplete", TEXT, "run/incomplete", "why a part is missing"),
	COLUMN("target", TEXT, "run/target", NULL),
	COLUMN("api", TEXT, "run/api", NULL),
	COLUMN("model", TEXT, "run/model", NULL),
	COLUMN("tokenizer", TEXT, "run/tokenizer/name", NULL),
	COLUMN("itl", TEXT, "run/itl", "gap, token or request"),
	COLUMN("seed", TEXT, "run/seed", NULL),
	COLUMN("schedule", TEXT, "run/schedule", NULL),
	COLUMN("trace", TEXT, "run/trace/sha256", "SHA-256 of the trace"),
	COLUMN("host", TEXT, "run/host/name", NULL),
	COLUMN("version", TEXT, "run/versions/ipf-report", "of ipf-report"),
};
static const struct sql_column meta_columns[] = {
	RUN_COLUMN,
	COLUMN("key", TEXT, NULL, NULL),
	COLUMN("value", TEXT, NULL, NULL),
};
static const struct sql_column check_columns[] = {
	RUN_COLUMN,
	COLUMN("name", TEXT, "name", NULL),
	COLUMN("status", TEXT, "status", "OK, DOUBTFUL, INVALID, UNKNOWN or N/A"),
	COLUMN("detail", TEXT, "detail", NULL),
};
static const struct sql_column stage_columns[] = {
	RUN_COLUMN,
	COLUMN("stage", INTEGER, NUMBER, "from 0; the last one is the total of the measured stages"),
	COLUMN("total", BOOLEAN, NULL, NULL),
	COLUMN("name", TEXT, "name", NULL),
	COLUMN("kind", TEXT, "kind", NULL),
	COLUMN("measured", BOOLEAN, "measured", NULL),
	COLUMN("window_s", REAL, "window_s", "seconds that the rates refer to"),
};
static const struct sql_column metric_columns[] = {
	RUN_COLUMN,
	COLUMN("stage", INTEGER, NULL, NULL),
	COLUMN("grouped_by", TEXT, NULL, "empty for all requests; model or target"),
	COLUMN("group_name", TEXT, NULL, "empty for all requests"),
	COLUMN("name", TEXT, NULL, "as in the JSON report, such as latency.ttft_ms.from_due; the unit is its end"),
	COLUMN("statistic", TEXT, NULL, "n, mean, std, min, p1 to p99.9, max, n_eff, ci95_low, ci95_high, or value"),
	COLUMN("total", BOOLEAN, NULL, NULL),
	COLUMN("value", REAL, NULL, NULL),
};
static const struct sql_column objective_columns[] = {
	RUN_COLUMN,
	COLUMN("stage", INTEGER, NULL, NULL),
	COLUMN("grouped_by", TEXT, NULL, NULL),
	COLUMN("group_name", TEXT, NULL, NULL),
	COLUMN("objective", TEXT, "objective", NULL),
	COLUMN("total", BOOLEAN, NULL, NULL),
	COLUMN("limit_ms", REAL, "limit_ms", "milliseconds"),
	COLUMN("share", REAL, "share", "of the requests that meet it, 0 to 1"),
	COLUMN("value_ms", REAL, "value_ms", "milliseconds: the percentile that it limits"),
	COLUMN("met", BOOLEAN, "met", NULL),
	COLUMN("unmeasured", INTEGER, "unmeasured", "requests"),
	COLUMN("absent", INTEGER, "absent", "successful requests that have no such latency"),
};
static const struct sql_column error_columns[] = {
	RUN_COLUMN,
	COLUMN("number", INTEGER, NUMBER, "the most frequent one is 0"),
	COLUMN("kind", TEXT, "kind", NULL),
	COLUMN("status", INTEGER, "status", "of HTTP"),
	COLUMN("requests", INTEGER, "count", NULL),
	COLUMN("message", TEXT, "text", NULL),
	COLUMN("hint", TEXT, "hint", NULL),
};
#define LATENCY_COLUMNS(name_)                                                                                         \
	COLUMN(name_ "_n", INTEGER, name_ "/n", NULL), COLUMN(name_ "_p50", REAL, name_ "/p50", "milliseconds"),           \
		COLUMN(name_ "_p99", REAL, name_ "/p99", "milliseconds")
static const struct sql_column window_columns[] = {
	RUN_COLUMN,
	COLUMN("t_s", REAL, "t_s", "seconds from the start of the run"),
	COLUMN("at", TIME, AT, NULL),
	COLUMN("every_s", REAL, NULL, "seconds, its length"),
	COLUMN("scheduled", INTEGER, "scheduled", "requests that were due"),
	COLUMN("started", INTEGER, "started", "requests"),
	COLUMN("ok", INTEGER, "ok", "requests that ended well"),
	COLUMN("failed", INTEGER, "failed", "requests"),
	COLUMN("hung_up", INTEGER, "hung_up", "requests"),
	COLUMN("in_flight", REAL, "in_flight", "requests, mean"),
	COLUMN("waiting", REAL, "waiting", "requests for a slot or a connection, mean"),
	COLUMN("input_tokens", INTEGER, "input_tokens", "tokens"),
	COLUMN("output_tokens", INTEGER, "output_tokens", "tokens"),
	COLUMN("failed_output_tokens", INTEGER, "failed_output_tokens", "tokens"),
	LATENCY_COLUMNS("ttft_ms"),
	LATENCY_COLUMNS("itl_ms"),
	LATENCY_COLUMNS("e2e_ms"),
	LATENCY_COLUMNS("lag_ms"),
};
static const struct sql_column source_columns[] = {
	RUN_COLUMN,
	COLUMN("source", INTEGER, NULL, "from 0"),
	COLUMN("kind", TEXT, NULL, "servers: all of them together; server or accelerator: one"),
	COLUMN("name", TEXT, NULL, "of the target or the device"),
	COLUMN("url", TEXT, "url", NULL),
	COLUMN("server", TEXT, "server", "the kind of server"),
	COLUMN("host", TEXT, "host", NULL),
	COLUMN("model", TEXT, "model", "of the accelerator"),
	COLUMN("last_error", TEXT, "last_error", NULL),
};
static const struct sql_column source_metric_columns[] = {
	RUN_COLUMN,
	COLUMN("source", INTEGER, NULL, NULL),
	COLUMN("name", TEXT, NULL, "as in the JSON report"),
	COLUMN("statistic", TEXT, NULL, "as of metrics; also p50_low and p50_high, the bounds of a bucket"),
	COLUMN("value", REAL, NULL, NULL),
};

#define TABLE(name_, columns_, key_)                                                                                   \
	{                                                                                                                  \
		.name = name_, .columns = columns_, .count = sizeof columns_ / sizeof *columns_, .key = key_                   \
	}
enum {
	RUNS,
	META,
	CHECKS,
	STAGES,
	METRICS,
	OBJECTIVES,
	ERRORS,
	WINDOWS,
	SAMPLED_SOURCES,
	SOURCE_METRICS,
	TABLES,
};
static const struct sql_table tables[TABLES] = {
	[RUNS] = TABLE("runs", run_columns, 1),
	[META] = TABLE("meta", meta_columns, 2),
	[CHECKS] = TABLE("checks", check_columns, 2),
	[STAGES] = TABLE("stages", stage_columns, 2),
	[METRICS] = TABLE("metrics", metric_columns, 6),
	[OBJECTIVES] = TABLE("objectives", objective_columns, 5),
	[ERRORS] = TABLE("errors", error_columns, 2),
	[WINDOWS] = TABLE("windows", window_columns, 2),
	[SAMPLED_SOURCES] = TABLE("sources", source_columns, 2),
	[SOURCE_METRICS] = TABLE("source_metrics", source_metric_columns, 4),
};

/* Common to the rows. */
struct sql_run {
	struct sql_writer w;
	const struct report *report;
	json_t *json; /* the report */
	struct slice id;
	int64_t t0_ns; /* IPF_ABSENT */
	/* rows of figures */
	int64_t stage;
	bool total;
	const char *grouped_by, *group_name;
};

/* A list of texts is one text. */
static void put_text(struct sql_writer *w, json_t *value)
{
	struct buffer text = {0};
	json_t *entry;
	size_t i;
	if (!value) {
		sql_null(w);
		return;
	}
	if (json_is_integer(value)) {
		buffer_format(&text, "%lld", (long long)json_integer_value(value));
	} else if (json_is_string(value)) {
		buffer_append(&text, json_string_value(value), json_string_length(value));
	} else {
		json_array_foreach(value, i, entry)
		{
			buffer_text(&text, i ? "; " : "");
			buffer_text(&text, json_string_value(entry) ? json_string_value(entry) : "");
		}
	}
	w->out->failed |= text.failed;
	sql_text(w, buffer_all(&text));
	buffer_release(&text);
}

static void put_value(struct sql_run *run, enum sql_type type, json_t *value)
{
	struct sql_writer *w = &run->w;
	if (type == SQL_TEXT)
		put_text(w, value);
	else if (type == SQL_REAL && json_is_number(value))
		sql_real(w, json_number_value(value));
	else if (type == SQL_INTEGER && json_is_integer(value))
		sql_integer(w, json_integer_value(value));
	else if (type == SQL_BOOLEAN && json_is_boolean(value))
		sql_boolean(w, json_is_true(value));
	else
		sql_null(w);
}

static void put_time(struct sql_run *run, double t_s)
{
	if (run->t0_ns == IPF_ABSENT || !(fabs(t_s) < 1e9))
		sql_null(&run->w);
	else
		sql_time(&run->w, run->t0_ns + (int64_t)(t_s * 1e9));
}

/* The columns from `first` to before `end` of a row, from an object. */
static void put_members(struct sql_run *run, const struct sql_table *table, size_t first, size_t end, json_t *object,
                        int64_t number)
{
	for (const struct sql_column *c = table->columns + first; c < table->columns + end; c++) {
		if (strcmp(c->from, RUN) == 0)
			sql_text(&run->w, run->id);
		else if (strcmp(c->from, NUMBER) == 0)
			sql_integer(&run->w, number);
		else if (strcmp(c->from, BEGAN) == 0)
			put_time(run, 0);
		else if (strcmp(c->from, AT) == 0)
			put_time(run, json_number_value(json_object_get(object, "t_s")));
		else
			put_value(run, c->type, json_at(object, c->from));
	}
}

static void put_row(struct sql_run *run, int table, json_t *object, int64_t number)
{
	sql_row(&run->w, &tables[table]);
	put_members(run, &tables[table], 0, tables[table].count, object, number);
	sql_row_end(&run->w);
}

static void put_rows(struct sql_run *run, int table, json_t *list)
{
	json_t *object;
	size_t i;
	json_array_foreach(list, i, object) put_row(run, table, object, (int64_t)i);
}

static void put_meta(struct sql_run *run)
{
	const char *key;
	json_t *value;
	json_object_foreach(json_object_get(run->report->run_info, "meta"), key, value)
	{
		sql_row(&run->w, &tables[META]);
		sql_text(&run->w, run->id);
		sql_text(&run->w, slice_of(key));
		put_text(&run->w, value);
		sql_row_end(&run->w);
	}
}

/* ---- figures ---- */

/* A figure: `name` and `statistic` are those of its row. */
typedef void put_figure(struct sql_run *run, const char *name, const char *statistic, double value);

static bool is_statistic(const char *key)
{
	static const char *const names[] = {"n", "mean", "std", "min", "max", "n_eff"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(key, names[i]) == 0)
			return true;
	return key[0] == 'p' && key[1] && key[1 + strspn(key + 1, "0123456789.")] == 0;
}

/* [low, high] of "ci95", and [value, low, high] of a quantile known as a bucket. */
static void put_bounds(struct sql_run *run, const char *name, const char *key, json_t *list, put_figure *put)
{
	static const char *const ends[] = {"", "_low", "_high"};
	size_t count = json_array_size(list);
	char statistic[80];
	json_t *value;
	size_t i;
	if (count != 2 && count != 3)
		return;
	json_array_foreach(list, i, value)
	{
		snprintf(statistic, sizeof statistic, "%s%s", key, ends[i + 3 - count]);
		if (json_is_number(value))
			put(run, name, statistic, json_number_value(value));
	}
}

static void put_figures(struct sql_run *run, const char *path, json_t *object, put_figure *put)
{
	const char *key;
	json_t *value;
	char name[320];
	json_object_foreach(object, key, value)
	{
		snprintf(name, sizeof name, "%.200s%s%.100s", path, *path ? "." : "", key);
		if (json_is_object(value) && strncmp(key, "by_", 3) != 0)
			put_figures(run, name, value, put);
		else if (json_is_array(value) && (is_statistic(key) || strcmp(key, "ci95") == 0))
			put_bounds(run, path, key, value, put);
		else if (json_is_number(value) && *path && is_statistic(key))
			put(run, path, key, json_number_value(value));
		else if (json_is_number(value))
			put(run, name, "value", json_number_value(value));
		else if (json_is_boolean(value))
			put(run, name, "value", json_is_true(value));
	}
}

static void put_group(struct sql_run *run, const struct sql_table *table)
{
	sql_row(&run->w, table);
	sql_text(&run->w, run->id);
	sql_integer(&run->w, run->stage);
	sql_text(&run->w, slice_of(run->grouped_by));
	sql_text(&run->w, slice_of(run->group_name));
}

static void put_metric(struct sql_run *run, const char *name, const char *statistic, double value)
{
	put_group(run, &tables[METRICS]);
	sql_text(&run->w, slice_of(name));
	sql_text(&run->w, slice_of(statistic));
	sql_boolean(&run->w, run->total);
	sql_real(&run->w, value);
	sql_row_end(&run->w);
}

/* Calls `each` for a block of figures, and for each of its groups. */
static void for_groups(struct sql_run *run, json_t *block, void (*each)(struct sql_run *run, json_t *block))
{
	const char *key, *group;
	json_t *groups, *figures;
	run->grouped_by = run->group_name = "";
	each(run, block);
	json_object_foreach(block, key, groups)
	{
		if (strncmp(key, "by_", 3) != 0)
			continue;
		run->grouped_by = key + 3;
		json_object_foreach(groups, group, figures)
		{
			run->group_name = group;
			each(run, figures);
		}
	}
}

static void for_blocks(struct sql_run *run, void (*each)(struct sql_run *run, json_t *block))
{
	json_t *stages = json_object_get(run->json, "stages"), *block;
	size_t i;
	run->total = false;
	json_array_foreach(stages, i, block)
	{
		run->stage = (int64_t)i;
		for_groups(run, block, each);
	}
	run->stage = (int64_t)json_array_size(stages);
	run->total = true;
	for_groups(run, json_object_get(run->json, "total"), each);
}

static void put_block(struct sql_run *run, json_t *block)
{
	put_figures(run, "", block, put_metric);
}

static void put_stage(struct sql_run *run, json_t *block)
{
	const struct sql_table *table = &tables[STAGES];
	if (run->grouped_by[0])
		return;
	sql_row(&run->w, table);
	put_members(run, table, 0, 2, block, run->stage);
	sql_boolean(&run->w, run->total);
	put_members(run, table, 3, table->count, block, run->stage);
	sql_row_end(&run->w);
}

static void put_objectives(struct sql_run *run, json_t *block)
{
	const struct sql_table *table = &tables[OBJECTIVES];
	json_t *objective;
	size_t i;
	json_array_foreach(json_at(block, "goodput/objectives"), i, objective)
	{
		put_group(run, table);
		put_members(run, table, 4, 5, objective, 0);
		sql_boolean(&run->w, run->total);
		put_members(run, table, 6, table->count, objective, 0);
		sql_row_end(&run->w);
	}
}

static void put_windows(struct sql_run *run)
{
	const struct sql_table *table = &tables[WINDOWS];
	json_t *every = json_at(run->json, "series/every_s"), *window;
	size_t i;
	json_array_foreach(json_at(run->json, "series/windows"), i, window)
	{
		sql_row(&run->w, table);
		put_members(run, table, 0, 3, window, 0);
		put_value(run, SQL_REAL, every);
		put_members(run, table, 4, table->count, window, 0);
		sql_row_end(&run->w);
	}
}

/* ---- servers and accelerators ---- */

static void put_source_metric(struct sql_run *run, const char *name, const char *statistic, double value)
{
	sql_row(&run->w, &tables[SOURCE_METRICS]);
	sql_text(&run->w, run->id);
	sql_integer(&run->w, run->stage);
	sql_text(&run->w, slice_of(name));
	sql_text(&run->w, slice_of(statistic));
	sql_real(&run->w, value);
	sql_row_end(&run->w);
}

/* Calls `each` for all servers together, each server and each accelerator; run->stage is its number. */
static void for_sources(struct sql_run *run,
                        void (*each)(struct sql_run *run, json_t *object, const char *kind, const char *name))
{
	json_t *server = json_object_get(run->json, "server"), *object;
	size_t i;
	run->stage = 0;
	if (server) {
		each(run, server, "servers", NULL);
		run->stage++;
	}
	json_array_foreach(json_object_get(server, "targets"), i, object)
	{
		each(run, object, "server", json_string_value(json_object_get(object, "target")));
		run->stage++;
	}
	json_array_foreach(json_object_get(run->json, "accelerators"), i, object)
	{
		each(run, object, "accelerator", json_string_value(json_object_get(object, "device")));
		run->stage++;
	}
}

static void put_source(struct sql_run *run, json_t *object, const char *kind, const char *name)
{
	const struct sql_table *table = &tables[SAMPLED_SOURCES];
	sql_row(&run->w, table);
	sql_text(&run->w, run->id);
	sql_integer(&run->w, run->stage);
	sql_text(&run->w, slice_of(kind));
	sql_text(&run->w, slice_of(name));
	put_members(run, table, 4, table->count, object, 0);
	sql_row_end(&run->w);
}

static void put_source_metrics(struct sql_run *run, json_t *object, const char *kind, const char *name)
{
	(void)kind;
	(void)name;
	put_figures(run, "", object, put_source_metric);
}

/* ---- requests ---- */

enum { REQUEST_KEY = 2 }; /* run, number */

static void put_request(struct sql_run *run, const struct request *request, struct request_cells *cells,
                        const struct request_columns *columns)
{
	struct sql_writer *w = &run->w;
	for (size_t i = 0; i < columns->count; i++) {
		struct request_value v = request_cell(cells, run->report->run, request, &columns->list[i]);
		if (v.type == REQUEST_INTEGER)
			sql_integer(w, v.integer);
		else if (v.type == REQUEST_BOOLEAN)
			sql_boolean(w, v.boolean);
		else if (v.type == REQUEST_TEXT || v.type == REQUEST_JSON)
			sql_text(w, v.text);
		else
			sql_null(w);
	}
}

static void put_requests(struct sql_run *run, const struct sql_table *table, const struct request_columns *columns)
{
	const struct run_data *data = run->report->run;
	struct request_cells cells = {0};
	for (int64_t i = 0; i < data->row_count && !run->w.stopped; i++) {
		struct request request = {.row = &data->rows[i]};
		if (!run_data_line(data, request.row, &request.result))
			break;
		sql_row(&run->w, table);
		sql_text(&run->w, run->id);
		sql_integer(&run->w, i);
		put_request(run, &request, &cells, columns);
		sql_row_end(&run->w);
	}
	run->w.out->failed |= cells.text.failed;
	request_cells_release(&cells);
}

/* The table of the requests has the columns of every format showing them. */
static void request_table(struct sql_table *table, struct sql_column *list, const struct request_columns *columns)
{
	static const enum sql_type types[] = {[REQUEST_INTEGER] = SQL_INTEGER,
	                                      [REQUEST_BOOLEAN] = SQL_BOOLEAN,
	                                      [REQUEST_TEXT] = SQL_TEXT,
	                                      [REQUEST_JSON] = SQL_TEXT};
	list[0] = (struct sql_column)RUN_COLUMN;
	list[1] = (struct sql_column)COLUMN("number", INTEGER, NUMBER, "from 0, by stage and start");
	for (size_t i = 0; i < columns->count; i++) {
		const char *name = columns->list[i].name;
		size_t len = strlen(name);
		bool ns = len > 3 && strcmp(name + len - 3, "_ns") == 0;
		list[REQUEST_KEY + i] = (struct sql_column){
			.name = name, .type = types[columns->list[i].type], .note = ns ? "nanoseconds" : NULL};
	}
	*table = (struct sql_table){
		.name = "requests", .columns = list, .count = REQUEST_KEY + columns->count, .key = REQUEST_KEY};
}

/* ---- all of it ---- */

static void put_schema(struct sql_run *run, const struct sql_table *requests)
{
	buffer_text(run->w.out,
	            "-- ipf-report " IPF_VERSION ": a run, for SQLite and PostgreSQL; see ipf-exports(5)\nBEGIN;\n");
	for (int i = 0; i < TABLES; i++)
		sql_create(&run->w, &tables[i]);
	sql_create(&run->w, requests);
	buffer_text(run->w.out,
	            "-- If a column is missing here, another version made the tables: see TABLES in ipf-exports(5).\n");
	for (int i = 0; i <= TABLES; i++)
		sql_delete(&run->w, i < TABLES ? &tables[i] : requests, run->id);
}

static void render_sql(const struct report *report, struct buffer *out)
{
	struct sql_run run = {.w = {.out = out, .to = report->output},
	                      .report = report,
	                      .json = report_json_members(report, REPORT_VERDICT | REPORT_RUN | REPORT_STAGES |
	                                                              REPORT_TOTAL | REPORT_ERRORS | REPORT_SERIES |
	                                                              REPORT_SERVER | REPORT_ACCELERATORS)};
	struct request_columns columns;
	struct sql_column list[REQUEST_KEY + sizeof columns.list / sizeof *columns.list];
	struct sql_table requests;
	run.id = slice_of(json_string_value(json_object_get(report->run_info, "digest")));
	run.t0_ns = json_object_get(report->run_info, "started") ? report->run->parts[0].t0_ns : IPF_ABSENT;
	if (!run.json || !run.id.data) {
		out->failed = true;
		json_decref(run.json);
		return;
	}
	request_columns_init(&columns, REQUEST_CELLS);
	request_table(&requests, list, &columns);
	put_schema(&run, &requests);
	put_row(&run, RUNS, run.json, 0);
	put_meta(&run);
	put_rows(&run, CHECKS, json_at(run.json, "verdict/checks"));
	for_blocks(&run, put_stage);
	for_blocks(&run, put_block);
	for_blocks(&run, put_objectives);
	put_rows(&run, ERRORS, json_object_get(run.json, "errors"));
	put_windows(&run);
	for_sources(&run, put_source);
	for_sources(&run, put_source_metrics);
	put_requests(&run, &requests, &columns);
	sql_rows_end(&run.w);
	buffer_text(out, "COMMIT;\n");
	json_decref(run.json);
}

const struct report_format format_sql = {
	.render = render_sql, .predicted = true, .groups = true, .all_groups = true, .lines = true};

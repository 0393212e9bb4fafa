/* The values of plots in a page: from panels to columns, and what a report from elsewhere can do: nothing. */
#include "unit.h"

#include "html/plot_values.h"
#include "plots/plot_panels.h"
#include "plots/plot_style.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Axes of panels. */
#define X     "\"x\": {\"name\": \"t\", \"low\": 0, \"high\": 10}"
#define Y     "\"y\": {\"name\": \"v\", \"low\": 0, \"high\": 10}"
#define SOUND "{\"area\": [1, 2, 3, 4], " X ", " Y ", "
#define BEGIN "<script type=\"application/json\" id=\"plot-values\">"

/* The JSON in the element made of these texts; NULL: there is none. */
static json_t *values_of(const char *plots, const char *outliers)
{
	struct buffer out = {0};
	json_t *list = json_loads(plots, 0, NULL), *requests = outliers ? json_loads(outliers, 0, NULL) : NULL,
		   *values = NULL;
	assert_non_null(list);
	plot_values_write(list, requests, &out);
	assert_false(out.failed);
	buffer_byte(&out, 0);
	if (out.len > 1) {
		char *end = strstr(out.data, "</script>\n");
		assert_memory_equal(out.data, BEGIN, strlen(BEGIN));
		assert_non_null(end);
		assert_string_equal(end, "</script>\n");
		*end = 0;
		assert_null(strchr(out.data + 1, '<'));
		values = json_loads(out.data + strlen(BEGIN), 0, NULL);
		assert_non_null(values);
	}
	json_decref(list);
	json_decref(requests);
	buffer_release(&out);
	return values;
}

static void is_json(json_t *values, const char *path, const char *expected)
{
	char name[80];
	for (const char *at = path; *at; at += strspn(at, "/")) {
		size_t len = strcspn(at, "/");
		memcpy(name, at, len);
		name[len] = 0;
		values = json_is_array(values) ? json_array_get(values, strtoul(name, NULL, 10))
		                               : json_object_get(values, name);
		at += len;
	}
	char *text = json_dumps(values, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
	assert_string_equal(text ? text : "none", expected);
	free(text);
}

/* A plot with these tables and panels. */
static json_t *plot_of(const char *data, const char *panels, const char *more)
{
	char text[2000];
	snprintf(text, sizeof text, "[{\"name\": \"a\", \"data\": \"%s\", \"panels\": [%s]%s}]", data, panels, more);
	return values_of(text, NULL);
}

static void test_columns(void **state)
{
	(void)state;
	json_t *v = plot_of(
		"# t\\tn\\tms\\n0.5\\t20\\t1.2345678\\n1\\tNaN\\t2\\n\\n\\n# x\\ty\\n7\\t8\\n",
		"{\"kind\": \"steps\", \"area\": [1, 2, 3, 4], \"x\": {\"name\": \"t\", \"unit\": \"s\", \"low\": 0, \"high\": 9}, " Y
		", "
		"\"series\": [{\"name\": \"n\", \"table\": 0, \"x\": 0, \"y\": 1, \"step_s\": 0.5, \"drawn\": [1]},"
		"{\"name\": \"ms\", \"table\": 0, \"x\": 0, \"y\": 2}, {\"name\": \"z\", \"table\": 1, \"x\": 0, \"y\": 1, \"n\": 0}]}",
		"");
	/* a rate of 20 over half a second is 10; six digits; the times are one column */
	is_json(v, "plots/a/columns", "[[0.5,1],[10,null],[1.23457,2],[7],[8]]");
	is_json(v, "plots/a/panels/0/series/0", "{\"name\":\"n\",\"step_s\":0.5,\"drawn\":[1],\"x\":0,\"y\":1}");
	is_json(v, "plots/a/panels/0/series/2", "{\"name\":\"z\",\"drawn\":[],\"x\":3,\"y\":4,\"n\":3}");
	is_json(v, "plots/a/panels/0/area", "[1,2,3,4]");
	json_decref(v);
	v = plot_of("# a\\tb\\tc\\td\\tn\\n0\\t2\\t1\\t10\\t5\\n8\\t10\\t10\\t100\\t6\\n",
	            "{\"kind\": \"cells\", \"area\": [1, 2, 3, 4], " X
	            ", \"y\": {\"name\": \"v\", \"low\": 1, \"high\": 100, \"log\": true},"
	            "\"cells\": {\"table\": 0, \"columns\": 5, \"rows\": 2, \"of\": \"gaps\"}}",
	            ", \"range\": {\"step_s\": 2, \"end_s\": 9, \"totals\": [{\"name\": \"n\", \"column\": 4}]}");
	is_json(v, "plots/a/panels/0/cells/at", "[0,0,5,4,1,6]");
	is_json(v, "plots/a/range", "{\"step_s\":2,\"end_s\":9,\"x\":0,\"totals\":[{\"name\":\"n\",\"y\":1}]}");
	is_json(v, "plots/a/columns/1", "[10,12]");
	json_decref(v);
}

static void test_requests(void **state)
{
	(void)state;
	json_t *v = values_of(
		"[{\"name\": \"a\", \"data\": \"\", \"panels\": [{\"area\": [1, 2, 3, 4], " X ", " Y "}]}]",
		"{\"slowest_each\": 3, \"failed\": 1, \"evil\": 1, \"requests\": [{\"n\": 5, \"stage\": \"s\", \"ok\": false,"
		" \"error\": \"</script><!--\\u202e\", \"due_s\": {\"a\": 1}, \"end_s\": \"1\"}, {\"n\": \"6\"}]}");
	is_json(v, "outliers/slowest_each", "3");
	is_json(v, "outliers/evil", "none");
	is_json(v, "outliers/rows/0/0", "5");
	is_json(v, "outliers/rows/0/3", "null"); /* due_s is no number, … */
	is_json(v, "outliers/rows/0/6", "null"); /* … nor end_s */
	is_json(v, "outliers/rows/1", "none");   /* a request without a number */
	is_json(v, "outliers/rows/0/14", "\"</script><!--\\\\u202e\"");
	json_decref(v);
}

/* Parts without a member that the page shows are left out; cells without numbers, too. */
static void test_not_whole(void **state)
{
	static const char data[] = "# a\\tb\\tc\\td\\tn\\n0\\t2\\t1\\t3\\tnan\\n0\\t2\\tnan\\t3\\t6\\n";
	(void)state;
	json_t *v = plot_of(data,
	                    SOUND "\"kind\": \"lanes\", \"series\": [{\"table\": 0, \"x\": 0, \"y\": 1, \"n\": 2},"
	                          " {\"name\": \"start\", \"table\": 0, \"x\": 0, \"y\": 1}],"
	                          " \"cells\": {\"table\": 0, \"columns\": 5, \"rows\": 2, \"of\": \"gaps\"}}",
	                    ", \"range\": {\"step_s\": 2, \"totals\": []}");
	is_json(v, "plots/a/panels/0/series", "[]");
	is_json(v, "plots/a/panels/0/cells/at", "[]");
	is_json(v, "plots/a/range", "none");
	json_decref(v);
	v = plot_of(data, SOUND "\"cells\": {\"table\": 0, \"columns\": 5, \"rows\": 2}}",
	            ", \"range\": {\"step_s\": 2, \"end_s\": 4, \"totals\": [{\"column\": 1}]}");
	is_json(v, "plots/a/panels/0/cells", "none");
	is_json(v, "plots/a/range/totals", "[]");
	json_decref(v);
}

/* Members of other types and numbers beyond all tables: no values, no other element. */
static void test_hostile(void **state)
{
	static const char *const panels[] = {
		SOUND "\"series\": 1}",
		SOUND "\"series\": [1, null, {}]}",
		SOUND "\"kind\": \"</script>\", \"letter\": \"\\\"><img>\", \"requests\": [1]}",
		SOUND
		"\"series\": [{\"name\": {}, \"table\": 1e300, \"x\": -1, \"y\": 1e18, \"step_s\": -1, \"drawn\": \"<\"}]}",
		SOUND "\"cells\": {\"table\": 0, \"columns\": 1e300, \"rows\": -1}}",
		SOUND "\"cells\": [1]}"};
	/* panels without axes */
	static const char *const unsound[] = {
		"{}",
		"[]",
		"null",
		"7",
		"{\"area\": [1, 2, 3], " X ", " Y "}",
		"{\"area\": [1, 2, 3, \"4\"], " X ", " Y "}",
		"{\"area\": [1, 2, 3, 4], " X ", \"y\": 5}",
		"{\"area\": [1, 2, 3, 4], " X ", \"y\": {\"name\": \"v\", \"low\": 1, \"high\": 1}}",
		"{\"area\": [1, 2, 3, 4], " X ", \"y\": {\"name\": \"v\", \"low\": 0, \"high\": 1, \"log\": true}}",
		"{\"area\": [1, 2, 3, 4], " X ", \"y\": {\"low\": 0, \"high\": 1}}"};
	(void)state;
	for (size_t i = 0; i < sizeof panels / sizeof *panels; i++) {
		json_t *v = plot_of("# a\\tb\\n1\\t2\\nx\\n\\t\\t\\t\\n# c", panels[i], ", \"range\": {\"totals\": [1, {}]}");
		assert_non_null(v);
		json_decref(v);
	}
	for (size_t i = 0; i < sizeof unsound / sizeof *unsound; i++)
		assert_null(plot_of("# a\\n1\\n", unsound[i], ""));
	assert_null(values_of("[{\"name\": \"a\", \"data\": \"\"}, {\"panels\": []}, 1, null]", "[1]"));
	assert_null(values_of("{}", "7"));
}

static void test_panels(void **state)
{
	struct plot p = {.name = "a", .width = 640, .height = 400, .area = plot_usual_area, .multiplot = true};
	(void)state;
	plot_margin(&p, "tmargin", 0.8);
	plot_axis_ms(&p, "x", "TTFT", 1, 100);
	plot_axis_shares(&p, "y");
	plot_panel(&p, PANEL_POINTS);
	plot_series(&p, &(struct plot_series){.name = "s", .table = 2, .x = 0, .y = 1, .stage = 4, .drawn = {5, 6}});
	plot_panel_requests(&p, "ttft_ms", NULL, REQUESTS_OK);
	plot_panel(&p, PANEL_STEPS);
	is_json(p.panels, "0/area", "[105.6,80.0,604.8,332.0]");
	is_json(p.panels, "0/letter", "\"a\"");
	is_json(p.panels, "1/letter", "\"b\"");
	is_json(p.panels, "0/x", "{\"name\":\"TTFT\",\"unit\":\"ms\",\"low\":1.0,\"high\":100.0,\"log\":true}");
	is_json(p.panels, "0/y", "{\"unit\":\"share\",\"low\":0.0,\"high\":1.0}");
	is_json(p.panels, "0/series", "[{\"name\":\"s\",\"table\":2,\"x\":0,\"y\":1,\"stage\":4,\"drawn\":[5,6]}]");
	is_json(p.panels, "0/requests", "{\"x\":\"ttft_ms\",\"failed\":false}");
	plot_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns), cmocka_unit_test(test_requests), cmocka_unit_test(test_not_whole),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_panels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

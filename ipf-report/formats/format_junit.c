/* -f junit: JUnit XML for the test reports of CI systems. Each question of the verdict is a test case, which fails if
 * the answer is INVALID, and so is each objective, which fails if it is on a percentile and missed. */
#include "formats/report_format.h"
#include "json_report/json_report.h"
#include "output/markup.h"
#include "results/run_data.h"
#include "safe_text.h"
#include "stream/predicted.h"

#include <string.h>

struct junit {
	struct buffer *out;
	struct buffer cases; /* counted before they are written */
	int tests, failures, skipped;
};

/* Characters that XML cannot contain are escaped visibly, as on a terminal. */
static void put_text(struct buffer *out, const char *text)
{
	struct buffer safe = {0};
	safe_text_append(&safe, slice_of(text));
	out->failed |= safe.failed;
	markup_escape(out, buffer_all(&safe), "");
	buffer_release(&safe);
}

static void put_attribute(struct buffer *out, const char *name, const char *value)
{
	buffer_format(out, " %s=\"", name);
	put_text(out, value);
	buffer_byte(out, '"');
}

enum outcome { PASSED, FAILED, SKIPPED };

struct test_case {
	const char *group, *name;
	enum outcome outcome;
	const char *type, *detail; /* type: of a failure */
};

static void put_case(struct junit *j, const struct test_case *c)
{
	struct buffer *out = &j->cases;
	j->tests++;
	buffer_text(out, "    <testcase");
	put_attribute(out, "classname", c->group);
	put_attribute(out, "name", c->name);
	buffer_text(out, " time=\"0\">\n      ");
	if (c->outcome == FAILED) {
		j->failures++;
		buffer_text(out, "<failure");
		put_attribute(out, "type", c->type);
		put_attribute(out, "message", c->detail);
		buffer_byte(out, '>');
		put_text(out, c->detail);
		buffer_text(out, "</failure>\n");
	} else if (c->outcome == SKIPPED) {
		j->skipped++;
		buffer_text(out, "<skipped");
		put_attribute(out, "message", c->detail);
		buffer_text(out, "/>\n");
	} else {
		buffer_text(out, "<system-out>");
		put_text(out, c->detail);
		buffer_text(out, "</system-out>\n");
	}
	buffer_text(out, "    </testcase>\n");
}

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static bool is_unjudged(const char *status)
{
	return strcmp(status, "UNKNOWN") == 0 || strcmp(status, "N/A") == 0;
}

static void put_checks(struct junit *j, json_t *verdict)
{
	json_t *check;
	size_t i;
	json_array_foreach(json_object_get(verdict, "checks"), i, check)
	{
		struct buffer detail = {0};
		const char *status = text_of(check, "status");
		buffer_format(&detail, "%s: ", status);
		buffer_text(&detail, text_of(check, "detail"));
		j->out->failed |= detail.failed;
		put_case(j, &(struct test_case){.group = "ipf.verdict",
		                                .name = text_of(check, "name"),
		                                .outcome = strcmp(status, "INVALID") == 0 ? FAILED
		                                           : is_unjudged(status)          ? SKIPPED
		                                                                          : PASSED,
		                                .type = status,
		                                .detail = detail.data ? detail.data : ""});
		buffer_release(&detail);
	}
}

/* An objective on each request has no limit for the share meeting it: it is reported, and never fails. */
static void put_objective(struct junit *j, const char *group, json_t *objective)
{
	json_t *value = json_object_get(objective, "value_ms"), *share = json_object_get(objective, "share");
	const char *infinite = json_string_value(value);
	char detail[160];
	struct test_case c = {.group = group, .name = text_of(objective, "objective"), .type = "missed", .detail = detail};
	const char *not_judged = json_string_value(json_object_get(objective, "not_judged"));
	if (not_judged) {
		c.outcome = SKIPPED;
		snprintf(detail, sizeof detail, "%.60s for this percentile", not_judged);
	} else if (value && !json_object_get(objective, "met")) {
		c.outcome = SKIPPED;
		snprintf(detail, sizeof detail, "not judged over several loads");
	} else if (value) {
		c.outcome = json_is_true(json_object_get(objective, "met")) ? PASSED : FAILED;
		if (infinite)
			snprintf(detail, sizeof detail, "%.20s, the limit is %.15g ms", infinite,
			         json_number_value(json_object_get(objective, "limit_ms")));
		else
			snprintf(detail, sizeof detail, "%.15g ms, the limit is %.15g ms", json_number_value(value),
			         json_number_value(json_object_get(objective, "limit_ms")));
	} else if (share) {
		snprintf(detail, sizeof detail, "%.15g of the requests meet it", json_number_value(share));
	} else {
		c.outcome = SKIPPED;
		snprintf(detail, sizeof detail, "not measured");
	}
	put_case(j, &c);
}

static void put_objectives(struct junit *j, const char *group, json_t *block)
{
	json_t *objective;
	size_t i;
	json_array_foreach(json_object_get(json_object_get(block, "goodput"), "objectives"), i, objective)
		put_objective(j, group, objective);
}

/* Each measured stage only if there are several: the total is that of the only one. Over several loads, it has no
 * objectives. */
static void put_blocks(struct junit *j, json_t *report)
{
	json_t *stages = json_object_get(report, "stages"), *stage;
	size_t i, measured = 0;
	json_array_foreach(stages, i, stage) measured += json_is_true(json_object_get(stage, "measured"));
	if (!json_is_true(json_object_get(json_object_get(report, "run"), "several_loads")))
		put_objectives(j, "ipf.objectives.total", json_object_get(report, "total"));
	json_array_foreach(stages, i, stage)
	{
		struct buffer group = {0};
		buffer_text(&group, "ipf.objectives.stage.");
		buffer_text(&group, text_of(stage, "name"));
		j->out->failed |= group.failed;
		if (measured > 1 && json_is_true(json_object_get(stage, "measured")) && group.data)
			put_objectives(j, group.data, stage);
		buffer_release(&group);
	}
}

static void put_property(struct buffer *out, const char *prefix, const char *name, const char *value)
{
	struct buffer full = {0};
	if (!value || !*value)
		return;
	buffer_format(&full, "%s%s", prefix, name);
	buffer_text(out, "      <property");
	put_attribute(out, "name", full.data ? full.data : "");
	put_attribute(out, "value", value);
	buffer_text(out, "/>\n");
	buffer_release(&full);
}

static void put_properties(struct buffer *out, json_t *run, const char *twin)
{
	static const char *const keys[] = {"digest", "target", "api", "model", "schedule"};
	const char *key;
	json_t *value;
	buffer_text(out, "    <properties>\n");
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		put_property(out, "", keys[i], text_of(run, keys[i]));
	put_property(out, "", "predicted", twin);
	put_property(out, "", "ipf-report", text_of(json_object_get(run, "versions"), "ipf-report"));
	json_object_foreach(json_object_get(run, "meta"), key, value)
		put_property(out, "meta.", key, json_string_value(value));
	buffer_text(out, "    </properties>\n");
}

/* In the format of JUnit, which has no zone: UTC. */
static void put_start(struct buffer *out, json_t *run)
{
	const char *started = text_of(run, "started"), *host = text_of(json_object_get(run, "host"), "name");
	char text[20];
	snprintf(text, sizeof text, "%.19s", started);
	if (strlen(text) == 19 && strspn(text, "0123456789-:T") == 19)
		put_attribute(out, "timestamp", text);
	if (*host)
		put_attribute(out, "hostname", host);
}

static void render_junit(const struct report *report, struct buffer *out)
{
	json_t *json = report_json_members(report, REPORT_VERDICT | REPORT_RUN | REPORT_STAGES | REPORT_TOTAL),
		   *run = json_object_get(json, "run");
	struct junit j = {.out = out};
	const char *name = text_of(run, "name");
	put_checks(&j, json_object_get(json, "verdict"));
	put_blocks(&j, json);
	out->failed |= j.cases.failed;
	double seconds = json_number_value(json_object_get(run, "duration_s"));
	buffer_format(out,
	              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	              "<testsuites name=\"ipf\" tests=\"%d\" failures=\"%d\" errors=\"0\" time=\"%.3f\">\n  <testsuite",
	              j.tests, j.failures, seconds);
	put_attribute(out, "name", *name ? name : "ipf");
	buffer_format(out, " tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\" time=\"%.3f\"", j.tests, j.failures,
	              j.skipped, seconds);
	put_start(out, run);
	buffer_text(out, ">\n");
	json_t *predicted = json_object_get(run, "predicted");
	put_properties(out, run, predicted ? predicted_by(predicted).text : NULL);
	buffer_append(out, j.cases.data, j.cases.len);
	buffer_text(out, "  </testsuite>\n</testsuites>\n");
	buffer_release(&j.cases);
	json_decref(json);
}

const struct report_format format_junit = {.render = render_junit, .predicted = true};

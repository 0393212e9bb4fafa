#include "compare/compare_junit.h"

#include "compare/compare_words.h"
#include "output/markup.h"
#include "safe_text.h"

#include <stdio.h>

struct cases {
	struct buffer text; /* counted before they are written */
	int tests, failures, skipped;
};

static void put_attribute(struct buffer *out, const char *name, const char *value)
{
	struct buffer safe = {0};
	safe_text_append(&safe, slice_of(value));
	out->failed |= safe.failed;
	buffer_format(out, " %s=\"", name);
	markup_escape(out, buffer_all(&safe), "");
	buffer_byte(out, '"');
	buffer_release(&safe);
}

enum case_result { PASSED, FAILED, SKIPPED };

static void put_case(struct cases *cases, const char *group, const char *name, enum case_result result,
                     const char *detail)
{
	static const char *const elements[] = {
		[PASSED] = "system-out", [FAILED] = "failure type=\"difference\"", [SKIPPED] = "skipped"};
	struct buffer *out = &cases->text;
	cases->tests++;
	cases->failures += result == FAILED;
	cases->skipped += result == SKIPPED;
	buffer_text(out, "    <testcase");
	put_attribute(out, "classname", group);
	put_attribute(out, "name", name);
	buffer_format(out, " time=\"0\">\n      <%s", elements[result]);
	if (result != PASSED) {
		put_attribute(out, "message", detail);
		buffer_text(out, "/>\n");
	} else {
		buffer_byte(out, '>');
		markup_escape(out, slice_of(detail), "");
		buffer_text(out, "</system-out>\n");
	}
	buffer_text(out, "    </testcase>\n");
}

static void put_figure(struct cases *cases, const struct comparison *c, const struct figure_difference *f)
{
	char detail[400], base[40], value[40], change[40], interval[64];
	const bool worse = (f->d.finding == FINDING_LOWER || f->d.finding == FINDING_HIGHER) &&
	                   finding_is_worse(f->figure, f->d.finding);
	snprintf(detail, sizeof detail, "%s: %s to %s %s, %s, 95 %% interval %s", finding_name(f->figure, f->d.finding),
	         compare_value(f->figure, f->d.base, base), compare_value(f->figure, f->d.value, value), f->figure->unit,
	         compare_change(&f->d, change), compare_interval(&f->d, interval));
	put_case(cases, "ipf.comparison", f->figure->name,
	         f->d.finding == FINDING_NONE       ? SKIPPED
	         : worse && c->condition_count == 0 ? FAILED
	                                            : PASSED,
	         detail);
}

static void put_condition(struct cases *cases, const struct fail_if *condition)
{
	char detail[sizeof condition->detail + 16];
	snprintf(detail, sizeof detail, "%s%s", condition->undecided ? "undecided: " : "", condition->detail);
	put_case(cases, "ipf.fail-if", condition->text,
	         condition->failed      ? FAILED
	         : condition->undecided ? SKIPPED
	                                : PASSED,
	         detail);
}

void compare_junit(const struct comparison *c, struct buffer *out)
{
	struct cases cases = {0};
	char text[COMPARE_WORDS];
	if (c->outcome == OUTCOME_INVALID)
		put_case(&cases, "ipf.comparison", "verdict", FAILED, compare_outcome(c, text));
	if (compare_answers_text(c, text))
		put_case(&cases, "ipf.comparison", "answers", c->outcome == OUTCOME_WRONG ? FAILED : PASSED, text);
	for (size_t k = 0; k < c->count; k++)
		put_figure(&cases, c, &c->figures[k]);
	for (size_t k = 0; k < c->condition_count; k++)
		put_condition(&cases, &c->conditions[k]);
	out->failed |= cases.text.failed;
	buffer_format(
		out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites name=\"ipf\" tests=\"%d\" failures=\"%d\" errors=\"0\" time=\"0\">\n  <testsuite name=\"ipf "
		"comparison\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\" time=\"0\">\n    <properties>\n",
		cases.tests, cases.failures, cases.tests, cases.failures, cases.skipped);
	for (int s = 0; s < SIDES; s++) {
		buffer_format(out, "      <property name=\"%s\"", s == SIDE_BASE ? "base" : "new");
		put_attribute(out, "value", compare_side(c, (enum compared_side)s, text));
		buffer_text(out, "/>\n");
	}
	if (compare_predicted(c, text)) {
		buffer_text(out, "      <property name=\"predicted\"");
		put_attribute(out, "value", text);
		buffer_text(out, "/>\n");
	}
	buffer_text(out, "    </properties>\n");
	buffer_slice(out, buffer_all(&cases.text));
	buffer_text(out, "  </testsuite>\n</testsuites>\n");
	buffer_release(&cases.text);
}

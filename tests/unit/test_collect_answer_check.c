/* Checked answers: canaries judged, repeated requests compared, marks of others and loops found. */
#include "unit.h"

#include "collect_record.h"

#include "absent.h"
#include "answers/answer_check.h"
#include "answers/repetition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void loops_are_found_at_the_end_only(void **state)
{
	(void)state;
	char text[4096] = "";
	assert_int_equal(repetition_bytes(slice_of("")), 0);
	assert_int_equal(repetition_bytes(slice_of("a short answer of different words, which ends as it should")), 0);
	for (int i = 0; i < 40; i++)
		strcat(text, "and so on, ");
	assert_in_range(repetition_bytes(slice_of(text)), 440, 440);
	char after[5000];
	snprintf(after, sizeof after, "once upon a time %s", text);
	assert_in_range(repetition_bytes(slice_of(after)), 440, 441); /* a blank before it fits */
	strcat(text, "the end: here a text of its own begins, long enough");
	assert_int_equal(repetition_bytes(slice_of(text)), 0);
	memset(text, 'x', 63);
	text[63] = '\0';
	assert_int_equal(repetition_bytes(slice_of(text)), 0);
	strcat(text, "x");
	assert_int_equal(repetition_bytes(slice_of(text)), 64);
	assert_int_equal(repetition_bytes((struct slice){after, 0}), 0);
}

static const struct schedule schedule = {.trace_requests = 100};

struct given {
	int64_t req;
	const char *tags, *text, *finish, *ids;
	double lead; /* each token's; NAN: none are listed */
	const char *tokens;
};

static struct result row_of(struct answer_check *c, const struct given *g)
{
	struct record record;
	struct response r = {0};
	struct result row;
	struct response_token tokens[64];
	record_init(&record);
	result_init(&row);
	record.req = g->req;
	record.tags = g->tags ? slice_of(g->tags) : (struct slice){0};
	row.ok = true;
	row.finish = slice_of(g->finish ? g->finish : "\"stop\"");
	buffer_text(&r.text, g->text);
	if (g->ids)
		buffer_text(&r.output_ids, g->ids);
	for (size_t i = 0; g->tokens && g->tokens[i]; i++)
		tokens[r.tokens_count++] = (struct response_token){(uint64_t)g->tokens[i], g->lead};
	r.tokens = tokens;
	struct response_options options = {.keep_text = false};
	answer_check_reads(c, &record, &options);
	assert_true(!g->tags || options.keep_text);
	assert_int_equal(answer_check_row(c, &record, &r, &row), 0);
	buffer_release(&r.text);
	buffer_release(&r.output_ids);
	return row;
}

static const char copy_tag[] = "{\"canary\":{\"kind\":\"copy\",\"answer\":\"HELLO\"}}",
				  repeat_tag[] = "{\"repeat\":true}";

static void canaries_are_judged(void **state)
{
	(void)state;
	struct answer_check *c = answer_check_new();
	answer_check_begin(c, &schedule);
	struct result row = row_of(c, &(struct given){.req = 1, .text = "anything"});
	assert_int_equal(result_check(&row), RESULT_CHECKS);
	row = row_of(c, &(struct given){.req = 2, .tags = copy_tag, .text = " HELLO\n"});
	assert_int_equal(result_check(&row), RESULT_CHECK_COPY);
	assert_int_equal(result_judged(&row), RESULT_RIGHT);
	row = row_of(c, &(struct given){.req = 3, .tags = copy_tag, .text = "HELL0"});
	assert_int_equal(result_judged(&row), RESULT_WRONG);
	row = row_of(c, &(struct given){.req = 4, .tags = copy_tag, .text = "", .finish = "\"length\""});
	assert_int_equal(result_judged(&row), RESULT_UNDECIDED);
	row = row_of(c, &(struct given){.req = 5, .tags = copy_tag, .text = ""});
	assert_int_equal(result_judged(&row), RESULT_WRONG);
	row = row_of(c,
	             &(struct given){.req = 6, .tags = "{\"canary\":{\"kind\":\"poem\",\"answer\":\"x\"}}", .text = "x"});
	assert_int_equal(result_check(&row), RESULT_CHECKS);
	row = row_of(c, &(struct given){.req = 7, .tags = "[\"canary\"]", .text = "x"});
	assert_int_equal(result_check(&row), RESULT_CHECKS);
	answer_check_free(c);
}

static void repeated_requests_are_compared_with_the_first_answer(void **state)
{
	(void)state;
	struct answer_check *c = answer_check_new();
	answer_check_begin(c, &schedule);
	struct result row = row_of(c,
	                           &(struct given){.req = 1, .tags = repeat_tag, .text = "Grüße an alle", .ids = "1,23,4"});
	assert_int_equal(result_compared(&row), RESULT_COMPARISONS);
	row = row_of(c, &(struct given){.req = 1, .tags = repeat_tag, .text = "Grüße an alle", .ids = "1,23,4"});
	assert_int_equal(result_compared(&row), RESULT_SAME);
	assert_null(row.other_finish.data);
	row = row_of(c,
	             &(struct given){
					 .req = 1, .tags = repeat_tag, .text = "Grüßt an alle", .ids = "1,25,4", .finish = "\"length\""});
	assert_int_equal(result_compared(&row), RESULT_DIFFERS);
	assert_int_equal(row.differs_at_char, 4);
	assert_int_equal(row.differs_at_token, 1);
	assert_true(slice_is(row.other_finish, "\"stop\""));
	row = row_of(c, &(struct given){.req = 1, .tags = repeat_tag, .text = "Grüße"});
	assert_int_equal(result_compared(&row), RESULT_DIFFERS);
	assert_int_equal(row.differs_at_char, 5);
	row = row_of(c, &(struct given){.req = 2, .tags = repeat_tag, .text = "another request"});
	assert_int_equal(result_compared(&row), RESULT_COMPARISONS);
	answer_check_free(c);
}

static void near_ties_are_told_from_clear_differences(void **state)
{
	(void)state;
	struct answer_check *c = answer_check_new();
	answer_check_begin(c, &schedule);
	const struct given first = {.req = 1, .tags = repeat_tag, .text = "abcd", .tokens = "abcd", .lead = 0.1};
	const struct given near = {.req = 1, .tags = repeat_tag, .text = "abxd", .tokens = "abxd", .lead = 0.2};
	const struct given clear = {.req = 1, .tags = repeat_tag, .text = "abxd", .tokens = "abxd", .lead = 3};
	const struct given silent = {.req = 1, .tags = repeat_tag, .text = "abxd", .tokens = "abxd", .lead = NAN};
	row_of(c, &first);
	struct result row = row_of(c, &near);
	assert_int_equal(result_compared(&row), RESULT_NEAR_TIE);
	assert_int_equal(row.differs_at_token, 2);
	row = row_of(c, &clear);
	assert_int_equal(result_compared(&row), RESULT_CLEAR);
	row = row_of(c, &silent);
	assert_int_equal(result_compared(&row), RESULT_DIFFERS);
	answer_check_free(c);
}

/* "7KQ…": any mark; taken from the module that makes them. */
#include "canary/mark.h"

static void marks_of_others_are_found_in_any_answer(void **state)
{
	(void)state;
	struct rng rng;
	char own[CANARY_MARK + 1], other[CANARY_MARK + 1], tags[100], text[100];
	struct answer_check *c = answer_check_new();
	answer_check_begin(c, &schedule);
	rng_init(&rng, 1, "marks", 0);
	canary_mark(&rng, own);
	canary_mark(&rng, other);
	snprintf(tags, sizeof tags, "{\"canary\":{\"kind\":\"copy\",\"answer\":\"%s\"}}", own);
	struct result row = row_of(c, &(struct given){.req = 1, .tags = tags, .text = own});
	assert_null(row.other_mark.data);
	row = row_of(c, &(struct given){.req = 2, .tags = tags, .text = other});
	assert_non_null(row.other_mark.data);
	assert_memory_equal(row.other_mark.data + 1, other, CANARY_MARK);
	snprintf(text, sizeof text, "Certainly: %s.", other);
	row = row_of(c, &(struct given){.req = 3, .text = text});
	assert_non_null(row.other_mark.data);
	/* a valid mark that shares half of its symbols with the own one is the own one, corrupted */
	char near[CANARY_MARK + 1];
	do
		canary_mark(&rng, near);
	while (memcpy(near, own, 6), !canary_is_mark((struct slice){near, CANARY_MARK}));
	row = row_of(c, &(struct given){.req = 5, .tags = tags, .text = near});
	assert_null(row.other_mark.data);
	assert_int_equal(result_judged(&row), RESULT_WRONG);
	other[3] = other[3] == 'A' ? 'B' : 'A'; /* a corrupted one is none */
	row = row_of(c, &(struct given){.req = 4, .text = other});
	assert_null(row.other_mark.data);
	answer_check_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_are_found_at_the_end_only),
		cmocka_unit_test(canaries_are_judged),
		cmocka_unit_test(repeated_requests_are_compared_with_the_first_answer),
		cmocka_unit_test(near_ties_are_told_from_clear_differences),
		cmocka_unit_test(marks_of_others_are_found_in_any_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

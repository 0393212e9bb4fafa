/* The common parts of later turns with the turns before them, in bounded memory. */
#include "unit.h"

#include "absent.h"
#include "measure/history_tokens.h"

static void ids_are_counted_whole(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		int64_t alike;
	} cases[] = {
		{"", "", 0},
		{"", "1", 0},
		{"1", "1", 1},
		{"1", "12", 0},
		{"12", "1", 0},
		{"1,2,3", "1,2,3", 3},
		{"1,2,3", "1,2,3,4", 3},
		{"1,2,3,4", "1,2,3", 3},
		{"1,2,3", "1,2,34", 2},
		{"1,2,34", "1,2,3", 2},
		{"1,23,4", "1,25,4", 1},
		{"1,2", "3,2", 0},
		{"17,2", "1,2", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(history_tokens_alike(slice_of(cases[i].a), slice_of(cases[i].b)), cases[i].alike);
}

/* A row with 10 tokens of prompt and 4 of answer, of which `cached` came from the cache. */
static struct result row_of(int64_t n, int64_t cached)
{
	struct result row;
	result_init(&row);
	row.n = n;
	row.ok = true;
	row.session = slice_of("\"s\"");
	row.input_tokens_usage = 10;
	row.output_tokens = 4;
	row.output_tokens_tokenizer = 3;
	row.cached_tokens = cached;
	return row;
}

static struct result add(struct history_tokens *h, const void *input, int64_t n, int64_t continues, int64_t cached)
{
	struct record record;
	struct response response = {0};
	struct result row = row_of(n, cached);
	record_init(&record);
	record.continues = continues;
	assert_int_equal(history_tokens_row(h, input, &record, &response, &row), 0);
	return row;
}

static void turns_are_held_against_the_one_before(void **state)
{
	(void)state;
	struct history_tokens *h = history_tokens_new();
	const char one = 0, other = 0;
	assert_int_equal(add(h, &one, 0, IPF_ABSENT, 0).history_generated_tokens, IPF_ABSENT);
	add(h, &other, 0, IPF_ABSENT, 0);
	struct result row = add(h, &one, 1, 0, 12);
	assert_int_equal(row.history_generated_tokens, 4);
	assert_int_equal(row.history_cached_tokens, 2);
	assert_int_equal(row.history_text_tokens, 3);
	assert_int_equal(row.history_tokens, IPF_ABSENT);
	/* a branch continues it too; that of the other input is another one */
	assert_int_equal(add(h, &one, 2, 0, 13).history_cached_tokens, 3);
	assert_int_equal(add(h, &other, 1, 0, 3).history_cached_tokens, 0);
	assert_int_equal(add(h, &one, 3, 2, 100).history_cached_tokens, 4);
	assert_int_equal(add(h, &one, 4, 3, IPF_ABSENT).history_cached_tokens, IPF_ABSENT);
	history_tokens_free(h);
}

/* The result of a turn with this response and row; a later turn continues it. */
static struct result followed(struct response *response, struct result row, struct result later)
{
	struct history_tokens *h = history_tokens_new();
	struct record record;
	record_init(&record);
	row.n = 0;
	assert_int_equal(history_tokens_row(h, NULL, &record, response, &row), 0);
	record.continues = 0;
	later.n = 1;
	assert_int_equal(history_tokens_row(h, NULL, &record, response, &later), 0);
	history_tokens_free(h);
	return later;
}

static void text_tokens_are_those_of_answers_of_text(void **state)
{
	(void)state;
	static const struct {
		uint8_t kinds[2];
		int64_t tokens;
	} cases[] = {{{EVENT_TEXT, EVENT_TEXT}, 3},
	             {{EVENT_REASONING, EVENT_TEXT}, IPF_ABSENT},
	             {{EVENT_TEXT, EVENT_TOOL}, IPF_ABSENT}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct response_event events[] = {{.kind = cases[i].kinds[0]}, {.kind = cases[i].kinds[1]}};
		struct response response = {.events = events, .events_count = 2};
		assert_int_equal(followed(&response, row_of(0, 0), row_of(1, 0)).history_text_tokens, cases[i].tokens);
		buffer_text(&response.output_ids, "1,2,3,4"); /* these are all of it */
		assert_int_equal(followed(&response, row_of(0, 0), row_of(1, 0)).history_text_tokens, IPF_ABSENT);
		buffer_release(&response.output_ids);
	}
}

static void turns_are_kept_if_a_later_one_can_tell(void **state)
{
	(void)state;
	struct response response = {0};
	struct result row = row_of(0, 0), later = row_of(1, 11);
	assert_int_equal(followed(&response, row, later).history_cached_tokens, 1);
	row.input_tokens_usage = IPF_ABSENT;
	assert_int_equal(followed(&response, row, later).history_generated_tokens, 4);
	assert_int_equal(followed(&response, row, later).history_cached_tokens, IPF_ABSENT);
	row = row_of(0, 0);
	row.ok = false;
	assert_int_equal(followed(&response, row, later).history_generated_tokens, IPF_ABSENT);
	row = row_of(0, 0);
	row.session = (struct slice){0};
	assert_int_equal(followed(&response, row, later).history_generated_tokens, IPF_ABSENT);
	row = row_of(0, 0);
	row.output_tokens = IPF_ABSENT;
	assert_int_equal(followed(&response, row, later).history_text_tokens, IPF_ABSENT);
	later.ok = false;
	assert_int_equal(followed(&response, row_of(0, 0), later).history_generated_tokens, IPF_ABSENT);
}

static void a_number_that_comes_again_replaces_its_turn(void **state)
{
	(void)state;
	struct history_tokens *h = history_tokens_new();
	struct record record;
	const struct response response = {0};
	for (int64_t tokens = 4; tokens <= 5; tokens++) {
		struct result row = row_of(0, 0);
		row.output_tokens = tokens;
		record_init(&record);
		assert_int_equal(history_tokens_row(h, NULL, &record, &response, &row), 0);
	}
	assert_int_equal(add(h, NULL, 1, 0, 0).history_generated_tokens, 5);
	history_tokens_free(h);
}

static void ids_of_both_prompt_and_answer_are_compared(void **state)
{
	(void)state;
	struct response response = {0};
	buffer_text(&response.prompt_ids, "7");
	assert_int_equal(followed(&response, row_of(0, 0), row_of(1, 0)).history_tokens, IPF_ABSENT);
	buffer_text(&response.output_ids, "8");
	const struct result row = followed(&response, row_of(0, 0), row_of(1, 0));
	assert_int_equal(row.history_tokens, 2);
	assert_int_equal(row.history_same_tokens, 1);
	/* the later prompt has none */
	struct history_tokens *h = history_tokens_new();
	struct record record;
	struct result first = row_of(0, 0);
	record_init(&record);
	assert_int_equal(history_tokens_row(h, NULL, &record, &response, &first), 0);
	const struct result later = add(h, NULL, 1, 0, 0);
	assert_int_equal(later.history_generated_tokens, 4);
	assert_int_equal(later.history_tokens, IPF_ABSENT);
	history_tokens_free(h);
	response_release(&response);
}

/* The oldest turns are forgotten, so sessions without end take no more memory. */
static void the_last_turns_are_kept(void **state)
{
	(void)state;
	struct history_tokens *h = history_tokens_new();
	struct response response = {0};
	struct record record;
	record_init(&record);
	for (int i = 0; i < (1 << 16); i++)
		buffer_text(&response.prompt_ids, i ? ",1234567" : "1234567");
	buffer_text(&response.output_ids, "7");
	const int64_t turns = 4 * (int64_t)HISTORY_BYTES_MOST / (int64_t)response.prompt_ids.len;
	for (int64_t n = 0; n < turns; n++) {
		struct result row = row_of(n, 0);
		assert_int_equal(history_tokens_row(h, NULL, &record, &response, &row), 0);
	}
	record.continues = 0;
	struct result row = row_of(turns, 0);
	assert_int_equal(history_tokens_row(h, NULL, &record, &response, &row), 0);
	assert_int_equal(row.history_tokens, IPF_ABSENT);
	record.continues = turns - 1;
	row = row_of(turns + 1, 0);
	buffer_text(&response.prompt_ids, ",7");
	assert_int_equal(history_tokens_row(h, NULL, &record, &response, &row), 0);
	assert_int_equal(row.history_tokens, (1 << 16) + 1);
	assert_int_equal(row.history_same_tokens, (1 << 16) + 1);
	response_release(&response);
	history_tokens_free(h);
}

/* Continued turns are forgotten first, so turns waiting for their continuation stay. */
static void continued_turns_are_forgotten_first(void **state)
{
	(void)state;
	struct history_tokens *h = history_tokens_new();
	add(h, NULL, 0, IPF_ABSENT, 0);
	add(h, NULL, 1, IPF_ABSENT, 0);
	assert_int_equal(add(h, NULL, 2, 1, 12).history_generated_tokens, 4);
	for (int64_t n = 2; n < 1000000; n++)
		assert_int_equal(add(h, NULL, n + 1, n, 12).history_generated_tokens, 4);
	assert_int_equal(add(h, NULL, 1000001, 0, 12).history_generated_tokens, 4);
	assert_int_equal(add(h, NULL, 1000002, 1, 12).history_generated_tokens, IPF_ABSENT);
	history_tokens_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_counted_whole),
		cmocka_unit_test(turns_are_held_against_the_one_before),
		cmocka_unit_test(text_tokens_are_those_of_answers_of_text),
		cmocka_unit_test(turns_are_kept_if_a_later_one_can_tell),
		cmocka_unit_test(a_number_that_comes_again_replaces_its_turn),
		cmocka_unit_test(ids_of_both_prompt_and_answer_are_compared),
		cmocka_unit_test(the_last_turns_are_kept),
		cmocka_unit_test(continued_turns_are_forgotten_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "canary/canary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- marks ---- */

static void marks_are_found(void **state)
{
	char mark[CANARY_MARK + 1], decoy[CANARY_MARK + 1];
	struct rng rng;

	(void)state;
	rng_init(&rng, 1, "canary", 0);
	for (int i = 0; i < 1000; i++) {
		canary_mark(&rng, mark);
		canary_decoy(&rng, decoy);
		assert_true(canary_is_mark(slice_of(mark)));
		assert_false(canary_is_mark(slice_of(decoy)));
		assert_int_equal(strlen(mark), CANARY_MARK);
		assert_null(strpbrk(mark, "IO01"));
	}
}

/* A code of distance 4 notices each change of up to three symbols. */
static void corrupted_marks_are_none(void **state)
{
	static const char symbols[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
	char mark[CANARY_MARK + 1], changed[CANARY_MARK + 1];
	struct rng rng;

	(void)state;
	rng_init(&rng, 2, "canary", 0);
	canary_mark(&rng, mark);
	for (int place = 0; place < CANARY_MARK; place++)
		for (int symbol = 0; symbol < 32; symbol++) {
			memcpy(changed, mark, sizeof changed);
			changed[place] = symbols[symbol];
			assert_int_equal(canary_is_mark(slice_of(changed)), strcmp(changed, mark) == 0);
		}
	for (int i = 0; i < 200000; i++) {
		memcpy(changed, mark, sizeof changed);
		for (int change = 0; change < 3; change++)
			changed[rng_below(&rng, CANARY_MARK)] = symbols[rng_below(&rng, 32)];
		assert_int_equal(canary_is_mark(slice_of(changed)), strcmp(changed, mark) == 0);
	}
	for (int place = 0; place + 1 < CANARY_MARK; place++) {
		memcpy(changed, mark, sizeof changed);
		changed[place] = mark[place + 1];
		changed[place + 1] = mark[place];
		assert_int_equal(canary_is_mark(slice_of(changed)), strcmp(changed, mark) == 0);
	}
}

static void random_words_are_rarely_marks(void **state)
{
	static const char symbols[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
	enum { WORDS = 1 << 22 };
	char word[CANARY_MARK];
	struct rng rng;
	int found = 0;

	(void)state;
	rng_init(&rng, 3, "canary", 0);
	for (int i = 0; i < WORDS; i++) {
		uint64_t draw = rng_next(&rng);
		for (int k = 0; k < CANARY_MARK; k++, draw >>= 5)
			word[k] = symbols[draw & 31];
		found += canary_is_mark((struct slice){word, sizeof word});
	}
	/* 2^22 / 2^15 = 128 expected at most, with a standard deviation of 11 */
	assert_in_range(found, 60, 190);
}

static void assert_next_mark(const char *text, size_t *at, const char *mark)
{
	struct slice found = canary_mark_find(slice_of(text), at);
	if (!mark)
		assert_null(found.data);
	else if (!slice_is(found, mark))
		fail_msg("found \"%.*s\" in \"%s\", expected %s", (int)found.len, found.data ? found.data : "", text, mark);
}

static void marks_are_whole_words(void **state)
{
	char first[CANARY_MARK + 1], second[CANARY_MARK + 1], text[200];
	struct rng rng;
	size_t at = 0;

	(void)state;
	rng_init(&rng, 4, "canary", 0);
	canary_mark(&rng, first);
	canary_mark(&rng, second);
	snprintf(text, sizeof text, "{\"code\": \"%s\"}, **%s**. X%s %s_ %s9 \xe4\xba\x86%s", first, second, first, first,
	         first, second);
	assert_next_mark(text, &at, first);
	assert_next_mark(text, &at, second);
	assert_next_mark(text, &at, second);
	assert_next_mark(text, &at, NULL);
	assert_int_equal(at, strlen(text));
	at = 0;
	assert_null(canary_mark_find((struct slice){0}, &at).data);
	assert_false(canary_is_mark(slice_of("AAAAAAAAAAAA")));
	assert_false(canary_is_mark(slice_of("222222222222")));
}

/* ---- from prompt to verdict ---- */

static void assert_verdict(enum canary_kind kind, const char *expected, const char *answer, enum canary_verdict verdict)
{
	enum canary_verdict got = canary_judge(kind, slice_of(expected), slice_of(answer));
	if (got != verdict)
		fail_msg("%s: expected %s, answer %s: verdict %d instead of %d", canary_kind_names[kind], expected, answer, got,
		         verdict);
}

/* Each single byte of an answer that changes makes it wrong; the JSON may contain a space more. */
static void assert_corrupted_is_wrong(const struct canary *c)
{
	char *changed = slice_dup(buffer_all(&c->answer));
	assert_non_null(changed);
	for (size_t i = 0; i < c->answer.len; i++) {
		char kept = changed[i];
		if (kept == ' ')
			continue;
		changed[i] = kept == '7' ? 'K' : '7';
		assert_verdict(c->kind, c->answer.data, changed, CANARY_WRONG);
		changed[i] = kept;
	}
	changed[c->answer.len - 1] = '\0';
	assert_verdict(c->kind, c->answer.data, changed, CANARY_WRONG);
	free(changed);
}

static void assert_one_mark(const struct canary *c, const struct buffer *text)
{
	size_t at = 0;
	bool marked = c->kind != CANARY_ARITHMETIC;
	assert_int_equal(canary_mark_find(buffer_all(text), &at).data != NULL, marked);
	assert_null(canary_mark_find(buffer_all(text), &at).data);
}

static void canaries_are_solved(void **state)
{
	struct ipf_error err = {0};
	struct canary c = {0};
	struct buffer answer = {0}, completion = {0};
	struct rng rng;

	(void)state;
	rng_init(&rng, 5, "canary", 0);
	for (int i = 0; i < 500; i++) {
		enum canary_kind kind = (enum canary_kind)(i % CANARY_KINDS);
		int64_t tokens = (int64_t)rng_below(&rng, 1 << rng_below(&rng, 15));
		assert_int_equal(canary_make(&c, kind, &rng, tokens, &err), 0);
		buffer_clear(&answer);
		buffer_clear(&completion);
		assert_true(canary_solve(buffer_all(&c.prompt), &answer));
		assert_verdict(kind, c.answer.data, answer.data, CANARY_RIGHT);
		canary_completion(&c, &completion);
		buffer_clear(&answer);
		buffer_byte(&answer, ' ');
		assert_true(canary_solve(buffer_all(&completion), &answer));
		assert_null(strchr(answer.data, '\n'));
		assert_verdict(kind, c.answer.data, answer.data, CANARY_RIGHT);
		assert_one_mark(&c, &c.prompt);
		assert_one_mark(&c, &completion);
		assert_one_mark(&c, &c.answer);
		assert_corrupted_is_wrong(&c);
	}
	canary_release(&c);
	buffer_release(&answer);
	buffer_release(&completion);
}

static void recalled_fact_is_in_the_middle(void **state)
{
	struct ipf_error err = {0};
	struct canary c = {0};
	struct rng rng;

	(void)state;
	rng_init(&rng, 6, "canary", 0);
	for (int i = 0; i < 100; i++) {
		size_t at = 0;
		assert_int_equal(canary_make(&c, CANARY_RECALL, &rng, 8000, &err), 0);
		struct slice mark = canary_mark_find(buffer_all(&c.prompt), &at);
		assert_true(slice_equal(mark, buffer_all(&c.answer)));
		assert_in_range((size_t)(mark.data - c.prompt.data), c.prompt.len * 24 / 100, c.prompt.len * 77 / 100);
	}
	assert_int_equal(canary_make(&c, CANARY_RECALL, &rng, INT64_MAX, &err), 0);
	assert_in_range(c.prompt.len, 4096 * 30, 4096 * 60);
	canary_release(&c);
}

static void other_prompts_are_not_solved(void **state)
{
	static const char *const prompts[] = {
		"",
		"Hello",
		"Q: Hello\nA:",
		"Q: Compute 3 + 4. Write only the number.",
		"Compute 3 - 4. Write only the number.",
		"Compute 3000 + 4. Write only the number.",
		"Compute 3 + . Write only the number.",
		"Repeat this code exactly and write nothing else: HELLO",
		"Here is a list of codes.\n\nThe code of blue fox is X.\n\nWrite the code of red fox and nothing else.",
	};
	struct buffer answer = {0};

	(void)state;
	for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++)
		assert_false(canary_solve(slice_of(prompts[i]), &answer));
	assert_false(canary_solve((struct slice){0}, &answer));
	assert_int_equal(answer.len, 0);
	buffer_release(&answer);
}

/* ---- rules ---- */

static void texts_are_equal_after_trimming(void **state)
{
	(void)state;
	for (enum canary_kind kind = CANARY_COPY; kind <= CANARY_RECALL; kind++) {
		assert_verdict(kind, "AB2", "AB2", CANARY_RIGHT);
		assert_verdict(kind, "AB2", " \n\tAB2\r\n", CANARY_RIGHT);
		assert_verdict(kind, "AB2", "AB2.", CANARY_WRONG);
		assert_verdict(kind, "AB2", "\"AB2\"", CANARY_WRONG);
		assert_verdict(kind, "AB2", "ab2", CANARY_WRONG);
		assert_verdict(kind, "AB2", "AB 2", CANARY_WRONG);
		assert_verdict(kind, "AB2", "", CANARY_WRONG);
		assert_verdict(kind, "AB2", "\n", CANARY_WRONG);
	}
}

static void lists_are_compared_by_item(void **state)
{
	(void)state;
	assert_verdict(CANARY_LIST, "a, red fox, b", "a, red fox, b", CANARY_RIGHT);
	assert_verdict(CANARY_LIST, "a, red fox, b", " a,red fox ,\nb\n", CANARY_RIGHT);
	assert_verdict(CANARY_LIST, "a, red fox, b", "red fox, a, b", CANARY_WRONG);
	assert_verdict(CANARY_LIST, "a, red fox, b", "a, red fox", CANARY_WRONG);
	assert_verdict(CANARY_LIST, "a, red fox, b", "a, red fox, b, b", CANARY_WRONG);
	assert_verdict(CANARY_LIST, "a, red fox, b", "a, red fox, b,", CANARY_WRONG);
	assert_verdict(CANARY_LIST, "a, red fox, b", "a, red  fox, b", CANARY_WRONG);
	assert_verdict(CANARY_LIST, "a, red fox, b", "a\nred fox\nb", CANARY_WRONG);
	assert_verdict(CANARY_LIST, "a", "a", CANARY_RIGHT);
	assert_verdict(CANARY_LIST, "a", ",a", CANARY_WRONG);
}

static void numbers_are_compared_by_value(void **state)
{
	static const char *const equal[] = {"12", "12.0", "+12", "012", "12.", "12.00.", " 12\n"};
	static const char *const other[] = {"13",     "-12", "12.1",   "1 2",   "x = 12", "12e0", "12..",
	                                    "**12**", ".",   "twelve", "12 12", "1,2",    "$12"};

	(void)state;
	for (size_t i = 0; i < sizeof equal / sizeof *equal; i++)
		assert_verdict(CANARY_ARITHMETIC, "12", equal[i], CANARY_RIGHT);
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		assert_verdict(CANARY_ARITHMETIC, "12", other[i], CANARY_WRONG);
	assert_verdict(CANARY_ARITHMETIC, "0", "-0.0", CANARY_RIGHT);
	assert_verdict(CANARY_ARITHMETIC, "1200", "1,200", CANARY_WRONG);
	assert_verdict(CANARY_ARITHMETIC, "9007199254740993", "9007199254740992", CANARY_WRONG);
}

static void json_is_compared_by_value(void **state)
{
	static const char expected[] = "{\"code\":\"K\\u0041\",\"count\":12,\"ok\":true,\"in\":[1,{\"x\":null}]}";
	static const char *const equal[] = {
		"{\"code\":\"KA\",\"count\":12,\"ok\":true,\"in\":[1,{\"x\":null}]}",
		" { \"ok\" : true, \"in\":[1.0,{\"x\":null}], \"code\":\"KA\",\n\"count\":1.2e1 }\n",
		"{\"\\u0063ode\":\"KA\",\"count\":12,\"ok\":true,\"in\":[1,{\"x\":null}]}",
	};
	static const char *const other[] = {
		"```json\n{\"code\":\"KA\",\"count\":12,\"ok\":true,\"in\":[1,{\"x\":null}]}\n```",
		"{\"code\":\"KA\",\"count\":\"12\",\"ok\":true,\"in\":[1,{\"x\":null}]}",
		"{\"code\":\"KA\",\"count\":12,\"ok\":false,\"in\":[1,{\"x\":null}]}",
		"{\"code\":\"KA\",\"count\":12,\"ok\":true,\"in\":[{\"x\":null},1]}",
		"{\"code\":\"KA\",\"count\":12,\"ok\":true,\"in\":[1,{\"y\":null}]}",
		"{\"code\":\"KA\",\"count\":12,\"ok\":true}",
		"{\"code\":\"KA\",\"count\":12,\"ok\":true,\"in\":[1,{\"x\":null}],\"in\":0}",
		"{\"code\":\"KA\",\"code\":\"KA\",\"count\":12,\"ok\":true}",
		"{\"code\":\"KA\",\"count\":12,\"ok\":true,\"in\":[1,{\"x\":null}]} ok",
		"{\"code\":\"KA\",\"count\":12,\"ok\":true,\"in\":[1,{\"x\":null}]",
		"[]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof equal / sizeof *equal; i++)
		assert_verdict(CANARY_JSON, expected, equal[i], CANARY_RIGHT);
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		assert_verdict(CANARY_JSON, expected, other[i], CANARY_WRONG);
}

static void long_answers_are_undecided(void **state)
{
	char *text = malloc(CANARY_ANSWER_MOST + 2);

	(void)state;
	assert_non_null(text);
	memset(text, 'A', CANARY_ANSWER_MOST + 1);
	text[CANARY_ANSWER_MOST + 1] = '\0';
	assert_verdict(CANARY_COPY, "A", text, CANARY_UNDECIDED);
	assert_verdict(CANARY_COPY, text, "A", CANARY_UNDECIDED);
	text[CANARY_ANSWER_MOST] = '\0';
	assert_verdict(CANARY_COPY, "A", text, CANARY_WRONG);
	free(text);
}

static void tags_are_read_back(void **state)
{
	static const char *const none[] = {
		"[\"canary\"]",
		"{}",
		"{\"canary\":true}",
		"{\"canary\":{\"kind\":\"copy\"}}",
		"{\"canary\":{\"kind\":\"new\",\"answer\":\"A\"}}",
		"{\"canary\":{\"kind\":\"copy\",\"answer\":1}}",
	};
	struct ipf_error err = {0};
	struct canary_expected expected = {0};
	struct canary c = {0};
	struct buffer tags = {0};
	struct jdoc doc = {0};
	struct rng rng;

	(void)state;
	rng_init(&rng, 7, "canary", 0);
	for (int kind = 0; kind < CANARY_KINDS; kind++) {
		assert_int_equal(canary_make(&c, (enum canary_kind)kind, &rng, 0, &err), 0);
		buffer_clear(&tags);
		buffer_text(&tags, "{\"team\":1,\"canary\":");
		canary_tag(&c, &tags);
		buffer_byte(&tags, '}');
		assert_int_equal(jdoc_parse(&doc, tags.data, tags.len, &err), 0);
		assert_true(canary_tag_read(&doc, JDOC_ROOT, &expected));
		assert_int_equal(expected.kind, kind);
		assert_string_equal(expected.answer.data, c.answer.data);
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		assert_int_equal(jdoc_parse(&doc, none[i], strlen(none[i]), &err), 0);
		assert_false(canary_tag_read(&doc, JDOC_ROOT, &expected));
	}
	assert_false(canary_tag_read(&doc, JDOC_NONE, &expected));
	canary_expected_release(&expected);
	canary_release(&c);
	buffer_release(&tags);
	jdoc_release(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_are_found),
		cmocka_unit_test(corrupted_marks_are_none),
		cmocka_unit_test(random_words_are_rarely_marks),
		cmocka_unit_test(marks_are_whole_words),
		cmocka_unit_test(canaries_are_solved),
		cmocka_unit_test(recalled_fact_is_in_the_middle),
		cmocka_unit_test(other_prompts_are_not_solved),
		cmocka_unit_test(texts_are_equal_after_trimming),
		cmocka_unit_test(lists_are_compared_by_item),
		cmocka_unit_test(numbers_are_compared_by_value),
		cmocka_unit_test(json_is_compared_by_value),
		cmocka_unit_test(long_answers_are_undecided),
		cmocka_unit_test(tags_are_read_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

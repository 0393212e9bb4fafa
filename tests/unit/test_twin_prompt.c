/* The pure parts of a run against a twin: deadlines, and its view of a request. */
#include "predict/twin_prompt.h"

#include "absent.h"
#include "deadline_heap.h"
#include "batching/kv_cache.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- deadlines ---- */

enum { MANY = 500 };

static uint64_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *state >> 33;
}

/* The first one by looking at all; NULL: there is none. */
static const struct deadline_entry *least(const struct deadline_entry *all, size_t *left)
{
	const struct deadline_entry *found = NULL;
	*left = 0;
	for (size_t i = 0; i < MANY; i++)
		if (all[i].place) {
			++*left;
			found = !found || all[i].at_ns < found->at_ns ? &all[i] : found;
		}
	return found;
}

static void the_first_deadline_is_the_earliest(void **state)
{
	static struct deadline_entry all[MANY];
	struct deadline_heap heap = {0};
	uint64_t seed = 7;
	size_t left;
	(void)state;
	assert_null(deadline_heap_first(&heap));
	for (int i = 0; i < MANY; i++)
		all[i].order = i;
	for (int i = 0; i < 20000; i++) {
		struct deadline_entry *d = &all[draw(&seed) % MANY];
		if (draw(&seed) % 3 == 0)
			deadline_heap_remove(&heap, d);
		else
			assert_true(deadline_heap_set(&heap, d, (int64_t)(draw(&seed) % 1000)));
		const struct deadline_entry *expected = least(all, &left);
		assert_int_equal(heap.count, left);
		assert_ptr_equal(deadline_heap_first(&heap), expected);
	}
	deadline_heap_release(&heap);
}

/* ---- prompts ---- */

#define ROOM (INT64_C(1) << 20)

static char path[64];

/* A trace of these lines, as the file `path`; `more` follows in its header. */
static void save_with(const char *more, const char *const *lines, size_t count)
{
	snprintf(path, sizeof path, "/tmp/ipf-twin-trace-%d", (int)getpid());
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "{\"ipf\":\"trace\",\"version\":1,\"tool\":\"test\"%s}\n", more);
	for (size_t i = 0; i < count; i++)
		fprintf(f, "%s\n", lines[i]);
	fclose(f);
}

static void save(const char *const *lines, size_t count)
{
	save_with("", lines, count);
}

/* The prompt of a line of a trace. */
static struct twin_answer read_line(struct twin_prompt *prompts, const char *line, bool lengths_only)
{
	struct jdoc doc = {0};
	struct arrival_request a = {.arrival.req = 3};
	struct twin_answer answer = {0};
	struct ipf_error err = {0};
	assert_int_equal(trace_request_parse(&doc, slice_of(line), lengths_only, &a.request, &err), 0);
	assert_int_equal(twin_prompt_read(prompts, &a, (struct slice){0}, &answer, &err), 0);
	jdoc_release(&doc);
	return answer;
}

static struct twin_prompt *open_prompts(bool answers)
{
	struct twin_prompt *prompts;
	struct ipf_error err = {0};
	const struct twin_prompt_options o = {
		.trace = path, .room = ROOM, .blocks = true, .answers = answers, .times = {1, 1}};
	assert_int_equal(twin_prompt_open(&prompts, &o, &err), 0);
	return prompts;
}

/* A line whose prompt is `bytes` long, the first `same` of them equal in all. */
static char *prompt_line(size_t bytes, size_t same, char other, int64_t input_tokens)
{
	char *line = malloc(bytes + 200), *at = line + sprintf(line, "{\"id\":\"%c\",\"prompt\":\"", other);
	memset(at, 'x', same);
	memset(at + same, other, bytes - same);
	sprintf(at + bytes, "\",\"input_tokens\":%lld,\"output_tokens\":40}", (long long)input_tokens);
	return line;
}

static int32_t shared(const struct twin_answer *a, const struct twin_answer *b)
{
	int32_t i = 0;
	while (i < a->sequence.hash_count && i < b->sequence.hash_count && a->sequence.hashes[i] == b->sequence.hashes[i])
		i++;
	return i;
}

/* Texts of 640 tokens by ours, of which the first 320 are equal, and as many as the trace says. */
static void blocks_are_shared_where_the_texts_are(int64_t tokens, int32_t blocks, int32_t equal)
{
	char *a = prompt_line(2560, 1280, 'a', tokens), *b = prompt_line(2560, 1280, 'b', tokens);
	save((const char *[]){a, b}, 2);
	struct twin_prompt *prompts = open_prompts(false);
	struct twin_answer one = read_line(prompts, a, false), two = read_line(prompts, b, false);
	assert_int_equal(one.sequence.prompt_tokens, tokens);
	assert_int_equal(one.sequence.output_tokens, 40);
	assert_int_equal(one.sequence.hash_count, blocks);
	assert_int_equal(shared(&one, &two), equal);
	for (int32_t i = 1; i < blocks; i++)
		assert_true(one.sequence.hashes[i] != one.sequence.hashes[i - 1]);
	twin_answer_release(&one);
	twin_answer_release(&two);
	twin_prompt_close(prompts);
	free(a);
	free(b);
}

static void blocks_by_the_servers_tokens(void **state)
{
	(void)state;
	blocks_are_shared_where_the_texts_are(640, 40, 20);
	blocks_are_shared_where_the_texts_are(644, 40, 20);  /* within one in a hundred */
	blocks_are_shared_where_the_texts_are(1280, 80, 41); /* two for each of ours; one more begins in the equal part */
	blocks_are_shared_where_the_texts_are(320, 20, 10);
	blocks_are_shared_where_the_texts_are(960, 60, 31);
	remove(path);
}

static void the_factor_is_that_of_the_trace(void **state)
{
	char *a = prompt_line(400, 0, 'a', 150), *b = prompt_line(800, 0, 'b', 150);
	struct ipf_error err = {0};
	double factor;
	(void)state;
	save((const char *[]){a, b}, 2);
	assert_int_equal(twin_prompt_factor(path, &factor, &err), 0);
	assert_true(factor == 1);
	free(b);
	b = prompt_line(800, 0, 'b', 300);
	save((const char *[]){a, b}, 2);
	assert_int_equal(twin_prompt_factor(path, &factor, &err), 0);
	assert_true(factor == 1.5);
	free(a);
	free(b);
	remove(path);
}

static void recorded_blocks(void **state)
{
	static const char first[] = "{\"id\":\"a\",\"input_tokens\":100,\"output_tokens\":1,"
								"\"blocks\":{\"tokens\":48,\"ids\":[1,2,3]}}",
					  second[] = "{\"id\":\"b\",\"input_tokens\":100,\"output_tokens\":1,"
								 "\"blocks\":{\"tokens\":48,\"ids\":[1,7,3]}}";
	(void)state;
	save_with(",\"prompts\":\"none\"", (const char *[]){first, second}, 2);
	struct twin_prompt *prompts = open_prompts(false);
	struct twin_answer a = read_line(prompts, first, true), b = read_line(prompts, second, true);
	assert_int_equal(a.sequence.hash_count, 6); /* whole blocks of 100 tokens */
	assert_int_equal(shared(&a, &b), 3);
	twin_answer_release(&a);
	twin_answer_release(&b);
	twin_prompt_close(prompts);
	remove(path);
}

/* Two ids beyond the 63 bits of a signed integer that differ in the last one. */
static void ids_of_64_bits(void **state)
{
	(void)state;
	static const char one[] = "{\"id\":\"a\",\"input_tokens\":96,\"output_tokens\":4,"
							  "\"blocks\":{\"tokens\":48,\"ids\":[18446744073709551614,2]}}";
	static const char two[] = "{\"id\":\"b\",\"input_tokens\":96,\"output_tokens\":4,"
							  "\"blocks\":{\"tokens\":48,\"ids\":[18446744073709551615,2]}}";
	save_with(",\"prompts\":\"none\"", (const char *[]){one, two}, 2);
	struct twin_prompt *prompts = open_prompts(false);
	struct twin_answer a = read_line(prompts, one, true), b = read_line(prompts, two, true),
					   c = read_line(prompts, one, true);
	assert_int_equal(a.sequence.hash_count, 6);
	assert_int_equal(shared(&a, &b), 0);
	assert_int_equal(shared(&a, &c), 6);
	twin_answer_release(&a);
	twin_answer_release(&b);
	twin_answer_release(&c);
	twin_prompt_close(prompts);
	remove(path);
}

static void answers_complete_blocks(void **state)
{
	static const char line[] =
		"{\"id\":\"a\",\"prompt\":\"0123456789012345678901234567890123456789\",\"input_tokens\":10,"
		"\"output_tokens\":30,\"answer\":\"0123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789\"}";
	(void)state;
	save((const char *[]){line}, 1);
	for (int answers = 0; answers < 2; answers++) {
		struct twin_prompt *prompts = open_prompts(answers);
		struct twin_answer a = read_line(prompts, line, false);
		assert_int_equal(a.sequence.prompt_tokens, 10);
		assert_int_equal(a.sequence.hash_count, answers ? 1 : 0); /* 30 tokens of ours */
		twin_answer_release(&a);
		twin_prompt_close(prompts);
	}
	remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_deadline_is_the_earliest),
		cmocka_unit_test(blocks_by_the_servers_tokens),
		cmocka_unit_test(the_factor_is_that_of_the_trace),
		cmocka_unit_test(recorded_blocks),
		cmocka_unit_test(ids_of_64_bits),
		cmocka_unit_test(answers_complete_blocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

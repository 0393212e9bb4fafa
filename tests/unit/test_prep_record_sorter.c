/* record_sorter.h: the same order in memory and in temporary files; sort_key.h; draft_record.h. */
#include "sort/record_sorter.h"

#include "absent.h"
#include "draft/draft_record.h"
#include "memory_limit.h"
#include "sort/sort_key.h"
#include "unit.h"

#include <signal.h>
#include <sys/resource.h>

static struct slice random_bytes(uint64_t *random, char *space, size_t most)
{
	size_t len = (size_t)(test_random(random) % (most + 1));
	for (size_t i = 0; i < len; i++)
		space[i] = (char)(test_random(random) % 4);
	return (struct slice){space, len};
}

/* Everything a sorter gives, behind each other. */
static void sort_all(uint64_t seed, size_t count, size_t limit, struct buffer *out)
{
	struct record_sorter s = {0};
	struct ipf_error err = {0};
	const struct sorted_record *record;
	char key[24], bytes[256];
	memory_limit_set(limit);
	for (size_t i = 0; i < count; i++) {
		struct slice k = random_bytes(&seed, key, seed % 3 ? sizeof key : 1);
		struct slice b = random_bytes(&seed, bytes, sizeof bytes - sizeof i);
		memcpy(bytes + b.len, &i, sizeof i);
		assert_int_equal(record_sorter_add(&s, k, (struct slice){bytes, b.len + sizeof i}, &err), 0);
	}
	for (int round = 0; round < 2; round++) {
		int got;
		buffer_clear(out);
		assert_int_equal(record_sorter_sort(&s, &err), 0);
		while ((got = record_sorter_next(&s, &record, &err)) > 0) {
			assert_int_equal((uintptr_t)sorted_record_bytes(record).data % 8, 0);
			buffer_append(out, &record->key_len, sizeof record->key_len);
			buffer_slice(out, sorted_record_key(record));
			buffer_slice(out, sorted_record_bytes(record));
		}
		assert_int_equal(got, 0);
		assert_int_equal(record_sorter_next(&s, &record, &err), 0);
	}
	assert_int_equal(s.records, count);
	record_sorter_release(&s);
	memory_limit_set(0);
}

static void any_limit_gives_the_same(void **state)
{
	(void)state;
	static const size_t limits[] = {1, 2000, 30000, 1 << 20};
	uint64_t random = test_seed("limits");
	for (int round = 0; round < few_or_many(4, 100); round++) {
		uint64_t seed = test_random(&random);
		size_t count = (size_t)(test_random(&random) % 4000);
		struct buffer in_memory = {0}, spilled = {0};
		sort_all(seed, count, (size_t)1 << 30, &in_memory);
		for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
			sort_all(seed, count, limits[i], &spilled);
			assert_int_equal(spilled.len, in_memory.len);
			if (spilled.len)
				assert_memory_equal(spilled.data, in_memory.data, spilled.len);
		}
		buffer_release(&in_memory);
		buffer_release(&spilled);
	}
}

/* Keys ascend, and records with the same key are in the order of adding. */
static void order_is_stable(void **state)
{
	(void)state;
	static const size_t limits[] = {4000, 1 << 30};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct record_sorter s = {0};
		struct buffer key = {0};
		struct ipf_error err = {0};
		const struct sorted_record *record;
		uint64_t random = 7, before = 0, last = 0;
		memory_limit_set(limits[i]);
		for (uint64_t k = 0; k < 3000; k++) {
			buffer_clear(&key);
			sort_key_number(&key, (int64_t)(test_random(&random) % 10));
			assert_int_equal(record_sorter_add(&s, buffer_all(&key), (struct slice){(char *)&k, sizeof k}, &err), 0);
		}
		assert_int_equal(record_sorter_sort(&s, &err), 0);
		for (uint64_t k = 0; k < 3000; k++) {
			uint64_t number;
			assert_int_equal(record_sorter_next(&s, &record, &err), 1);
			memcpy(&number, sorted_record_bytes(record).data, sizeof number);
			uint64_t now = sorted_record_prefix(record);
			assert_true(k == 0 || now > before || (now == before && number > last));
			before = now;
			last = number;
		}
		record_sorter_release(&s);
		buffer_release(&key);
	}
	memory_limit_set(0);
}

static int compare_keys(struct buffer *a, struct buffer *b)
{
	int order = memcmp(a->data, b->data, a->len < b->len ? a->len : b->len);
	return order ? order : a->len < b->len ? -1 : a->len > b->len;
}

static void keys_sort_as_values(void **state)
{
	(void)state;
	static const int64_t numbers[] = {INT64_MIN, -300, -1, 0, 1, 255, 256, INT64_MAX};
	static const struct slice texts[] = {{"", 0}, {"\0", 1}, {"\0a", 2}, {"a", 1}, {"a\0", 2}, {"aa", 2}, {"b", 1}};
	struct buffer a = {0}, b = {0};
	for (size_t i = 1; i < sizeof numbers / sizeof *numbers; i++) {
		buffer_clear(&a);
		buffer_clear(&b);
		sort_key_number(&a, numbers[i - 1]);
		sort_key_number(&b, numbers[i]);
		assert_true(compare_keys(&a, &b) < 0);
	}
	for (size_t i = 1; i < sizeof texts / sizeof *texts; i++) {
		buffer_clear(&a);
		buffer_clear(&b);
		sort_key_text(&a, texts[i - 1]);
		sort_key_number(&a, INT64_MAX); /* does not matter */
		sort_key_text(&b, texts[i]);
		sort_key_number(&b, INT64_MIN);
		assert_true(compare_keys(&a, &b) < 0);
	}
	buffer_release(&a);
	buffer_release(&b);
}

static int fill(struct record_sorter *s, struct ipf_error *err)
{
	static const char bytes[4096];
	uint64_t random = 1;
	char key[4096];
	for (int i = 0; i < 1000; i++) {
		for (size_t k = 0; k < sizeof key; k++)
			key[k] = (char)test_random(&random); /* does not compress */
		if (record_sorter_add(s, (struct slice){key, sizeof key}, (struct slice){bytes, sizeof bytes}, err) < 0)
			return -1;
	}
	return record_sorter_sort(s, err);
}

static void a_full_disk_is_an_error(void **state)
{
	(void)state;
	struct record_sorter s = {0};
	struct ipf_error err = {0};
	struct rlimit before, small;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){.rlim_cur = 100000, .rlim_max = before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	memory_limit_set(1 << 20);
	assert_int_equal(fill(&s, &err), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	memory_limit_set(0);
	assert_int_equal(err.kind, IPF_SYSTEM);
	assert_non_null(strstr(err.text, "TMPDIR"));
	record_sorter_release(&s);
}

static void a_folder_that_is_missing_is_an_error(void **state)
{
	(void)state;
	struct record_sorter s = {0};
	struct ipf_error err = {0};
	const char *before = getenv("TMPDIR");
	char *kept = before ? strdup(before) : NULL;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	memory_limit_set(1 << 20);
	assert_int_equal(fill(&s, &err), -1);
	assert_int_equal(err.kind, IPF_SYSTEM);
	assert_string_equal(err.file, "/nowhere/at/all");
	memory_limit_set(0);
	record_sorter_release(&s);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
}

/* ---- drafts ---- */

static void fill_request(struct draft *d, uint64_t *random)
{
	struct draft_request *r = draft_request(d);
	uint64_t *ids = draft_ids(d, 12);
	for (int i = 0; i < 12; i++)
		ids[i] = test_random(random);
	r->input_tokens = test_random(random) % 2 ? 7 : IPF_ABSENT;
	r->at_ns = test_random(random) % 2 ? -5 : IPF_ABSENT;
	r->hang_up_ns = 3;
	r->recorded_ttft_ns = test_random(random) % 2 ? 11 : IPF_ABSENT;
	r->recorded_e2e_ns = test_random(random) % 2 ? 12 : IPF_ABSENT;
	r->answer = slice_of("an answer");
	r->answer_tokens = 2;
	r->answer_counted = test_random(random) % 2;
	r->tags = test_random(random) % 2 ? slice_of("") : (struct slice){0};
	r->blocks = (struct draft_blocks){.ids = ids,
	                                  .count = test_random(random) % 4,
	                                  .tokens = 16,
	                                  .scope = slice_of(test_random(random) % 2 ? "s" : NULL)};
	if (test_random(random) % 2)
		r->blocks.sizes = (const int64_t *)(ids + 4);
	if (test_random(random) % 2) {
		r->parents = ids + 10;
		r->parent_count = test_random(random) % 3;
	}
	r->failed = test_random(random) % 2;
	r->batch = test_random(random) % 2;
	for (uint64_t i = test_random(random) % 3; i > 0; i--) {
		struct draft_message *m = draft_message(d, ROLE_ASSISTANT, slice_of("text"));
		m->counted = test_random(random) % 2;
		m->tokens = m->counted ? 4 : 0;
		m->json = test_random(random) % 2 ? slice_of("{}") : (struct slice){0};
		m->media = test_random(random) % 2 ? slice_of("[]") : (struct slice){0};
	}
}

static void assert_same_request(const struct draft_request *a, const struct draft_request *b)
{
	assert_int_equal(a->first, b->first);
	assert_int_equal(a->count, b->count);
	assert_true(a->input_tokens == b->input_tokens && a->output_tokens == b->output_tokens);
	assert_true(a->at_ns == b->at_ns && a->wait_ns == b->wait_ns && a->hang_up_ns == b->hang_up_ns);
	assert_true(a->recorded_ttft_ns == b->recorded_ttft_ns && a->recorded_e2e_ns == b->recorded_e2e_ns);
	assert_true(slice_equal(a->answer, b->answer) && slice_equal(a->tags, b->tags) && slice_equal(a->id, b->id));
	assert_true(slice_equal(a->blocks.scope, b->blocks.scope));
	assert_int_equal(a->answer_tokens, b->answer_tokens);
	assert_true(a->answer_counted == b->answer_counted && a->failed == b->failed && a->batch == b->batch);
	assert_int_equal(a->blocks.count, b->blocks.count);
	assert_int_equal(a->blocks.tokens, b->blocks.tokens);
	for (size_t i = 0; i < a->blocks.count; i++)
		assert_true(a->blocks.ids[i] == b->blocks.ids[i] &&
		            (!a->blocks.sizes || (a->blocks.sizes[2 * i] == b->blocks.sizes[2 * i] &&
		                                  a->blocks.sizes[2 * i + 1] == b->blocks.sizes[2 * i + 1])));
	assert_true(!a->parents == !b->parents);
	assert_int_equal(a->parent_count, b->parent_count);
	for (size_t i = 0; i < a->parent_count; i++)
		assert_true(a->parents[i] == b->parents[i]);
}

static void drafts_are_read_as_written(void **state)
{
	(void)state;
	uint64_t random = test_seed("drafts");
	struct draft d = {0}, read = {0};
	struct buffer record = {0};
	for (int round = 0; round < 200; round++) {
		draft_begin(&d, round, (int64_t)(test_random(&random) % 2));
		d.copy = (int64_t)(test_random(&random) % 2);
		d.turn = (int64_t)(test_random(&random) % 2);
		d.chain = test_random(&random) % 2;
		d.session = slice_of(test_random(&random) % 2 ? "session" : NULL);
		for (uint64_t i = test_random(&random) % 4; i > 0; i--)
			fill_request(&d, &random);
		buffer_clear(&record);
		draft_record_write(&d, &record);
		draft_record_read(&read, buffer_all(&record));
		assert_true(read.number == d.number && read.part == d.part && read.copy == d.copy && read.turn == d.turn);
		assert_true(read.chain == d.chain && slice_equal(read.session, d.session) && !read.failed);
		assert_int_equal(read.count, d.count);
		assert_int_equal(read.message_count, d.message_count);
		for (size_t i = 0; i < d.count; i++)
			assert_same_request(&read.requests[i], &d.requests[i]);
		for (size_t i = 0; i < d.message_count; i++) {
			const struct draft_message *a = &d.messages[i], *b = &read.messages[i];
			assert_true(a->role == b->role && a->counted == b->counted && a->tokens == b->tokens);
			assert_true(slice_equal(a->text, b->text) && slice_equal(a->json, b->json) &&
			            slice_equal(a->media, b->media));
		}
	}
	draft_release(&d);
	draft_release(&read);
	buffer_release(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_limit_gives_the_same),
		cmocka_unit_test(order_is_stable),
		cmocka_unit_test(keys_sort_as_values),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(a_folder_that_is_missing_is_an_error),
		cmocka_unit_test(drafts_are_read_as_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

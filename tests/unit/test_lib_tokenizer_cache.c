/* Compiled tokenizers whose bytes are wrong under a right checksum: they are refused, or using them stays inside of
 * them. */
#include "unit.h"

#include "tokenizer/compiled_cache.h"
#include "tokenizer/compiled_check.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/tokenizer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char cache[] = "/tmp/ipf-test-cache-XXXXXX";
static const char text[] =
	"Hello, world! 12345 the quick brown fox jumps <s>over the lazy dog</s> \xc3\xa9t\xc3\xa9 "
	"\xe4\xb8\xad\xe6\x96\x87 \xf0\x9f\x98\x80 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabababababababababababababababababababab"
	"abababababababababababababab\n\n\t x=1;\r\n abcd cdab unaffable";

static const char unigram[] =
	"{\"version\":\"1.0\",\"added_tokens\":[{\"id\":0,\"content\":\"<s>\",\"special\":true}],\"pre_tokenizer\":null,"
	"\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":true,\"vocab\":[[\"<unk>\",0.0],[\"a\",0.0],[\"b\",0.0],"
	"[\"c\",0.0],[\"d\",0.0],[\"cd\",1.0],[\"ab\",2.0],[\"abc\",5.0],[\"abcd\",10.0],[\"<0xC3>\",-1],[\"<0xA9>\",-1]]}}";
static const char wordpiece[] =
	"{\"version\":\"1.0\",\"added_tokens\":[],\"pre_tokenizer\":{\"type\":\"Whitespace\"},\"model\":{\"type\":\"WordPiece\","
	"\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,"
	"\"vocab\":{\"[UNK]\":0,\"un\":1,\"##aff\":2,\"##able\":3,\"unaff\":4,\"\xc3\xa9\":5,\"##\xc3\xa9\":6}}}";

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(cache));
	return setenv("XDG_CACHE_HOME", cache, 1);
}

static int tear_down(void **state)
{
	char command[100];
	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", cache);
	return system(command);
}

/* Writes a file, long enough ago for the cache. */
static void write_file(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	assert_int_equal(futimens(fd, old), 0);
	close(fd);
}

/* Everything reading the tables. */
static void use(struct tokenizer *t)
{
	struct tokenizer_scratch *s = tokenizer_scratch_new(t);
	struct token_ids ids = {0};
	struct buffer decoded = {0};
	struct ipf_error err = {0};
	static size_t ends[4 * sizeof text];
	uint32_t many[64];
	assert_non_null(s);
	tokenizer_count(t, s, slice_of(text), TOKENIZER_SPECIAL, &err);
	err = (struct ipf_error){0};
	if (tokenizer_encode(t, s, slice_of(text), 0, &ids, &err) == 0) {
		tokenizer_decode(t, ids.ids, ids.count, 0, &decoded, &err);
		if (ids.count <= sizeof ends / sizeof *ends)
			tokenizer_token_ends(t, &ids, slice_of(text), ends, &err);
	}
	for (uint32_t i = 0; i < 64; i++)
		many[i] = i * tokenizer_vocabulary_size(t) / 60;
	tokenizer_decode(t, many, 64, TOKENIZER_SKIP_SPECIAL, &decoded, &err);
	buffer_release(&decoded);
	token_ids_release(&ids);
	tokenizer_scratch_free(s);
}

/* Changes one to four places: a byte, or an aligned number to a value at a limit. */
static void mutate(char *bytes, size_t size, uint64_t *random)
{
	static const uint64_t numbers[] = {
		0, 1, 2, 255, 65535, 0x7fffffff, 0x80000000, UINT32_MAX, (UINT64_C(1) << 43) - 1, INT64_MAX, UINT64_MAX};
	const struct compiled_header *h = (const struct compiled_header *)bytes;
	for (uint64_t n = 1 + test_random(random) % 4; n; n--) {
		/* sections of all sizes alike, and the header */
		uint64_t s = test_random(random) % (SECTION_COUNT + 2), from = 0, len = sizeof *h;
		if (s < SECTION_COUNT && h->sections[s].bytes && h->sections[s].offset < size &&
		    h->sections[s].bytes < size - h->sections[s].offset) {
			from = h->sections[s].offset;
			len = h->sections[s].bytes;
		}
		size_t at = from + test_random(random) % len, width = test_random(random) % 3;
		uint64_t number = numbers[test_random(random) % (sizeof numbers / sizeof *numbers)];
		if (test_random(random) % 2 == 0)
			number = test_random(random) % 600; /* an id, perhaps */
		else if (len >= 16)
			memcpy(&number, bytes + from + test_random(random) % (len / 8) * 8, 8); /* a number right elsewhere */
		if (width == 0)
			bytes[at] = (char)test_random(random);
		else if (width == 1 && at / 4 * 4 + 4 <= size)
			memcpy(bytes + at / 4 * 4, &number, 4);
		else if (at / 8 * 8 + 8 <= size)
			memcpy(bytes + at / 8 * 8, &number, 8);
	}
	/* a file right for another program */
	memcpy(bytes, "ipf-tok\n", 8);
	((struct compiled_header *)(void *)bytes)->version = COMPILED_VERSION;
	((struct compiled_header *)(void *)bytes)->order = 0x01020304;
	((struct compiled_header *)(void *)bytes)->size = size;
}

static void check_mutations(const char *name, const struct compiled_block *good)
{
	uint64_t random = test_seed(name);
	size_t size = good->header->size, accepted = 0;
	const int mutations = few_or_many(800, 12000);
	for (int i = 0; i < mutations; i++) {
		struct compiled_block block = {.memory = aligned_alloc(64, size)};
		assert_non_null(block.memory);
		memcpy(block.memory, good->memory, size);
		block.header = block.memory;
		mutate(block.memory, size, &random);
		compiled_seal(&block);
		struct tokenizer *t = calloc(1, sizeof *t);
		struct ipf_error err = {0};
		assert_non_null(t);
		t->block = block;
		if (compiled_is_sound(block.memory, size, good->header->source_sha256) && compiled_is_consistent(&block) &&
		    pipeline_configure(t, &err) == 0) {
			use(t);
			accepted++;
		}
		tokenizer_close(t);
	}
	printf("# %s: %zu of %d wrong blocks are consistent\n", name, accepted, mutations);
}

/* The cache's only file ending so. */
static void find(const char *ending, char path[512])
{
	char folder[256];
	snprintf(folder, sizeof folder, "%s/ipf", cache);
	DIR *d = opendir(folder);
	assert_non_null(d);
	path[0] = '\0';
	for (struct dirent *e = readdir(d); e; e = readdir(d))
		if (strlen(e->d_name) > strlen(ending) && strcmp(e->d_name + strlen(e->d_name) - strlen(ending), ending) == 0)
			snprintf(path, 512, "%s/%s", folder, e->d_name);
	closedir(d);
}

/* The file itself: whatever its faults, it opens, and inconsistent parts are written again. */
static void check_files(const char *path, const struct compiled_block *good)
{
	uint64_t random = test_seed(path);
	size_t size = good->header->size;
	char block_path[512], *bytes = malloc(size), *now = malloc(size);
	find(".tok", block_path);
	assert_true(block_path[0] && bytes && now);
	for (int i = 0; i < 40; i++) {
		struct compiled_block wrong = {.memory = bytes};
		struct tokenizer *t;
		struct ipf_error err = {0};
		memcpy(bytes, good->memory, size);
		mutate(bytes, size, &random);
		compiled_seal(&wrong);
		wrong.header = wrong.memory;
		bool refused = !compiled_is_sound(bytes, size, good->header->source_sha256) || !compiled_is_consistent(&wrong);
		write_file(block_path, bytes, size);
		if (tokenizer_open(&t, path, &err) < 0)
			fail_msg("%s is blamed: %s", path, err.text);
		use(t);
		tokenizer_close(t);
		if (!refused)
			continue;
		int fd = open(block_path, O_RDONLY);
		assert_int_equal(read(fd, now, size), (ssize_t)size);
		close(fd);
		assert_memory_equal(now, good->memory, size);
	}
	free(bytes);
	free(now);
}

static void check(const char *name, const char *json, size_t len)
{
	char path[256], command[300];
	struct compiled_block good = {0};
	struct ipf_error err = {0};
	snprintf(command, sizeof command, "rm -rf '%s/ipf'", cache);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof path, "%s/tokenizer.json", cache);
	write_file(path, json, len);
	assert_int_equal(compiled_cache_open(&good, path, false, &err), 0);
	assert_true(compiled_is_consistent(&good));
	check_mutations(name, &good);
	check_files(path, &good);
	compiled_release(&good);
}

static void check_fixture(const char *name)
{
	char path[4096];
	const char *tests = getenv("TESTS");
	struct buffer json = {0};
	snprintf(path, sizeof path, "%s/data/tokenizer/%s.json", tests ? tests : "tests", name);
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	char *to = buffer_reserve(&json, 1 << 20);
	assert_non_null(to);
	json.len = fread(to, 1, 1 << 20, f);
	fclose(f);
	check(name, json.data, json.len);
	buffer_release(&json);
}

static void byte_level(void **state)
{
	(void)state;
	check_fixture("bytelevel");
}

static void byte_fallback(void **state)
{
	(void)state;
	check_fixture("llama");
}

static void other_models(void **state)
{
	(void)state;
	check("unigram", unigram, strlen(unigram));
	check("wordpiece", wordpiece, strlen(wordpiece));
}

/* A folder that is not ours alone. */
static void shared_folder(void **state)
{
	char first[256], second[256], folder[256], refused[512];
	struct compiled_block block;
	struct ipf_error err = {0};
	(void)state;
	snprintf(folder, sizeof folder, "%s/ipf", cache);
	check("wordpiece", wordpiece, strlen(wordpiece));
	snprintf(first, sizeof first, "%s/tokenizer.json", cache);
	snprintf(second, sizeof second, "%s/second.json", cache);
	write_file(second, unigram, strlen(unigram));
	assert_int_equal(compiled_cache_open(&block, second, false, &err), 0);
	compiled_release(&block);
	assert_int_equal(chmod(folder, 0777), 0);
	assert_true(compiled_cache_refused(refused, sizeof refused));
	assert_string_equal(refused, folder);
	assert_int_equal(compiled_cache_open(&block, first, false, &err), 0);
	assert_int_equal(block.mapped, 0); /* compiled, not from there */
	compiled_release(&block);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_false(compiled_cache_refused(refused, sizeof refused));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(byte_level), cmocka_unit_test(byte_fallback),
	                                   cmocka_unit_test(other_models), cmocka_unit_test(shared_folder)};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

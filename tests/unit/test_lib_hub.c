/* Names of the hub's repositories, and of the files in them. */
#include "unit.h"

#include "hub/hub_repository.h"

static void names(void **state)
{
	static const char *const good[] = {"gpt2",         "openai-community/gpt2", "meta-llama/Llama-3.1-8B-Instruct",
	                                   "a_b/c.d@main", "01-ai/Yi@refs/pr/3",    "gpt2@0123456789abcdef"};
	static const char *const bad[] = {
		"",   "/",     "a/",    "/a",   "a/b/c",  "a b",  "a--b", "a..b",     ".a",       "-a",  "a.",    "a-", "a/.b",
		"a@", "a@b c", "a@../", "a@-x", "a@/etc", "../a", "a/..", "a@b/../c", "\xc3\xa9", "a:b", "a@b@c", "a\n"};
	char longest[98];
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (!hub_is_name(good[i]))
			fail_msg("%s is a name", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (hub_is_name(bad[i]))
			fail_msg("\"%s\" is no name", bad[i]);
	memset(longest, 'a', 97);
	longest[97] = '\0';
	assert_false(hub_is_name(longest));
	assert_true(hub_is_name(longest + 1));
}

static void addresses(void **state)
{
	static const struct {
		const char *text, *name, *revision, *path;
		enum hub_kind kind;
	} cases[] = {
		{"gpt2", "gpt2", "main", "", HUB_MODEL},
		{"a/b@v1", "a/b", "v1", "", HUB_MODEL},
		{"hf://gpt2", "gpt2", "main", "", HUB_MODEL},
		{"hf://a/b@v1/sub/tokenizer.json", "a/b", "v1", "sub/tokenizer.json", HUB_MODEL},
		{"hf://datasets/a/b", "a/b", "main", "", HUB_DATASET},
		{"hf://datasets/a/b@v1", "a/b", "v1", "", HUB_DATASET},
		{"hf://datasets/a/b/c/d.jsonl", "a/b", "main", "c/d.jsonl", HUB_DATASET},
		{"hf://datasets/a/b@v1/c/d.jsonl", "a/b", "v1", "c/d.jsonl", HUB_DATASET},
		{"hf://datasets/a/b/c/d.jsonl@v1", "a/b", "v1", "c/d.jsonl", HUB_DATASET},
		{"hf://datasets/a/b@refs/convert/parquet/x/y.parquet", "a/b", "refs/convert/parquet", "x/y.parquet",
	     HUB_DATASET},
		{"hf://datasets/a/b@refs/pr/7/x", "a/b", "refs/pr/7", "x", HUB_DATASET},
		{"hf://datasets/a/b@refs%2Fpr%2F7/x", "a/b", "refs/pr/7", "x", HUB_DATASET},
		{"hf://datasets/a/b@v1/c@d", "a/b", "v1", "c@d", HUB_DATASET},
		{"hf://datasets/a/b/c%40d", "a/b", "main", "c@d", HUB_DATASET},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hub_repository r;
		struct ipf_error err = {0};
		if (hub_repository_parse(&r, cases[i].text, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_int_equal(r.kind, cases[i].kind);
		assert_string_equal(r.name, cases[i].name);
		assert_string_equal(r.revision, cases[i].revision);
		assert_string_equal(r.path, cases[i].path);
	}
}

static void wrong_addresses(void **state)
{
	static const char *const bad[] = {"hf://",
	                                  "hf:///",
	                                  "hf://a/",
	                                  "hf://a/b/",
	                                  "hf://spaces/a/b",
	                                  "https://x/y",
	                                  "hf://datasets/",
	                                  "hf://datasets/a",
	                                  "hf://datasets/a/b/",
	                                  "hf://datasets/a/b@/c",
	                                  "hf://datasets/a/b//c",
	                                  "hf://datasets/a/b/../c",
	                                  "hf://datasets/a/b/%2e%2e/c",
	                                  "hf://datasets/a/b/c%2F..%2Fd",
	                                  "hf://datasets/a/b/c%00",
	                                  "hf://datasets/a/b@..%2F..%2Fx/c",
	                                  "hf://datasets/a/b@refs/pr/",
	                                  "hf://datasets/a/b/c\\d",
	                                  "hf://datasets/a/b/c\nd",
	                                  "hf://datasets/a/b/c@",
	                                  "hf://datasets/a/b@%2Fetc/c"};
	char endless[4000];
	struct hub_repository r;
	struct ipf_error err = {0};
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		err = (struct ipf_error){0};
		if (hub_repository_parse(&r, bad[i], &err) == 0)
			fail_msg("\"%s\" is no address", bad[i]);
		assert_int_equal(err.kind, IPF_USAGE);
	}
	memset(endless, 'a', sizeof endless);
	memcpy(endless, "hf://datasets/a/b/", 18);
	endless[sizeof endless - 1] = '\0';
	assert_int_equal(hub_repository_parse(&r, endless, &err), -1);
	endless[17] = '@';
	assert_int_equal(hub_repository_parse(&r, endless, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(addresses),
	                                   cmocka_unit_test(wrong_addresses)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

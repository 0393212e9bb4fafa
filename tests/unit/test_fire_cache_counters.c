#include "unit.h"

#include "cache/cache_counters.h"

#include <string.h>

static void reads(const char *text, double queries, double hits)
{
	struct cache_counters c;
	cache_counters_read((struct slice){text, strlen(text)}, &c);
	assert_true(c.queries == queries);
	assert_true(c.hits == hits);
}

static void counters_of_servers(void **state)
{
	(void)state;
	reads("", -1, -1);
	reads("# HELP vllm:prefix_cache_hits_total Hits.\nup 1\n", -1, -1);
	reads("vllm:prefix_cache_queries_total{engine=\"0\",model_name=\"a b}\"} 100.0\n"
	      "vllm:prefix_cache_queries_total{engine=\"1\",model_name=\"a b}\"} 20\n"
	      "vllm:prefix_cache_queries_created{engine=\"0\"} 1.7e9\n"
	      "vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"a b}\"} 3.2e+01\n"
	      "vllm:external_prefix_cache_hits_total{engine=\"0\"} 8",
	      120, 40);
	reads("sglang:prompt_tokens_total{model_name=\"m\"} 500\nsglang:cached_tokens_total{cache_source=\"device\"} 64\n",
	      500, 64);
	reads("llamacpp:prompt_tokens_total 10\nllamacpp:prompt_tokens_cached_total 30\n", 40, 30);
}

static void old_names_count_only_alone(void **state)
{
	(void)state;
	reads("vllm:gpu_prefix_cache_queries_total 100\nvllm:gpu_prefix_cache_hits_total 5\n", 100, 5);
	reads("vllm:gpu_prefix_cache_queries_total 100\nvllm:gpu_prefix_cache_hits_total 5\n"
	      "vllm:prefix_cache_queries_total 100\nvllm:prefix_cache_hits_total 5\n",
	      100, 5);
}

static void broken_lines_count_nothing(void **state)
{
	(void)state;
	reads("vllm:prefix_cache_hits_total", -1, -1);
	reads("vllm:prefix_cache_hits_total{", -1, -1);
	reads("vllm:prefix_cache_hits_total{a=\"1\"}\n", -1, -1);
	reads("vllm:prefix_cache_hits_total NaN\nvllm:prefix_cache_hits_total many\n", -1, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_servers),
		cmocka_unit_test(old_names_count_only_alone),
		cmocka_unit_test(broken_lines_count_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

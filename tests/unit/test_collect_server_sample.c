#include "unit.h"

#include "scrape/server_sample.h"

/* Two scrapes of one server, and the sample made of them. */
static struct snapshot now, before;
static struct own_metrics own;

static void take(void *data, const struct exposition_series *series)
{
	snapshot_add(data, &own, series);
}

static void scrape(const char *text)
{
	struct exposition *e = exposition_new(take, &now);
	struct ipf_error err = {0};
	struct snapshot swap = before;
	before = now;
	now = swap;
	snapshot_clear(&now);
	exposition_feed(e, text, strlen(text));
	assert_int_equal(exposition_finish(e, &err), 0);
	assert_int_equal(snapshot_failed(&now, &err), 0);
	exposition_free(e);
}

static void expect_of(const char *server, bool increases, const char *expected)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	struct server_sample sample = {.server = server, .now = &now, .before = increases ? &before : NULL, .own = &own};
	jout_begin_map(&w);
	assert_true(server_sample_write(&sample, &w));
	jout_end_map(&w);
	assert_string_equal(out.data, expected);
	buffer_release(&out);
}

static void expect(const char *expected)
{
	expect_of(server_recognize(&now), true, expected);
}

static int forget(void **state)
{
	(void)state;
	snapshot_release(&now);
	snapshot_release(&before);
	own_metrics_release(&own);
	own = (struct own_metrics){0};
	return 0;
}

static void test_series_are_added_and_shares_averaged(void **state)
{
	(void)state;
	scrape("vllm:num_requests_running{engine=\"0\"} 3\nvllm:num_requests_running{engine=\"1\"} 4\n"
	       "vllm:kv_cache_usage_perc{engine=\"0\"} 0.25\nvllm:kv_cache_usage_perc{engine=\"1\"} 0.75\n"
	       "vllm:generation_tokens_total 100\n");
	assert_string_equal(server_recognize(&now), "vllm");
	expect_of("vllm", false, "{\"gauges\":{\"running\":7,\"kv_cache_usage\":0.5}}");
}

/* prometheus_client of several processes: each gauge once per process. */
static void test_processes_of_one_engine(void **state)
{
	(void)state;
	scrape(
		"vllm:num_requests_running{engine=\"0\",pid=\"7\"} 0\nvllm:num_requests_running{engine=\"0\",pid=\"9\"} 5\n"
		"vllm:num_requests_waiting{engine=\"0\",pid=\"7\"} 1\nvllm:num_requests_waiting{engine=\"0\",pid=\"9\"} 2\n"
		"vllm:kv_cache_usage_perc{engine=\"0\",pid=\"7\"} 0\nvllm:kv_cache_usage_perc{engine=\"0\",pid=\"9\"} 0.75\n"
		"vllm:kv_cache_usage_perc{pid=\"11\",engine=\"1\"} 0.25\nvllm:kv_cache_usage_perc{pid=\"12\",engine=\"1\"} 0\n");
	assert_int_equal(now.duplicates, 0);
	expect_of("vllm", false, "{\"gauges\":{\"running\":5,\"waiting\":3,\"kv_cache_usage\":0.5}}");
	/* a share and a limit of another server */
	scrape("sglang:num_running_reqs{pid=\"1\"} 2\nsglang:num_running_reqs{pid=\"2\"} 2\n"
	       "sglang:token_usage{pid=\"1\"} 0.125\nsglang:token_usage{pid=\"2\"} 0.5\nsglang:token_usage{pid=\"3\"} 0\n");
	expect_of("sglang", false, "{\"gauges\":{\"running\":4,\"kv_cache_usage\":0.5}}");
	scrape("trtllm_max_num_active_requests{pid=\"1\"} 64\ntrtllm_max_num_active_requests{pid=\"2\"} 64\n"
	       "trtllm_kv_cache_tokens_per_block{pid=\"1\"} 32\ntrtllm_kv_cache_tokens_per_block{pid=\"2\"} 0\n");
	expect_of("tensorrt-llm", false, "{\"gauges\":{\"cache_block_tokens\":32,\"batch_slots\":64}}");
}

static void test_counters_are_increases(void **state)
{
	(void)state;
	scrape("vllm:generation_tokens_total{engine=\"0\"} 100\nvllm:generation_tokens_total{engine=\"1\"} 50\n"
	       "vllm:prompt_tokens_total 5\n");
	/* one grew, one began again, one is new, one disappeared */
	scrape("vllm:generation_tokens_total{engine=\"0\"} 130\nvllm:generation_tokens_total{engine=\"1\"} 7\n"
	       "vllm:generation_tokens_total{engine=\"2\"} 1000\nvllm:num_preemptions_total 0\n");
	expect("{\"counters\":{\"preemptions\":0,\"output_tokens\":1037},\"resets\":1}");
	/* _total or not, _created never, twice the same: once */
	scrape("vllm:generation_tokens{engine=\"0\"} 10\nvllm:generation_tokens{engine=\"0\"} 11\n"
	       "vllm:generation_tokens_created{engine=\"0\"} 1.7e9\n");
	assert_int_equal(now.duplicates, 1);
	expect("{\"counters\":{\"output_tokens\":10}}");
}

static void test_counters_that_fall_are_counted(void **state)
{
	(void)state;
	scrape("sglang:num_requests_total 7\nsglang:e2e_request_latency_seconds_bucket{le=\"+Inf\"} 7\n"
	       "sglang:e2e_request_latency_seconds_count 7\nsglang:e2e_request_latency_seconds_sum 3\n"
	       "sglang:num_running_reqs 4\n");
	scrape("sglang:num_requests_total 8\nsglang:e2e_request_latency_seconds_bucket{le=\"+Inf\"} 2\n"
	       "sglang:e2e_request_latency_seconds_count 2\nsglang:e2e_request_latency_seconds_sum 1\n"
	       "sglang:num_running_reqs 1\n");
	/* a bucket and the count; a gauge may fall, and so may a sum */
	expect("{\"gauges\":{\"running\":1},\"counters\":{\"requests_ok\":1},"
	       "\"histograms\":{\"e2e_ns\":{\"count\":2,\"sum\":1000000000,\"buckets\":[[null,2]]}},\"resets\":2}");
}

static void test_histograms(void **state)
{
	(void)state;
	scrape(
		"vllm:time_to_first_token_seconds_bucket{le=\"0.06\"} 1\nvllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} 2\n"
		"vllm:time_to_first_token_seconds_count 2\nvllm:time_to_first_token_seconds_sum 1\n");
	scrape(
		"vllm:time_to_first_token_seconds_bucket{le=\"0.06\"} 4\nvllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} 7\n"
		"vllm:time_to_first_token_seconds_count 7\nvllm:time_to_first_token_seconds_sum 3.5\n"
		"vllm:request_prompt_tokens_bucket{le=\"10\"} 1\nvllm:request_prompt_tokens_bucket{le=\"+Inf\"} 1\n"
		"vllm:request_prompt_tokens_count 1\nvllm:request_prompt_tokens_sum 8\n");
	expect("{\"histograms\":{\"ttft_ns\":{\"count\":5,\"sum\":2500000000,\"buckets\":[[60000000,3],[null,2]]},"
	       "\"request_input_tokens\":{\"count\":1,\"sum\":8,\"buckets\":[[10,1],[null,0]]}}}");
}

static void test_old_and_new_names_count_once(void **state)
{
	(void)state;
	scrape("vllm:gpu_cache_usage_perc 0.5\nvllm:kv_cache_usage_perc 0.5\nvllm:gpu_prefix_cache_hits_total 1\n"
	       "vllm:prefix_cache_hits_total 1\nvllm:external_prefix_cache_hits_total 2\n");
	scrape("vllm:gpu_cache_usage_perc 0.5\nvllm:kv_cache_usage_perc 0.5\nvllm:gpu_prefix_cache_hits_total 9\n"
	       "vllm:prefix_cache_hits_total 9\nvllm:external_prefix_cache_hits_total 5\n");
	expect("{\"gauges\":{\"kv_cache_usage\":0.5},\"counters\":{\"cache_hit_tokens\":11,\"cache_hit_tokens_device\":8,"
	       "\"cache_hit_tokens_remote\":3}}");
	scrape("vllm:gpu_cache_usage_perc 0.25\n");
	expect("{\"gauges\":{\"kv_cache_usage\":0.25}}");
}

static void test_block_of_the_cache(void **state)
{
	static const struct {
		const char *text;
		int tokens; /* 0: not said */
	} cases[] = {
		{"vllm:cache_config_info{block_size=\"128\",engine=\"0\"} 1\nvllm:cache_config_info{block_size=\"128\",engine=\"1\"} 1\n",
	     128},
		{"vllm:cache_config_info{block_size=\"None\"} 1\n", 0},
		{"vllm:cache_config_info{engine=\"0\"} 1\n", 0},
		{"sglang:cache_config_info{num_pages=\"9\",page_size=\"64\"} 1\n", 64},
		{"sglang:cache_config_info{page_size=\"64\"} 1\nsglang:page_size 32\n", 32},
		{"nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"tokens_per\"} 64\n"
	     "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=\"used\"} 7\n",
	     64},
		{"trtllm_kv_cache_tokens_per_block 32\n", 32},
		{"dynamo_frontend_model_kv_cache_block_size{model=\"m\"} 16\n", 16},
	};
	char expected[80];
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		scrape(cases[i].text);
		snprintf(expected, sizeof expected, cases[i].tokens ? "{\"gauges\":{\"cache_block_tokens\":%d}}" : "{}",
		         cases[i].tokens);
		expect_of(server_recognize(&now), false, expected);
	}
}

static void test_tiers_by_label(void **state)
{
	(void)state;
	scrape("sglang:num_queue_reqs 1\n");
	scrape("sglang:num_queue_reqs 1\nsglang:cached_tokens_total{cache_source=\"device\"} 5\n"
	       "sglang:cached_tokens_total{cache_source=\"host\"} 6\n"
	       "sglang:cached_tokens_total{cache_source=\"storage_file\"} 7\n");
	expect("{\"gauges\":{\"waiting\":1},\"counters\":{\"cache_hit_tokens\":18,\"cache_hit_tokens_device\":5,"
	       "\"cache_hit_tokens_host\":6,\"cache_hit_tokens_disk\":7}}");
}

static void test_microseconds_and_request_types(void **state)
{
	(void)state;
	scrape("nv_inference_request_success{model=\"a\"} 10\nnv_inference_queue_duration_us{model=\"a\"} 500\n");
	scrape(
		"nv_inference_request_success{model=\"a\"} 12\nnv_inference_queue_duration_us{model=\"a\"} 800\n"
		"nv_trt_llm_request_metrics{request_type=\"waiting\"} 3\nnv_trt_llm_request_metrics{request_type=\"active\"} 9\n");
	expect("{\"gauges\":{\"waiting\":3},\"counters\":{\"requests_ok\":2},\"histograms\":{"
	       "\"queue_ns\":{\"count\":2,\"sum\":300000}}}");
}

/* llama.cpp counts the tokens it computed and those it found apart. */
static void test_llama_cpp_input(void **state)
{
	(void)state;
	scrape("llamacpp:prompt_tokens_total 100\nllamacpp:prompt_tokens_cached_total 20\n");
	scrape("llamacpp:prompt_tokens_total 160\nllamacpp:prompt_tokens_cached_total 60\n");
	assert_string_equal(server_recognize(&now), "llama.cpp");
	expect_of("llama.cpp", true,
	          "{\"counters\":{\"input_tokens\":100,\"cache_query_tokens\":100,\"cache_hit_tokens\":40}}");
}

/* The endpoint picker has each metric under several names for a while. */
static void test_endpoint_picker(void **state)
{
	(void)state;
	scrape("llm_d_epp_flow_control_queue_size 3\ninference_extension_flow_control_queue_size 3\n"
	       "inference_objective_running_requests 2\ninference_model_running_requests 2\n");
	assert_string_equal(server_recognize(&now), "inference-gateway");
	expect_of("inference-gateway", false, "{\"gauges\":{\"running\":2,\"waiting\":3}}");
}

static void test_adapters(void **state)
{
	(void)state;
	scrape(
		"vllm:lora_requests_info{max_lora=\"4\",running_lora_adapters=\"a,b\",waiting_lora_adapters=\"\"} 1.7e9\n"
		"vllm:lora_requests_info{max_lora=\"4\",running_lora_adapters=\"a,b,c\",waiting_lora_adapters=\"d\"} 1.6e9\n");
	expect_of("vllm", false, "{\"gauges\":{\"lora_running\":2,\"lora_waiting\":0}}");
}

static void test_own_names(void **state)
{
	static const char *const patterns[] = {"http_*", "x?z"};
	(void)state;
	own.patterns = patterns;
	own.patterns_count = 2;
	scrape(
		"# TYPE http_g gauge\nhttp_g{a=\"1\"} 1\nhttp_g{a=\"2\"} 2\n# TYPE http_h histogram\nhttp_h_bucket{le=\"0.5\"} 1\n"
		"http_h_bucket{le=\"+Inf\"} 1\nhttp_h_count 1\nhttp_h_sum 0.25\n# TYPE http_c counter\nhttp_c_total 5\nother 1\nxyz 3\n");
	assert_null(server_recognize(&now));
	expect_of(NULL, false, "{\"gauges\":{\"http_g\":3,\"xyz\":3}}");
	scrape("# TYPE http_h histogram\nhttp_h_bucket{le=\"0.5\"} 2\nhttp_h_bucket{le=\"+Inf\"} 3\nhttp_h_count 3\n"
	       "http_h_sum 2.25\n# TYPE http_c counter\nhttp_c_total 9\n");
	expect_of(
		NULL, true,
		"{\"counters\":{\"http_c\":4},\"histograms\":{\"http_h\":{\"count\":2,\"sum\":2,\"buckets\":[[0.5,1],[null,1]]}}}");
}

static void test_memory_is_bounded(void **state)
{
	struct exposition *e = exposition_new(take, &now);
	struct ipf_error err = {0};
	char line[100];
	(void)state;
	for (int i = 0; i < SNAPSHOT_SERIES_MAX + 5; i++) {
		int len = snprintf(line, sizeof line, "vllm:num_requests_running{e=\"%d\"} 1\n", i);
		exposition_feed(e, line, (size_t)len);
	}
	assert_int_equal(now.count, SNAPSHOT_SERIES_MAX);
	assert_int_equal(snapshot_failed(&now, &err), -1);
	exposition_free(e);
}

/* A server's rows are together. */
static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < server_metrics_count; i++) {
		const struct server_metric *row = &server_metrics[i];
		assert_int_equal(strlen(row->name.data), row->name.len);
		for (size_t j = i + 2; j < server_metrics_count; j++)
			if (strcmp(row->server, server_metrics[j].server) == 0)
				assert_string_equal(row->server, server_metrics[j - 1].server);
	}
	assert_true(server_metrics_count < 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_series_are_added_and_shares_averaged, forget),
		cmocka_unit_test_teardown(test_processes_of_one_engine, forget),
		cmocka_unit_test_teardown(test_counters_are_increases, forget),
		cmocka_unit_test_teardown(test_counters_that_fall_are_counted, forget),
		cmocka_unit_test_teardown(test_histograms, forget),
		cmocka_unit_test_teardown(test_old_and_new_names_count_once, forget),
		cmocka_unit_test_teardown(test_tiers_by_label, forget),
		cmocka_unit_test_teardown(test_block_of_the_cache, forget),
		cmocka_unit_test_teardown(test_microseconds_and_request_types, forget),
		cmocka_unit_test_teardown(test_llama_cpp_input, forget),
		cmocka_unit_test_teardown(test_endpoint_picker, forget),
		cmocka_unit_test_teardown(test_adapters, forget),
		cmocka_unit_test_teardown(test_own_names, forget),
		cmocka_unit_test_teardown(test_memory_is_bounded, forget),
		cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

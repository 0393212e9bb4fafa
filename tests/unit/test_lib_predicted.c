/* The headers of a predicted run. */
#include "stream/predicted.h"

#include "unit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static void a_header_says_what_predicted(void **state)
{
	(void)state;
	json_t *header = json_loads(
		"{\"ipf\": \"results\", \"from\": [{\"ipf\": \"records\", \"tool\": \"x 1\", \"predicted\": {\"twin\": \"a\","
		"\"error\": {\"ttft\": {\"p50\": 0.25, \"p99\": 1}, \"tpot\": {\"p50\": -1, \"p99\": \"x\"}},"
		"\"levels\": [{\"in_flight\": 1, \"error\": {\"ttft\": {\"p50\": 0.02}}}, {\"error\": 7},"
		"{\"in_flight\": 100, \"error\": {\"ttft\": {\"p50\": 0.5, \"p99\": 2}}}]}}]}",
		0, NULL);
	json_t *trailer = json_loads(
		"{\"extrapolated\": [\"most_sequences\", 7], \"from\": [{\"extrapolated\": [\"kv_blocks\","
		"\"most_sequences\"]}, 3]}",
		0, NULL);
	json_t *p = predicted_find(header), *names = json_array();
	assert_string_equal(predicted_by(p).text, "a");
	assert_true(predicted_error(p, TWIN_ERROR_TTFT, 0, NAN) == 0.25);
	assert_true(predicted_error(p, TWIN_ERROR_TTFT, 90, NAN) == 0.25);
	assert_true(predicted_error(p, TWIN_ERROR_TTFT, 95, NAN) == 1);
	/* at the nearest load, by the ratio; figures unknown there, over all runs */
	assert_true(predicted_error(p, TWIN_ERROR_TTFT, 50, 9) == 0.02 &&
	            predicted_error(p, TWIN_ERROR_TTFT, 50, 11) == 0.5);
	assert_true(predicted_error(p, TWIN_ERROR_TTFT, 99, 9) == 1 && predicted_error(p, TWIN_ERROR_TTFT, 99, 1e9) == 2);
	assert_true(predicted_error(p, TWIN_ERROR_TTFT, 50, 0.01) == 0.02);
	assert_true(isnan(predicted_error(p, TWIN_ERROR_TPOT, 50, NAN)) &&
	            isnan(predicted_error(p, TWIN_ERROR_TPOT, 99, NAN)));
	assert_true(isnan(predicted_error(p, TWIN_ERROR_E2E, 50, NAN)));
	predicted_add_extrapolated(names, trailer);
	assert_int_equal(json_array_size(names), 2);
	assert_string_equal(json_string_value(json_array_get(names, 1)), "kv_blocks");
	assert_string_equal(predicted_beyond("most_sequences"), "more sequences in flight than any run showed");
	assert_string_equal(predicted_beyond("?"), "a load outside that of any run");
	json_object_set_new(header, "predicted", json_null());
	assert_ptr_equal(predicted_find(header), p);
	assert_null(predicted_find(NULL));
	json_decref(names);
	json_decref(trailer);
	json_decref(header);
}

static void predictions_do_not_mix(void **state)
{
	(void)state;
	json_t *a = json_pack("{s:s, s:s}", "twin", "t", "sha256", "aa"),
		   *b = json_pack("{s:s, s:s}", "twin", "t", "sha256", "bb"), *nameless = json_object(),
		   *x = json_pack("{s:s, s:s, s:{s:i}}", "twin", "t", "sha256", "aa", "assumed", "kv_blocks", 7),
		   *y = json_pack("{s:s, s:s, s:{s:f}}", "twin", "t", "sha256", "aa", "assumed", "kv_blocks", 7.5);
	const struct {
		json_t *first, *other;
		bool good;
	} cases[] = {{a, a, true},         {NULL, NULL, true}, {nameless, nameless, true},
	             {a, NULL, false},     {NULL, a, false},   {a, b, false},
	             {a, nameless, false}, {x, x, true},       {a, x, false},
	             {x, a, false},        {x, y, false}};
	assert_string_equal(predicted_by(y).text, "t with kv_blocks=7.5");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ipf_error err = {0};
		int got = predicted_check((struct predicted_stream){"x", cases[i].first},
		                          (struct predicted_stream){"y", cases[i].other}, &err);
		assert_int_equal(got, cases[i].good ? 0 : -1);
		assert_int_equal(err.kind, cases[i].good ? IPF_OK : IPF_INPUT);
	}
	json_decref(a);
	json_decref(b);
	json_decref(x);
	json_decref(y);
	json_decref(nameless);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_says_what_predicted),
		cmocka_unit_test(predictions_do_not_mix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

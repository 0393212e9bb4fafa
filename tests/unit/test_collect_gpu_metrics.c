/* The exporters' metrics of accelerators, read value by value. Fixtures: tests/data/gpu. */
#include "unit.h"

#include "absent.h"
#include "gpu/gpu_metrics.h"

#include <math.h>

static struct gpu_metrics metrics;
static struct gpu_readings readings;

static void add(void *data, const struct exposition_series *series)
{
	gpu_metrics_add(data, series);
}

static void parse_text(const struct gpu_metrics_family *family, const char *text)
{
	struct ipf_error err = {0};
	readings.count = 0;
	gpu_metrics_begin(&metrics, family);
	struct exposition *e = exposition_new(add, &metrics);
	assert_non_null(e);
	exposition_feed(e, text, strlen(text));
	assert_int_equal(exposition_finish(e, &err), 0);
	exposition_free(e);
	gpu_metrics_end(&metrics, &readings);
}

static void parse(const struct gpu_metrics_family *family, const char *name)
{
	char path[4096], text[65536];
	const char *tests = getenv("TESTS");
	snprintf(path, sizeof path, "%s/data/gpu/%s", tests ? tests : "tests", name);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	size_t len = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[len] = '\0';
	parse_text(family, text);
}

static void test_dcgm(void **state)
{
	(void)state;
	parse(&gpu_metrics_dcgm, "dcgm.prom");
	assert_int_equal(readings.count, 2);
	const struct gpu_sample *s = &readings.items[0], *blank = &readings.items[1];
	assert_string_equal(s->device, "GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e50");
	assert_string_equal(s->model, "NVIDIA H100 80GB HBM3");
	assert_string_equal(s->host, "node-7");
	assert_int_equal(s->index, 0);
	assert_true(s->power_w == 512.301 && fabs(s->energy_j - 123456789.012) < 1e-6);
	assert_true(fabs(s->utilization - 0.97) < 1e-12); /* not DCGM_FI_PROF_GR_ENGINE_ACTIVE */
	assert_true(s->memory_bandwidth == 0.6125);
	assert_int_equal(s->memory_used_bytes, INT64_C(72000) << 20);
	assert_int_equal(s->memory_total_bytes, INT64_C(81559) << 20);
	assert_int_equal(s->sm_clock_hz, 1980000000);
	assert_int_equal(s->memory_clock_hz, 2619000000);
	assert_true(s->temperature_c == 58 && !s->mig);
	/* DCGM's blank values are unknown, not 9e18 J */
	assert_int_equal(blank->index, 1);
	assert_true(isnan(blank->power_w) && isnan(blank->energy_j) && blank->memory_bandwidth == 0);
}

static void test_dcgm_mig(void **state)
{
	(void)state;
	parse(&gpu_metrics_dcgm, "dcgm-mig.prom");
	assert_int_equal(readings.count, 1);
	const struct gpu_sample *s = &readings.items[0];
	assert_true(s->mig);
	assert_string_equal(s->host, "node-7");
	assert_true(s->power_w == 211.5 && s->energy_j == 5000); /* the device's, once */
	assert_int_equal(s->memory_used_bytes, INT64_C(11000) << 20);
	assert_int_equal(s->memory_total_bytes, INT64_C(80000) << 20);
	assert_true(s->utilization == 0.7);
}

static void test_amd(void **state)
{
	(void)state;
	parse(&gpu_metrics_amd, "amd.prom");
	assert_int_equal(readings.count, 2);
	const struct gpu_sample *s = &readings.items[0];
	assert_string_equal(s->device, "6922510011240");
	assert_string_equal(s->model, "102-G30211-0C");
	assert_string_equal(s->host, "node-9");
	assert_true(s->power_w == 641 && fabs(s->energy_j - 20909145.914) < 1e-6);
	assert_true(fabs(s->utilization - 0.93) < 1e-12 && fabs(s->memory_bandwidth - 0.38) < 1e-12);
	assert_int_equal(s->memory_used_bytes, INT64_C(150123) << 20);
	assert_int_equal(s->sm_clock_hz, 2104000000);
	assert_int_equal(s->memory_clock_hz, 1300000000);
	assert_true(s->temperature_c == 67);
	assert_true(isnan(readings.items[1].energy_j));
}

static void test_odd(void **state)
{
	struct buffer many = {0};
	(void)state;
	parse_text(&gpu_metrics_amd, "amd_gpu_package_power{gpu_id=\"3\"} 20\namd_gpu_package_power{} 7\n");
	assert_int_equal(readings.count, 1);
	assert_true(readings.items[0].power_w == 20 && readings.items[0].index == 3);
	parse_text(&gpu_metrics_dcgm,
	           "DCGM_FI_DEV_POWER_USAGE{gpu=\"x\"} 20\nDCGM_FI_DEV_POWER_USAGE{gpu=\"1\"} -20\n"
	           "DCGM_FI_DEV_GPU_UTIL{gpu=\"2\"} NaN\nDCGM_FI_DEV_GPU_UTIL{gpu=\"3\"} 300\nother 1\n");
	assert_int_equal(readings.count, 1);
	assert_true(isnan(readings.items[0].utilization));
	for (int i = 0; i < 1000; i++)
		buffer_format(&many, "DCGM_FI_DEV_POWER_USAGE{UUID=\"%d\"} 1\n", i);
	parse_text(&gpu_metrics_dcgm, many.data);
	assert_int_equal(readings.count, GPU_DEVICES_MOST);
	buffer_release(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_dcgm), cmocka_unit_test(test_dcgm_mig),
	                                   cmocka_unit_test(test_amd), cmocka_unit_test(test_odd)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The devices' meter: every reading below follows by arithmetic from the steps. */
#include "gpu_exporters.h"

#include "clock.h"

#include "unit.h"

#define MS NS_PER_MS

static const struct gpu_options plain = {.count = 2, .idle_w = 100, .busy_w = 500};

static bool near(double a, double b)
{
	return a - b < 1e-9 && b - a < 1e-9;
}

static void step(struct gpus *g, int64_t start_ms, int64_t prefill_ms, int64_t end_ms, int64_t replicas)
{
	struct batching_step s = {.start_ns = start_ms * MS, .prefill_ns = prefill_ms * MS, .end_ns = end_ms * MS};
	gpus_step(g, &s, replicas);
}

static void energy_is_the_integral(void **state)
{
	struct gpus *g = gpus_new(&plain, 1, 1000 * MS);
	(void)state;
	assert_true(near(gpus_read(g, 0, 1000 * MS).energy_j, 0));
	step(g, 1010, 0, 1030, 1);
	assert_true(near(gpus_read(g, 0, 1010 * MS).energy_j, 0.010 * 100));
	/* in the middle of the step */
	assert_true(near(gpus_read(g, 0, 1020 * MS).energy_j, 0.010 * 100 + 0.010 * 500));
	assert_true(gpus_read(g, 0, 1020 * MS).computing);
	assert_true(near(gpus_read(g, 0, 1100 * MS).energy_j, 0.080 * 100 + 0.020 * 500));
	assert_false(gpus_read(g, 0, 1100 * MS).computing);
	/* Steps in a row; an hour's idling; one more. */
	step(g, 1100, 0, 1200, 1);
	step(g, 1200, 50, 1300, 1);
	step(g, 3600 * 1000, 0, 3600 * 1000 + 10, 1);
	assert_true(near(gpus_read(g, 0, (3600 * 1000 + 10) * MS).energy_j, 100 * 3599.010 + 400 * 0.230));
	gpus_free(g);
}

static void rates_are_of_the_last_window(void **state)
{
	struct gpus *g = gpus_new(&plain, 2, 1000 * MS);
	(void)state;
	step(g, 1020, 20, 1070, 1);
	assert_true(near(gpus_read(g, 0, 1099 * MS).busy, 0)); /* that window is not over */
	struct gpu_reading r = gpus_read(g, 0, 1100 * MS);
	assert_true(near(r.busy, 0.5) && near(r.prefill, 0.2) && near(r.power_w, 300));
	assert_true(near(gpus_read(g, 1, 1100 * MS).busy, 0)); /* the other replica had nothing to do */
	step(g, 1150, 0, 1250, 2);
	assert_true(near(gpus_read(g, 0, 1299 * MS).busy, 0.5));
	assert_true(near(gpus_read(g, 0, 1300 * MS).busy, 0.5));
	assert_true(near(gpus_read(g, 1, 1399 * MS).busy, 0.5));
	assert_true(near(gpus_read(g, 1, 1400 * MS).busy, 0));
	gpus_free(g);
}

static void property_reading_often_changes_nothing(void **state)
{
	uint64_t seed = test_seed("property_reading_often_changes_nothing");
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct gpus *often = gpus_new(&plain, 1, 0), *once = gpus_new(&plain, 1, 0);
		int64_t now_ns = 0, busy_ns = 0;
		double before_j = 0;
		for (int i = 0; i < 50; i++) {
			int64_t start_ns = now_ns + (int64_t)(test_random(&seed) % 50000000);
			int64_t length_ns = 1 + (int64_t)(test_random(&seed) % 250000000);
			struct batching_step s = {.start_ns = start_ns,
			                          .end_ns = start_ns + length_ns,
			                          .prefill_ns = (int64_t)(test_random(&seed) % (uint64_t)(length_ns + 1))};
			gpus_step(often, &s, 1);
			gpus_step(once, &s, 1);
			busy_ns += length_ns;
			now_ns = s.end_ns;
			int64_t between_ns = start_ns + (int64_t)(test_random(&seed) % (uint64_t)length_ns);
			double energy_j = gpus_read(often, 0, between_ns).energy_j;
			assert_true(energy_j >= before_j);
			before_j = energy_j;
		}
		struct gpu_reading a = gpus_read(often, 0, now_ns), b = gpus_read(once, 0, now_ns);
		assert_true(near(a.energy_j, b.energy_j) && near(a.busy, b.busy) && near(a.prefill, b.prefill));
		assert_true(near(a.energy_j, 100 * (double)now_ns / 1e9 + 400 * (double)busy_ns / 1e9));
		gpus_free(often);
		gpus_free(once);
	}
}

static void exporters_have_their_units(void **state)
{
	struct gpus *g = gpus_new(&plain, 1, 0);
	struct buffer out = {0};
	(void)state;
	step(g, 0, 100, 200, 1);
	gpu_write_dcgm(g, 200 * MS, &out);
	buffer_byte(&out, '\0');
	/* 1 MJ, and 100 W for 0.2 s, and 400 W more for as long, in mJ */
	assert_non_null(strstr(out.data, "\"570.133.20\"} 1000100000\n"));
	assert_non_null(strstr(out.data,
	                       "DCGM_FI_DEV_POWER_USAGE{gpu=\"1\",UUID=\"GPU-51400000-0000-4000-8000-000000000001\","
	                       "pci_bus_id=\"00000000:11:00.0\",device=\"nvidia1\",modelName=\"NVIDIA H200\","
	                       "hostname=\"sim-0\",DCGM_FI_DRIVER_VERSION=\"570.133.20\"} 500.000000\n"));
	assert_non_null(strstr(out.data, "# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\n"));
	buffer_clear(&out);
	gpu_write_amd(g, 200 * MS, &out);
	buffer_byte(&out, '\0');
	assert_non_null(strstr(out.data, "# TYPE gpu_energy_consumed gauge\n"));
	assert_non_null(strstr(out.data, "serial_number=\"51400000000\"} 1000100000000\n"));
	buffer_release(&out);
	gpus_free(g);
}

static void power_is_read(void **state)
{
	static const char *const wrong[] = {"", "80", "80:", ":600", "600:80", "80:600:1", "-1:5", "x:y", "1:1e9"};
	struct gpu_options options = {0};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(gpu_parse_power("75.5:700", &options, &err), 0);
	assert_true(near(options.idle_w, 75.5) && near(options.busy_w, 700));
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct ipf_error why = {0};
		assert_int_equal(gpu_parse_power(wrong[i], &options, &why), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energy_is_the_integral),
		cmocka_unit_test(rates_are_of_the_last_window),
		cmocka_unit_test(property_reading_often_changes_nothing),
		cmocka_unit_test(exporters_have_their_units),
		cmocka_unit_test(power_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

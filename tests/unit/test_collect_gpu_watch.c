/* Devices watched while a run lasts: lines, energy of a known power curve over real sampling, and sources that fail,
 * vanish or hang. */
#include "unit.h"

#include "absent.h"
#include "clock.h"
#include "gpu/accelerators.h"
#include "gpu/gpu_watch.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- a source with a curve ---- */

static const char *trouble = "";
static atomic_int opens, reads, closes;
static atomic_bool hanging;

static double watts(double t_s)
{
	return 400 + 300 * sin(2 * M_PI * t_s / 1.3);
}

static double joules(double t_s)
{
	return 400 * t_s + 300 * 1.3 / (2 * M_PI) * (1 - cos(2 * M_PI * t_s / 1.3));
}

static bool has(const char *what)
{
	return !strcmp(trouble, what);
}

static int curve_open(void **state, const struct gpu_place *place, struct ipf_error *err)
{
	(void)place;
	opens++;
	*state = &opens;
	return has("closed") ? ipf_error_set(err, IPF_SYSTEM, "curve: no driver") : 0;
}

static int curve_read(void *state, const struct gpu_place *place, struct gpu_readings *r, struct ipf_error *err)
{
	int count = ++reads;
	assert_ptr_equal(state, &opens);
	assert_true(place->patience_ns > 0);
	if (has("fails") || (has("stumbles") && count % 5 == 0))
		return ipf_error_set(err, IPF_SYSTEM, "curve: gone \x1b[1m");
	while (has("hangs") && count > 5) {
		hanging = true;
		pause();
	}
	for (int i = 0; i < 2; i++) {
		double t_s = (double)clock_now() / 1e9;
		struct gpu_sample *s = gpu_readings_add(r);
		gpu_text_set(s->device, sizeof s->device, slice_of(i ? "GPU-b" : "GPU-a"));
		s->index = i;
		s->power_w = watts(t_s);
		s->energy_j = has("uncounted") ? NAN : joules(t_s);
		s->utilization = 0.5;
		if (has("vanishes") && count > 12 && i == 1)
			r->count--;
	}
	return has("vanishes") && count > 12 ? (ipf_error_set(err, IPF_SYSTEM, "curve: GPU-b is lost"), 0) : 0;
}

static void curve_close(void *state)
{
	assert_ptr_equal(state, &opens);
	closes++;
}

static const struct gpu_source curve = {
	.name = "curve", .often_ns = 20 * NS_PER_MS, .open = curve_open, .read = curve_read, .close = curve_close};

/* ---- watching it ---- */

static struct line_queue *queue;
static struct run_clock *run;

static struct gpu_watch *watch(const char *name, int64_t every_ns)
{
	struct gpu_watch_plan plan = {.name = "curve", .candidates = {&curve}, .every_ns = every_ns};
	struct ipf_error err = {0};
	json_t *header = json_pack("{s:I, s:I}", "t0_unix_ns", (json_int_t)clock_wall(), "t0_clock_ns",
	                           (json_int_t)clock_now());
	trouble = name;
	opens = reads = closes = 0;
	plan.queue = queue = line_queue_new(LINE_QUEUE_BYTES);
	run = run_clock_new();
	assert_int_equal(run_clock_start(run, header), 0);
	json_decref(header);
	struct gpu_watch *w = gpu_watch_new(&plan);
	assert_non_null(w);
	assert_int_equal(gpu_watch_start(w, &err), 0);
	gpu_watch_align(w, run);
	return w;
}

static void wait_reads(int count)
{
	for (int i = 0; i < 6000 && reads < count; i++)
		usleep(10000);
	assert_true(reads >= count);
}

static void release(struct gpu_watch *w)
{
	gpu_watch_free(w);
	line_queue_free(queue);
	run_clock_free(run);
}

static void expect_energy(const struct watched_device *d, int64_t from_ns, int64_t to_ns, bool counted)
{
	double expected = joules((double)to_ns / 1e9) - joules((double)from_ns / 1e9);
	struct energy e;
	energy_between(d->energy, from_ns, to_ns, &e);
	assert_int_equal(e.by_counter, counted);
	assert_true(fabs(e.energy_j - expected) < 0.01 * expected);
}

/* Every device gets a line in each window, with means between the lines. */
static void test_lines(void **state)
{
	struct buffer line = {0};
	(void)state;
	struct gpu_watch *w = watch("", 200 * NS_PER_MS);
	int64_t from_ns = clock_now() + 100 * NS_PER_MS;
	wait_reads(80);
	int64_t to_ns = clock_now() - 100 * NS_PER_MS;
	gpu_watch_stop(w);
	const struct gpu_watched *seen = gpu_watch_seen(w);
	assert_int_equal(seen->count, 2);
	assert_int_equal(seen->failed, 0);
	assert_int_equal(closes, 1);
	assert_ptr_equal(seen->source, &curve);
	int lines = 0;
	for (int64_t last_ns = INT64_MIN; line_queue_take(queue, &line); buffer_clear(&line), lines++) {
		json_t *map = json_loads(line.data, 0, NULL);
		int64_t t_ns = json_integer_value(json_object_get(map, "t_ns"));
		double power_w = json_real_value(json_object_get(map, "power_w"));
		assert_string_equal(json_string_value(json_object_get(map, "sample")), "gpu");
		assert_string_equal(json_string_value(json_object_get(map, "device")), lines % 2 ? "GPU-b" : "GPU-a");
		assert_string_equal(json_string_value(json_object_get(map, "source")), "curve");
		assert_non_null(json_object_get(map, "host"));
		assert_true(power_w > 99 && power_w < 701);
		assert_null(json_object_get(map, "temperature_c")); /* unknown */
		assert_true(lines % 2 ? t_ns == last_ns : t_ns > last_ns);
		last_ns = t_ns;
		json_decref(map);
	}
	/* at most one for each window, and the first and the last */
	assert_true(lines >= 6 && lines / 2 <= (to_ns - from_ns) / (200 * NS_PER_MS) + 5);
	assert_true(seen->devices[0].readings > lines);
	expect_energy(&seen->devices[0], from_ns, to_ns, true);
	expect_energy(&seen->devices[1], from_ns, to_ns, true);
	release(w);
	buffer_release(&line);
}

static void test_integral(void **state)
{
	(void)state;
	struct gpu_watch *w = watch("uncounted", NS_PER_S);
	int64_t from_ns = clock_now() + 100 * NS_PER_MS;
	wait_reads(150);
	int64_t to_ns = clock_now() - 100 * NS_PER_MS;
	gpu_watch_stop(w);
	expect_energy(gpu_watch_seen(w)->devices, from_ns, to_ns, false);
	release(w);
}

static void test_failures(void **state)
{
	(void)state;
	struct gpu_watch *w = watch("fails", 100 * NS_PER_MS);
	wait_reads(1);
	gpu_watch_stop(w);
	assert_int_equal(gpu_watch_seen(w)->count, 0);
	assert_true(gpu_watch_seen(w)->failed >= 1);
	assert_string_equal(gpu_watch_seen(w)->last_error, "curve: gone \\x1b[1m");
	assert_int_equal(opens, closes);
	release(w);

	w = watch("closed", 100 * NS_PER_MS);
	for (int i = 0; i < 6000 && !opens; i++)
		usleep(10000);
	gpu_watch_stop(w);
	assert_string_equal(gpu_watch_seen(w)->last_error, "curve: no driver");
	assert_int_equal(reads, 0);
	release(w);

	w = watch("stumbles", 100 * NS_PER_MS);
	wait_reads(25);
	gpu_watch_stop(w);
	assert_true(gpu_watch_seen(w)->failed >= 4 && gpu_watch_seen(w)->failed < gpu_watch_seen(w)->asked / 2);
	assert_int_equal(gpu_watch_seen(w)->count, 2);
	release(w);
}

static void test_vanishes(void **state)
{
	struct energy e;
	(void)state;
	struct gpu_watch *w = watch("vanishes", 100 * NS_PER_MS);
	int64_t from_ns = clock_now();
	wait_reads(60);
	gpu_watch_stop(w);
	energy_between(gpu_watch_seen(w)->devices[1].energy, from_ns, clock_now(), &e);
	assert_true(e.reasons & 1u << ENERGY_VANISHED);
	assert_int_equal(gpu_watch_seen(w)->devices[1].readings, 12);
	assert_true(gpu_watch_seen(w)->devices[0].readings > 40);
	assert_string_equal(gpu_watch_seen(w)->last_error, "curve: GPU-b is lost");
	release(w);
}

/* A driver that hangs delays the end by little, and earlier measurements stay. */
static void test_hangs(void **state)
{
	(void)state;
	struct gpu_watch *w = watch("hangs", 100 * NS_PER_MS);
	for (int i = 0; i < 6000 && !hanging; i++)
		usleep(10000);
	assert_true(hanging);
	gpu_watch_stop(w);
	assert_true(gpu_watch_seen(w)->hung);
	assert_int_equal(gpu_watch_seen(w)->devices[0].readings, 5);
	gpu_watch_free(w); /* the thread keeps the watch, but neither queue nor clock */
	line_queue_free(queue);
	run_clock_free(run);
}

static void test_choices(void **state)
{
	static const char *good[] = {
		"auto", "nvml", "nvidia-smi", "amd-smi", "dcgm:http://h:9400", "amd:https://h/metrics"};
	static const char *const bad[] = {"",     "nvidia", "nvml:", "amd-smi:http://h", "nvidia-smi ", ":",
	                                  "Auto", "dcgm",   "dcgm:", "amd:h:5000",       "dcgm:ftp://h"};
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_int_equal(accelerators_check(&(struct string_list){&good[i], 1}, &(struct ipf_error){0}), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ipf_error err = {0};
		const char *items[] = {bad[i]};
		assert_int_equal(accelerators_check(&(struct string_list){items, 1}, &err), -1);
		assert_int_equal(err.kind, IPF_USAGE);
		assert_memory_equal(err.text, "--gpu: ", 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),    cmocka_unit_test(test_integral),
	                                   cmocka_unit_test(test_failures), cmocka_unit_test(test_vanishes),
	                                   cmocka_unit_test(test_choices),  cmocka_unit_test(test_hangs)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

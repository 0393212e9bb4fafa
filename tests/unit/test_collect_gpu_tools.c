/* The output of the tools for accelerators, read value by value; and tools that misbehave. Fixtures: tests/data/gpu. */
#include "unit.h"

#include "absent.h"
#include "clock.h"
#include "gpu/amd_smi.h"
#include "gpu/gpu_number.h"
#include "gpu/nvidia_smi.h"
#include "gpu/tool.h"

#include <fcntl.h>
#include <math.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct buffer fixture(const char *name)
{
	struct buffer text = {0};
	char path[4096];
	const char *tests = getenv("TESTS");
	snprintf(path, sizeof path, "%s/data/gpu/%s", tests ? tests : "tests", name);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	for (int c; (c = getc(file)) != EOF;)
		buffer_byte(&text, (char)c);
	fclose(file);
	return text;
}

typedef int parser(struct slice text, struct gpu_readings *readings, struct ipf_error *err);

static struct gpu_readings readings;
static struct ipf_error error;

static int parse(parser *parse_text, const char *name)
{
	struct buffer text = fixture(name);
	error = (struct ipf_error){0};
	int status = parse_text(buffer_all(&text), &readings, &error);
	buffer_release(&text);
	return status;
}

static void test_nvidia_smi(void **state)
{
	(void)state;
	for (int with_units = 0; with_units <= 1; with_units++) {
		readings.count = 0;
		assert_int_equal(parse(nvidia_smi_parse, with_units ? "nvidia-smi-units.csv" : "nvidia-smi.csv"), 0);
		assert_int_equal(error.kind, IPF_OK);
		assert_int_equal(readings.count, with_units ? 1 : 2);
		const struct gpu_sample *s = &readings.items[0];
		assert_string_equal(s->device, "GPU-7f1e9a52-0c2b-4f0e-9d9c-5b8a6f3b1c11");
		assert_string_equal(s->model, "NVIDIA H200");
		assert_int_equal(s->index, 0);
		assert_true(s->utilization == 0.87 && s->memory_bandwidth == 0.41 && s->power_w == 512.30);
		assert_int_equal(s->memory_used_bytes, INT64_C(118342) << 20);
		assert_int_equal(s->memory_total_bytes, INT64_C(143771) << 20);
		assert_int_equal(s->sm_clock_hz, 1980000000);
		assert_int_equal(s->memory_clock_hz, 3201000000);
		assert_true(s->temperature_c == 61 && isnan(s->energy_j) && !s->mig);
	}
}

static void test_nvidia_smi_unknown(void **state)
{
	(void)state;
	readings.count = 0;
	assert_int_equal(parse(nvidia_smi_parse, "nvidia-smi-unknown.csv"), 0);
	assert_non_null(strstr(error.text, "a device is lost"));
	assert_int_equal(readings.count, 4);
	assert_true(readings.items[0].mig && isnan(readings.items[0].utilization));
	assert_true(readings.items[0].power_w == 212);
	assert_true(isnan(readings.items[1].power_w) && !readings.items[1].mig);
	assert_int_equal(readings.items[1].sm_clock_hz, IPF_ABSENT);
	assert_int_equal(readings.items[1].memory_clock_hz, 810000000);
	assert_true(isnan(readings.items[2].power_w));
	assert_int_equal(readings.items[2].memory_used_bytes, IPF_ABSENT);
	assert_string_equal(readings.items[3].device, "");
	assert_string_equal(readings.items[3].model, "");
	assert_true(readings.items[3].power_w == 20.5);
}

static void test_nvidia_smi_garbage(void **state)
{
	static const char *const texts[] = {"",
	                                    "\n\n",
	                                    "No devices were found\n",
	                                    "a,b,c\n",
	                                    "-1,,,,,,,,,,,",
	                                    ",,,,,,,,,,,\n",
	                                    "index, uuid, utilization.gpu [%]"};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		readings.count = 0;
		error = (struct ipf_error){0};
		assert_int_equal(nvidia_smi_parse(slice_of(texts[i]), &readings, &error), -1);
		assert_int_equal(readings.count, 0);
	}
	assert_int_equal(parse(nvidia_smi_parse, "nvidia-smi-failed.txt"), -1);
	assert_non_null(strstr(error.text, "got \"NVIDIA-SMI has failed"));
	/* more devices than there can be */
	struct buffer many = {0};
	for (int i = 0; i < 1000; i++)
		buffer_format(&many, "%d, GPU-%d, 1, 1, 1, 1, 1, 1, 1, 1, N/A, X\n", i, i);
	error = (struct ipf_error){0};
	assert_int_equal(nvidia_smi_parse(buffer_all(&many), &readings, &error), 0);
	assert_int_equal(readings.count, GPU_DEVICES_MOST);
	buffer_release(&many);
}

static void test_amd_smi(void **state)
{
	(void)state;
	for (int version = 6; version <= 7; version++) {
		readings.count = 0;
		assert_int_equal(parse(amd_smi_parse, "amd-smi-list.json"), 0);
		assert_int_equal(parse(amd_smi_parse, "amd-smi-asic.json"), 0);
		assert_int_equal(parse(amd_smi_parse, version == 6 ? "amd-smi-metric.json" : "amd-smi-metric-7.json"), 0);
		assert_int_equal(readings.count, 2);
		const struct gpu_sample *s = &readings.items[0], *unknown = &readings.items[1];
		assert_string_equal(s->device, "48ff74a1-0000-1000-807f-0c9f1e2d3b4a");
		assert_string_equal(s->model, "AMD Instinct MI300X");
		assert_true(s->utilization == 0.93 && s->memory_bandwidth == 0.38 && s->power_w == 641);
		assert_true(s->energy_j == 20909145.914 && s->temperature_c == 67);
		assert_int_equal(s->memory_used_bytes, INT64_C(150123) << 20);
		assert_int_equal(s->sm_clock_hz, 2104000000);
		assert_int_equal(s->memory_clock_hz, 1300000000);
		assert_int_equal(unknown->index, 1);
		assert_true(isnan(unknown->power_w) && isnan(unknown->energy_j) && isnan(unknown->utilization));
		assert_int_equal(unknown->memory_used_bytes, IPF_ABSENT);
	}
}

static void test_amd_smi_garbage(void **state)
{
	static const char *const texts[] = {"",
	                                    "{}",
	                                    "[]",
	                                    "[1,2,\"x\",null]",
	                                    "{\"gpu_data\":3}",
	                                    "[{\"gpu\":\"0\"}]",
	                                    "[{\"gpu\":-1}]",
	                                    "ERROR: no driver",
	                                    "[{\"gpu\":0}"};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		readings.count = 0;
		error = (struct ipf_error){0};
		assert_int_equal(amd_smi_parse(slice_of(texts[i]), &readings, &error), -1);
		assert_memory_equal(error.text, "amd-smi: ", 9);
	}
	/* the wrong unit is not that value */
	readings.count = 0;
	assert_int_equal(
		amd_smi_parse(slice_of("[{\"gpu\":0,\"power\":{\"socket_power\":{\"value\":5,\"unit\":\"mW\"}},\"energy\":"
	                           "{\"total_energy_consumption\":7.5},\"usage\":{\"gfx_activity\":\"N/A\"}}]"),
	                  &readings, &error),
		0);
	assert_true(isnan(readings.items[0].power_w) && readings.items[0].energy_j == 7.5);
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		double value; /* NAN: unknown */
	} cases[] = {{"512.30", 512.3}, {" 512.30 W\r", 512.3},
	             {"-3", -3},        {"1e3", 1000},
	             {"[N/A]", NAN},    {"", NAN},
	             {"512,30", NAN},   {"5 kW", NAN},
	             {"0x10", NAN},     {"1e999", NAN},
	             {"nan", NAN},      {"5W", 5},
	             {"1.2.3", NAN},    {"--5", NAN},
	             {"W", NAN},        {"12345678901234567890123456789012345678901234567890123456789012345", NAN}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double value = gpu_number(slice_of(cases[i].text), "W");
		assert_true(value == cases[i].value || (isnan(value) && isnan(cases[i].value)));
	}
	assert_int_equal(gpu_integer(NAN, 1), IPF_ABSENT);
	assert_int_equal(gpu_integer(-1, 1), IPF_ABSENT);
	assert_int_equal(gpu_integer(1e30, 1), IPF_ABSENT);
	assert_true(isnan(gpu_share(101)) && isnan(gpu_share(-1)) && gpu_share(100) == 1);
}

/* ---- tools ---- */

static struct buffer output;

static int sh(const char *script, int64_t time_ns, size_t bytes, int cancel)
{
	const char *const command[] = {"sh", "-c", script, NULL};
	struct tool_limits limits = {.time_ns = time_ns, .bytes = bytes, .cancel = cancel};
	buffer_clear(&output);
	error = (struct ipf_error){0};
	return tool_run(command, &limits, &output, &error);
}

static void test_tool(void **state)
{
	static const char *const missing[] = {"no-such-tool-of-ipf", NULL};
	struct tool_limits limits = {.time_ns = NS_PER_S, .bytes = 100, .cancel = -1};
	(void)state;
	assert_int_equal(sh("echo out; echo err >&2", 60 * NS_PER_S, 100, -1), 0);
	assert_string_equal(output.data, "out\n");
	assert_int_equal(sh("echo half; echo why it failed >&2; exit 3", 60 * NS_PER_S, 100, -1), -1);
	assert_string_equal(error.text, "sh: ended with status 3: why it failed");
	assert_int_equal(output.len, 0);
	assert_int_equal(sh("echo No devices were found; exit 6", 60 * NS_PER_S, 100, -1), -1);
	assert_string_equal(error.text, "sh: ended with status 6: No devices were found");
	assert_int_equal(sh("kill -SEGV $$", 60 * NS_PER_S, 100, -1), -1);
	assert_string_equal(error.text, "sh: killed by signal 11");
	assert_int_equal(tool_run(missing, &limits, &output, &error), -1);
	/* nothing is inherited: no descriptor, no input, no locale, no blocked or ignored signal */
	int leak = open("/dev/null", O_RDONLY);
	assert_true(leak > 2);
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	assert_int_equal(sh("ls /proc/self/fd | tr '\\n' ' '; cat; echo $LC_ALL; grep -c 'SigBlk:.0000000000000000' "
	                    "/proc/self/status",
	                    60 * NS_PER_S, 100, -1),
	                 0);
	assert_string_equal(output.data, "0 1 2 3 C\n1\n"); /* 3: the folder that ls reads */
	close(leak);
}

/* The pid the script printed into a file is gone. */
static void assert_gone(const char *file)
{
	char text[32] = "", path[64];
	FILE *in = fopen(file, "r");
	assert_non_null(in);
	assert_non_null(fgets(text, sizeof text, in));
	fclose(in);
	snprintf(path, sizeof path, "/proc/%d/exe", atoi(text));
	for (int i = 0; i < 200 && access(path, F_OK) == 0; i++)
		usleep(50000);
	assert_int_not_equal(access(path, F_OK), 0); /* gone, or a zombie of init's */
	unlink(file);
}

static void test_tool_limits(void **state)
{
	(void)state;
	assert_int_equal(sh("sleep 1000 & echo $! >gpu-tool.pid; sleep 1000", NS_PER_S, 100, -1), -1);
	assert_string_equal(error.text, "sh: no answer within 1 s");
	assert_gone("gpu-tool.pid");
	assert_int_equal(sh("yes", 60 * NS_PER_S, 100000, -1), -1);
	assert_string_equal(error.text, "sh: printed more than 100000 bytes");
	/* a child it leaves behind keeps the pipe, but nobody waits for it */
	assert_int_equal(sh("sleep 1000 & echo $! >gpu-tool.pid; echo done", 60 * NS_PER_S, 100, -1), 0);
	assert_string_equal(output.data, "done\n");
	assert_gone("gpu-tool.pid");
	/* complaints without end are not kept */
	assert_int_equal(sh("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1", 60 * NS_PER_S, 100, -1), -1);
	int cancel = eventfd(1, EFD_CLOEXEC);
	assert_int_equal(sh("sleep 1000", 600 * NS_PER_S, 100, cancel), -1);
	assert_string_equal(error.text, "sh: stopped at the end of the run");
	close(cancel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_nvidia_smi),
	                                   cmocka_unit_test(test_nvidia_smi_unknown),
	                                   cmocka_unit_test(test_nvidia_smi_garbage),
	                                   cmocka_unit_test(test_amd_smi),
	                                   cmocka_unit_test(test_amd_smi_garbage),
	                                   cmocka_unit_test(test_numbers),
	                                   cmocka_unit_test(test_tool),
	                                   cmocka_unit_test(test_tool_limits)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	int status = cmocka_run_group_tests(tests, NULL, NULL);
	buffer_release(&output);
	return status;
}

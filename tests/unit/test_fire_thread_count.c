#include "unit.h"

#include "absent.h"
#include "run/cgroup_limits.h"
#include "stream/record.h"
#include "run/thread_count.h"

#include <math.h>
#include <sys/stat.h>

static void put(const char *folder, const char *path, const char *text)
{
	char full[4096];
	snprintf(full, sizeof full, "%s/%s", folder, path);
	for (char *slash = full + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static size_t cores(const char *root)
{
	return cgroup_limits_cores_below(root);
}

/* However many processors the machine has, a quota of less than two of them leaves one. */
static void test_quotas(void **state)
{
	char root[] = "cores.XXXXXX";
	(void)state;
	assert_non_null(mkdtemp(root));
	size_t all = cores(root);
	assert_true(all >= 1);
	assert_int_equal(cgroup_limits_cores(), cgroup_limits_cores_below(""));

	put(root, "proc/self/cgroup", "0::/a/b\n");
	put(root, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	assert_int_equal(cores(root), all);
	put(root, "sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
	assert_int_equal(cores(root), 1);
	put(root, "sys/fs/cgroup/a/b/cpu.max", "20000 100000\n");
	assert_int_equal(cores(root), 1);
	/* one above it decides, where it has less */
	put(root, "sys/fs/cgroup/a/b/cpu.max", "6400000000 100000\n");
	assert_int_equal(cores(root), all);
	put(root, "sys/fs/cgroup/a/cpu.max", "100000 100000\n");
	assert_int_equal(cores(root), 1);
	put(root, "sys/fs/cgroup/a/cpu.max", "max 100000\n");
	/* a container sees its own group as the top, whatever its name outside */
	put(root, "sys/fs/cgroup/cpu.max", "100000 100000\n");
	assert_int_equal(cores(root), 1);
	put(root, "proc/self/cgroup", "0::/\n");
	assert_int_equal(cores(root), 1);
	put(root, "sys/fs/cgroup/cpu.max", "broken\n");
	assert_int_equal(cores(root), all);

	put(root, "proc/self/cgroup", "5:memory:/x\n4:cpuacct,cpu:/docker/c\n");
	put(root, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	put(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
	assert_int_equal(cores(root), all);
	put(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
	assert_int_equal(cores(root), 1);
	put(root, "proc/self/cgroup", "5:memory:/x\n4:cpuset:/docker/c\n");
	assert_int_equal(cores(root), all);
}

static void test_memory(void **state)
{
	char root[] = "memory.XXXXXX";
	(void)state;
	assert_non_null(mkdtemp(root));
	int64_t all = cgroup_limits_memory_below(root);
	assert_true(all > INT64_C(1) << 20);
	assert_int_equal(cgroup_limits_memory(), cgroup_limits_memory_below(""));

	put(root, "proc/self/cgroup", "0::/a/b\n");
	put(root, "sys/fs/cgroup/a/b/memory.max", "max\n");
	assert_int_equal(cgroup_limits_memory_below(root), all);
	put(root, "sys/fs/cgroup/a/b/memory.max", "1048576\n");
	assert_int_equal(cgroup_limits_memory_below(root), 1 << 20);
	put(root, "sys/fs/cgroup/a/memory.max", "4096\n");
	assert_int_equal(cgroup_limits_memory_below(root), 4096);
	put(root, "proc/self/cgroup", "0::/\n");
	assert_int_equal(cgroup_limits_memory_below(root), all);
	put(root, "sys/fs/cgroup/memory.max", "8192\n");
	assert_int_equal(cgroup_limits_memory_below(root), 8192);

	put(root, "proc/self/cgroup", "5:memory:/x\n4:cpuacct,cpu:/docker/c\n");
	put(root, "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n");
	assert_int_equal(cgroup_limits_memory_below(root), all);
	put(root, "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "12288\n");
	assert_int_equal(cgroup_limits_memory_below(root), 12288);
}

static size_t useful(size_t processors, double rate, int64_t users)
{
	struct schedule_stage stages[] = {
		{.rate = 1, .slots = IPF_ABSENT},
		{.rate = users ? (double)NAN : rate, .slots = users ? users : IPF_ABSENT, .closed = users > 0},
	};
	struct schedule schedule = {.stages = stages, .count = 2};
	return thread_count_useful(&schedule, processors);
}

static void test_threads_are_as_many_as_are_useful(void **state)
{
	(void)state;
	assert_int_equal(useful(1, 1e6, 0), 1);
	assert_int_equal(useful(2, 1e6, 0), 1);
	assert_int_equal(useful(4, 1e6, 0), 2);
	assert_int_equal(useful(192, 1e6, 0), 16);
	assert_int_equal(useful(192, 1e300, 0), 16);
	assert_int_equal(useful(192, 10, 0), 1);
	assert_int_equal(useful(192, 999, 0), 1);
	assert_int_equal(useful(192, 2500, 0), 3);
	assert_int_equal(useful(192, 0, 64), 1);
	assert_int_equal(useful(192, 0, 1200), 3);
	assert_int_equal(useful(192, 0, INT64_MAX), 16);
	assert_int_equal(thread_count_useful(&(struct schedule){0}, 64), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quotas),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_threads_are_as_many_as_are_useful),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

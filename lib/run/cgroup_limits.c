#include "run/cgroup_limits.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static double quota_v2(const char *folder)
{
	char path[PATH_MAX + 32];
	double quota, period;
	snprintf(path, sizeof path, "%s/cpu.max", folder);
	FILE *f = fopen(path, "re");
	int got = f ? fscanf(f, "%lf %lf", &quota, &period) : 0; /* "max 100000" has none */
	if (f)
		fclose(f);
	return got == 2 && quota > 0 && period > 0 ? quota / period : INFINITY;
}

static double number_in(const char *folder, const char *name)
{
	char path[PATH_MAX + 32];
	double value;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "re");
	int got = f ? fscanf(f, "%lf", &value) : 0;
	if (f)
		fclose(f);
	return got == 1 ? value : 0;
}

static double most_in(const char *folder, const char *name)
{
	double most = number_in(folder, name); /* "max" is not a number */
	return most > 0 ? most : INFINITY;
}

static double memory_v2(const char *folder)
{
	return most_in(folder, "memory.max");
}

static double memory_v1(const char *folder)
{
	return most_in(folder, "memory.limit_in_bytes");
}

static double quota_v1(const char *folder)
{
	double quota = number_in(folder, "cpu.cfs_quota_us"), period = number_in(folder, "cpu.cfs_period_us");
	return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* A resource: the name of its controller in version 1, and how its limit is read from a group's folder. */
struct resource {
	const char *controller;
	double (*of)(const char *folder), (*of_v1)(const char *folder);
};

/* The lowest limit of a group and those above it. */
static double least_above(const char *mount, const char *group, double (*limit_of)(const char *))
{
	char folder[PATH_MAX];
	double least = INFINITY;
	int len = snprintf(folder, sizeof folder, "%s%s", mount, group);
	if (len < 0 || (size_t)len >= sizeof folder)
		return least;
	for (size_t above = strlen(mount);;) {
		double limit = limit_of(folder);
		if (limit < least)
			least = limit;
		char *slash = strrchr(folder, '/');
		if (strlen(folder) <= above || !slash)
			return least;
		*(slash < folder + above ? folder + above : slash) = '\0';
	}
}

/* Does a list such as "cpu,cpuacct" name the controller? */
static bool is_named(const char *names, const char *controller)
{
	for (size_t len = strlen(controller); *names; names += strcspn(names, ","), names += *names == ',')
		if (strcspn(names, ",") == len && !strncmp(names, controller, len))
			return true;
	return false;
}

/* /proc/self/cgroup has a line for each hierarchy: "0::/group" for version 2, "4:cpu,cpuacct:/group" for version 1. In
 * a container the group may not be visible from inside; its limit is then the one at the top of the mount. */
static double least_limit(const char *root, const struct resource *resource)
{
	char path[PATH_MAX], line[PATH_MAX];
	double least = INFINITY;
	snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		names++;
		bool version_2 = !*names;
		if (!version_2 && !is_named(names, resource->controller))
			continue;
		char mount[PATH_MAX];
		snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s%s", root, version_2 ? "" : "/",
		         version_2 ? "" : resource->controller);
		least = fmin(least,
		             least_above(mount, strcmp(group, "/") ? group : "", version_2 ? resource->of : resource->of_v1));
	}
	if (f)
		fclose(f);
	return least;
}

size_t cgroup_limits_cores_below(const char *root)
{
	cpu_set_t set;
	int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	double most = least_limit(root, &(struct resource){"cpu", quota_v2, quota_v1});
	if (cores < 1)
		cores = 1;
	if (most >= cores)
		return (size_t)cores;
	return most < 1 ? 1 : (size_t)most;
}

size_t cgroup_limits_cores(void)
{
	return cgroup_limits_cores_below("");
}

int64_t cgroup_limits_memory_below(const char *root)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	double all = pages > 0 && page > 0 ? (double)pages * (double)page : INFINITY;
	double most = fmin(all, least_limit(root, &(struct resource){"memory", memory_v2, memory_v1}));
	return isfinite(most) ? (int64_t)most : 0;
}

int64_t cgroup_limits_memory(void)
{
	return cgroup_limits_memory_below("");
}

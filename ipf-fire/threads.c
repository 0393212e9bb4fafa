#include "threads.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MOST          16
#define RATE_EACH     1000.0
#define STREAMS_EACH  500
#define NO_QUOTA      1e9 /* in processors */

/* ---- processors ---- */

static double quota_v2(const char *folder)
{
	char path[PATH_MAX + 32];
	double quota, period;
	snprintf(path, sizeof path, "%s/cpu.max", folder);
	FILE *f = fopen(path, "re");
	int got = f ? fscanf(f, "%lf %lf", &quota, &period) : 0; /* "max 100000" gives none */
	if (f)
		fclose(f);
	return got == 2 && quota > 0 && period > 0 ? quota / period : NO_QUOTA;
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

static double quota_v1(const char *folder)
{
	double quota = number_in(folder, "cpu.cfs_quota_us"), period = number_in(folder, "cpu.cfs_period_us");
	return quota > 0 && period > 0 ? quota / period : NO_QUOTA;
}

/* The least of a group and those above it. */
static double least_quota(const char *mount, const char *group, double (*quota_of)(const char *))
{
	char folder[PATH_MAX];
	double least = NO_QUOTA;
	int len = snprintf(folder, sizeof folder, "%s%s", mount, group);
	if (len < 0 || (size_t)len >= sizeof folder)
		return least;
	for (size_t above = strlen(mount);;) {
		double quota = quota_of(folder);
		if (quota < least)
			least = quota;
		char *slash = strrchr(folder, '/');
		if (strlen(folder) <= above || !slash)
			return least;
		*(slash < folder + above ? folder + above : slash) = '\0';
	}
}

/* /proc/self/cgroup has a line for each hierarchy: "0::/group" for version 2, "4:cpu,cpuacct:/group" for version 1. In a container the group may
 * be one that is not seen from within; its quota is then that of the mount's top. */
static double quota(const char *root)
{
	char path[PATH_MAX], line[PATH_MAX];
	double least = NO_QUOTA;
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
		if (!version_2 && strcmp(names, "cpu") != 0 && strncmp(names, "cpu,", 4) != 0 && !strstr(names, ",cpu,") &&
		    (strlen(names) < 4 || strcmp(names + strlen(names) - 4, ",cpu") != 0))
			continue;
		char mount[PATH_MAX];
		snprintf(mount, sizeof mount, version_2 ? "%s/sys/fs/cgroup" : "%s/sys/fs/cgroup/cpu", root);
		double got = least_quota(mount, strcmp(group, "/") ? group : "", version_2 ? quota_v2 : quota_v1);
		if (got < least)
			least = got;
	}
	if (f)
		fclose(f);
	return least;
}

size_t cores_usable_below(const char *root)
{
	cpu_set_t set;
	int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	double most = quota(root);
	if (cores < 1)
		cores = 1;
	if (most >= cores)
		return (size_t)cores;
	return most < 1 ? 1 : (size_t)most;
}

size_t cores_usable(void)
{
	return cores_usable_below("");
}

/* ---- threads ---- */

size_t threads_useful(const struct schedule *schedule, size_t cores)
{
	size_t most = cores / 2 < MOST ? cores / 2 : MOST, useful = 1;
	for (size_t i = 0; i < schedule->count; i++) {
		const struct schedule_stage *s = &schedule->stages[i];
		double by_rate = s->rate > 0 ? s->rate / RATE_EACH : 0; /* a rate that is not known is NAN */
		double by_streams = s->closed && s->slots > 0 ? (double)s->slots / STREAMS_EACH : 0;
		double load = by_rate > by_streams ? by_rate : by_streams;
		size_t threads = load < MOST ? 1 + (size_t)load : MOST;
		if (threads > useful)
			useful = threads;
	}
	return useful < most ? useful : most ? most : 1;
}

#include "run/capacity.h"

#include "absent.h"
#include "run/concurrency_bound.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILES_BESIDE   64    /* open files beside the connections */
#define FILES_PREPARED 65536 /* half a MiB of the kernel's memory */

/* Something that each connection takes one of. */
struct limit {
	int64_t most;               /* connections that there can be */
	const char *of_what, *more; /* more: how to get more */
};

/* ---- how many there may be ---- */

/* The kernel doubles the table of open files whenever it is full, and a process of several threads sleeps some ten
 * milliseconds over that. So it is made long enough while there is one thread. */
static void lengthen_table(rlim_t files)
{
	int last = files > FILES_PREPARED ? FILES_PREPARED - 1 : (int)files - 1,
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int far = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, last);
	if (far >= 0)
		close(far);
	if (fd >= 0)
		close(fd);
}

/* As many as we may have. */
static int64_t most_by_files(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return INT64_MAX;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	lengthen_table(files.rlim_cur);
	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur == RLIM_INFINITY)
		return INT64_MAX;
	return files.rlim_cur > FILES_BESIDE ? (int64_t)files.rlim_cur - FILES_BESIDE : 0;
}

/* ---- how many it takes ---- */

int64_t capacity_connections(const struct connection_policy *c, size_t places, int64_t requests)
{
	int64_t streams = connection_policy_streams(c), least = requests / streams + (requests % streams > 0);
	int64_t all = (int64_t)places, pool = c->kind == CONNECTION_POLICY_POOL ? c->pool : INT64_MAX;
	return pool < least / all ? pool * all : least;
}

/* Each of its sessions may be another one. */
static int64_t perhaps(const struct capacity_options *o, int64_t requests)
{
	return o->connections.kind == CONNECTION_POLICY_SESSION
	           ? requests
	           : capacity_connections(&o->connections, o->places, requests);
}

/* The schedule's arrivals are read only where the header leaves it open. */
static bool may_exceed(const struct capacity_options *o, int64_t most)
{
	const struct schedule *s = o->schedule;
	for (size_t i = 0; i < s->count; i++) {
		const struct schedule_stage *stage = &s->stages[i];
		int64_t requests = stage->cycle ? INT64_MAX : stage->arrivals;
		if (stage->slots != IPF_ABSENT && stage->slots < requests)
			requests = stage->slots;
		if (perhaps(o, requests) > most)
			return true;
	}
	return false;
}

/* Whether requests of the trace wait for others is looked up only where something hangs on it, and once. */
struct judging {
	const struct capacity_options *o;
	const struct concurrency_bound *crowds;
	bool asked, alone;
};

static int64_t sure(struct judging *j, size_t i, int64_t most)
{
	const struct capacity_options *o = j->o;
	int64_t few = capacity_connections(&o->connections, o->places,
	                                   concurrency_bound_sure(o->schedule, i, j->crowds, false));
	int64_t many = capacity_connections(&o->connections, o->places,
	                                    concurrency_bound_sure(o->schedule, i, j->crowds, true));
	if (few <= most && many > most && !j->asked) {
		j->asked = true;
		j->alone = concurrency_bound_alone(o->trace);
	}
	return j->alone ? many : few;
}

static int check(struct judging *j, const struct limit *limit, struct ipf_error *err)
{
	const struct capacity_options *o = j->o;
	for (size_t i = 0; i < o->schedule->count; i++) {
		const struct schedule_stage *stage = &o->schedule->stages[i];
		int64_t needed = sure(j, i, limit->most), most = concurrency_bound_most(o->schedule, i, j->crowds);
		if (needed > limit->most)
			return ipf_error_set(
				err, IPF_SYSTEM,
				"stage %s: %lld connections at once need as many %s, and there are %lld for them (%s; %s of the stage "
				"or --connections N makes them fewer)",
				stage->name, (long long)needed, limit->of_what, (long long)limit->most, limit->more,
				stage->closed ? "users=" : "slots=");
		if (!o->quiet && most != IPF_ABSENT && perhaps(o, most) > limit->most)
			fprintf(stderr,
			        "ipf-fire: stage %s: it may need %lld connections at once, and there are %s for %lld (%s)\n",
			        stage->name, (long long)perhaps(o, most), limit->of_what, (long long)limit->most, limit->more);
	}
	return 0;
}

int capacity_check(const struct capacity_options *o, struct ipf_error *err)
{
	const struct limit limits[] = {
		{.most = most_by_files(), .of_what = "open files", .more = "ulimit -n raises that"},
		{.most = network_path_ports(o->route, o->places), .of_what = "local ports", .more = "--bind adds addresses"},
	};
	int result = 0;
	int64_t least = limits[0].most < limits[1].most ? limits[0].most : limits[1].most;
	if (!may_exceed(o, least))
		return 0;
	struct concurrency_bound *crowds = calloc(o->schedule->count, sizeof *crowds);
	if (!crowds)
		return ipf_error_memory(err);
	crowds_count(crowds, o->schedule, o->before, o->path);
	struct judging j = {.o = o, .crowds = crowds};
	for (size_t i = 0; i < sizeof limits / sizeof *limits && result == 0; i++)
		result = check(&j, &limits[i], err);
	free(crowds);
	return result;
}

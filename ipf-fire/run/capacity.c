#include "run/capacity.h"

#include "absent.h"
#include "run/concurrency_bound.h"
#include "safe_text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILES_BESIDE   64    /* open files besides connections */
#define FILES_PREPARED 65536 /* half a MiB of kernel memory */

/* A resource each connection takes one of. */
struct resource_limit {
	int64_t most; /* connections it allows */
	const char *name, *remedy;
};

/* ---- how many there can be ---- */

/* The kernel doubles the table of open files whenever it is full, and a process with several threads sleeps for some
 * ten milliseconds meanwhile. The table is extended while there is one thread. */
static void extend_file_table(rlim_t files)
{
	int last = files > FILES_PREPARED ? FILES_PREPARED - 1 : (int)files - 1,
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int far = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, last);
	if (far >= 0)
		close(far);
	if (fd >= 0)
		close(fd);
}

static int64_t most_by_files(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return INT64_MAX;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	extend_file_table(files.rlim_cur);
	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur == RLIM_INFINITY)
		return INT64_MAX;
	return files.rlim_cur > FILES_BESIDE ? (int64_t)files.rlim_cur - FILES_BESIDE : 0;
}

/* ---- how many are needed ---- */

/* The most: with one connection per session, each request may be of another session. */
static int64_t most_needed(const struct capacity_options *o, int64_t requests)
{
	return o->connections.kind == CONNECTION_POLICY_SESSION
	           ? requests
	           : connection_policy_least(&o->connections, o->targets, requests);
}

/* Decides by the header alone, so the arrivals are read only if it leaves the question open. */
static bool may_exceed(const struct capacity_options *o, int64_t most)
{
	const struct schedule *s = o->schedule;
	for (size_t i = 0; i < s->count; i++) {
		const struct schedule_stage *stage = &s->stages[i];
		int64_t requests = stage->cycle ? INT64_MAX : stage->arrivals;
		if (stage->slots != IPF_ABSENT && stage->slots < requests)
			requests = stage->slots;
		if (most_needed(o, requests) > most)
			return true;
	}
	return false;
}

/* Whether requests of the trace wait for others is looked up once, and only if it matters. */
struct capacity_check {
	const struct capacity_options *o;
	const struct concurrency_bound *bounds;
	bool looked_up, independent;
};

static int64_t least_needed(struct capacity_check *c, size_t i, int64_t most)
{
	const struct capacity_options *o = c->o;
	int64_t few = connection_policy_least(&o->connections, o->targets,
	                                      concurrency_bound_least(o->schedule, i, c->bounds, false));
	int64_t many = connection_policy_least(&o->connections, o->targets,
	                                       concurrency_bound_least(o->schedule, i, c->bounds, true));
	if (few <= most && many > most && !c->looked_up) {
		c->looked_up = true;
		c->independent = concurrency_bound_independent(o->trace);
	}
	return c->independent ? many : few;
}

static int check(struct capacity_check *c, const struct resource_limit *limit, struct ipf_error *err)
{
	const struct capacity_options *o = c->o;
	for (size_t i = 0; i < o->schedule->count; i++) {
		const struct schedule_stage *stage = &o->schedule->stages[i];
		int64_t needed = least_needed(c, i, limit->most), most = concurrency_bound_most(o->schedule, i, c->bounds);
		if (needed > limit->most)
			return ipf_error_set(
				err, IPF_SYSTEM,
				"stage %s needs %lld concurrent connections, but %s allows only %lld: %s, or limit the "
				"connections with %s of the stage or --connections N",
				stage->name, (long long)needed, limit->name, (long long)limit->most, limit->remedy,
				!stage->closed                        ? "slots="
				: strstr(stage->spec, "concurrency=") ? "concurrency="
													  : "users=");
		if (!o->quiet && most != IPF_ABSENT && most_needed(o, most) > limit->most)
			fprintf(stderr,
			        "ipf-fire: warning: stage %s may need %lld concurrent connections, but %s allows only %lld: %s\n",
			        shown(stage->name).text, (long long)most_needed(o, most), limit->name, (long long)limit->most,
			        limit->remedy);
	}
	return 0;
}

int capacity_check(const struct capacity_options *o, struct ipf_error *err)
{
	const struct resource_limit limits[] = {
		{.most = most_by_files(), .name = "the limit of open files", .remedy = "raise ulimit -n"},
		{.most = network_path_ports(o->network_path, o->targets),
	     .name = "the range of local ports",
	     .remedy = "add addresses with --bind"},
	};
	int result = 0;
	int64_t least = limits[0].most < limits[1].most ? limits[0].most : limits[1].most;
	if (!may_exceed(o, least))
		return 0;
	struct concurrency_bound *bounds = calloc(o->schedule->count, sizeof *bounds);
	if (!bounds)
		return ipf_error_memory(err);
	concurrency_bound_count(bounds, o->schedule, o->before, o->path);
	struct capacity_check c = {.o = o, .bounds = bounds};
	for (size_t i = 0; i < sizeof limits / sizeof *limits && result == 0; i++)
		result = check(&c, &limits[i], err);
	free(bounds);
	return result;
}

#include "live/run_clock.h"

#include "clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* t0_clock_ns of another boot, or of another machine, is off by the difference of the times at which they booted. A
 * difference within this makes no sample wrong by more; wall clocks that NTP slews stay far below it. */
#define SAME_BOOT_NS (100 * NS_PER_MS)

struct run_clock {
	_Atomic int64_t zero_ns;
	atomic_bool known;
};

struct run_clock *run_clock_new(void)
{
	return calloc(1, sizeof(struct run_clock));
}

void run_clock_free(struct run_clock *clock)
{
	free(clock);
}

static bool same_host(const json_t *header)
{
	const char *name = json_string_value(json_object_get(json_object_get(header, "host"), "name"));
	struct utsname own;
	return !name || (uname(&own) == 0 && strcmp(own.nodename, name) == 0);
}

/* Anything else would overflow, or was never measured. */
static bool is_time(const json_t *ns)
{
	return json_is_integer(ns) && json_integer_value(ns) >= 0 && json_integer_value(ns) <= INT64_MAX / 2;
}

int run_clock_start(struct run_clock *clock, const json_t *header)
{
	const json_t *wall = json_object_get(header, "t0_unix_ns"), *own = json_object_get(header, "t0_clock_ns");
	int64_t now = clock_now();
	if (!is_time(wall))
		return -1;
	int64_t zero = now - (clock_wall_at(now) - json_integer_value(wall));
	if (is_time(own) && same_host(header) && llabs(json_integer_value(own) - zero) <= SAME_BOOT_NS)
		zero = json_integer_value(own);
	atomic_store(&clock->zero_ns, zero);
	atomic_store(&clock->known, true);
	return 0;
}

bool run_clock_knows(const struct run_clock *clock)
{
	return atomic_load(&clock->known);
}

int64_t run_clock_zero(const struct run_clock *clock)
{
	return atomic_load(&clock->zero_ns);
}

int64_t run_clock_at(const struct run_clock *clock, int64_t monotonic_ns)
{
	return monotonic_ns - run_clock_zero(clock);
}

int64_t run_clock_now(const struct run_clock *clock)
{
	return run_clock_at(clock, clock_now());
}

#include "clock.h"

#include <stdio.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t clock_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t clock_wall_at(int64_t now_ns)
{
	int64_t offset = 0, width = INT64_MAX;
	/* the fastest of several readings of both clocks */
	for (int i = 0; i < 8; i++) {
		int64_t before = clock_now(), wall = clock_wall(), after = clock_now();
		if (after - before >= width)
			continue;
		width = after - before;
		offset = wall - before - width / 2;
	}
	return now_ns + offset;
}

int64_t clock_cpu_thread(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void clock_format(int64_t wall_ns, char text[32])
{
	int64_t seconds = wall_ns / NS_PER_S, ns = wall_ns % NS_PER_S;
	struct tm tm;
	time_t t;
	size_t len;

	if (ns < 0) {
		seconds--;
		ns += NS_PER_S;
	}
	t = (time_t)seconds;
	gmtime_r(&t, &tm);
	len = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + len, 32 - len, ".%03dZ", (int)(ns / NS_PER_MS));
}

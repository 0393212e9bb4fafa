/* Preloaded: the wall clock of the program is WALL_CLOCK_OFFSET_MS milliseconds ahead of the system's, from
 * WALL_CLOCK_AFTER_MS milliseconds after its first use on (0: always). Since that is the clock of another machine, the
 * boot id of this one cannot be read. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset_ms(void)
{
	static atomic_long first;
	const char *text = getenv("WALL_CLOCK_OFFSET_MS"), *after = getenv("WALL_CLOCK_AFTER_MS");
	struct timespec t;
	long none = 0, now;
	if (!text || !after)
		return text ? atol(text) : 0;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	now = t.tv_sec * 1000 + t.tv_nsec / 1000000;
	atomic_compare_exchange_strong(&first, &none, now);
	return now - first >= atol(after) ? atol(text) : 0;
}

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *);
	if (strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) {
		errno = ENOENT;
		return NULL;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	return real(path, mode);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	long result = syscall(SYS_clock_gettime, id, t);
	if (result == 0 && id == CLOCK_REALTIME) {
		long ns = t->tv_nsec + offset_ms() % 1000 * 1000000;
		t->tv_sec += offset_ms() / 1000 + (ns >= 1000000000) - (ns < 0);
		t->tv_nsec = (ns + 1000000000) % 1000000000;
	}
	return (int)result;
}

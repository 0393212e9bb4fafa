#include "http/curl_clock.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static struct {
	uintptr_t begin, size; /* of libcurl's code; size 0: not known */
	int (*read)(clockid_t clock, struct timespec *t);
} real;

static _Thread_local struct {
	bool stands;
	struct timespec t; /* tv_sec 0: not read yet */
} still;

/* Replaces the C library's clock_gettime, with the same behaviour for all other callers. See timestamped_recv in
 * timestamp.c for how libcurl comes to call it. */
int stopped_clock_gettime(clockid_t clock, struct timespec *t) __asm__("clock_gettime");

__attribute__((visibility("default"), used)) int stopped_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!real.read)
		*(void **)&real.read = dlsym(RTLD_NEXT, "clock_gettime");
	bool stands = still.stands && clock == CLOCK_MONOTONIC &&
	              (uintptr_t)__builtin_return_address(0) - real.begin < real.size;
	if (stands && still.t.tv_sec) {
		*t = still.t;
		return 0;
	}
	int result = real.read(clock, t);
	if (stands && result == 0)
		still.t = *t;
	return result;
}

void curl_clock_init(void)
{
	struct dl_find_object libcurl, own;
	struct timespec t;
	stopped_clock_gettime(CLOCK_MONOTONIC, &t); /* sets real.read before there are threads */
	if (_dl_find_object((void *)(uintptr_t)curl_multi_socket_action, &libcurl) < 0 ||
	    _dl_find_object((void *)(uintptr_t)curl_clock_init, &own) < 0 || libcurl.dlfo_map_start == own.dlfo_map_start)
		return;
	real.begin = (uintptr_t)libcurl.dlfo_map_start;
	real.size = (uintptr_t)libcurl.dlfo_map_end - real.begin;
}

void curl_clock_stop(void)
{
	still.stands = true;
	still.t.tv_sec = 0;
}

void curl_clock_go(void)
{
	still.stands = false;
}

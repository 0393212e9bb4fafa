/* Uses its core for so long, then sleeps for so long, until it is killed: hog 5ms 5ms. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t duration(const char *text)
{
	char *unit;
	double value = strtod(text, &unit);
	return (int64_t)(value * (!strcmp(unit, "us") ? 1e3 : !strcmp(unit, "ms") ? 1e6 : 1e9));
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: hog RUN SLEEP, such as 5ms 5ms\n");
		return 2;
	}
	int64_t run = duration(argv[1]), rest = duration(argv[2]);
	/* before the client, which also asks for more than its share, where we may */
	setpriority(PRIO_PROCESS, 0, -20);
	for (int64_t begin = now_ns();; begin = now_ns()) {
		while (now_ns() - begin < run)
			;
		struct timespec t = {.tv_sec = rest / 1000000000, .tv_nsec = rest % 1000000000};
		nanosleep(&t, NULL);
	}
}

/* How late is a process that does nothing but sleep until a time? 100 absolute deadlines a second on the monotonic
 * clock; prints p50, p99 and p99.9 of the lateness in microseconds. The baseline of lag.sh: the machine's own
 * delays. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) * 100 : 3000;
	int64_t *late = count ? malloc(count * sizeof *late) : NULL;
	struct timespec due, now;

	if (!late)
		return 1;
	prctl(PR_SET_TIMERSLACK, 1);
	setpriority(PRIO_PROCESS, 0, -10); /* where allowed, as ipf-fire does */
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (size_t i = 0; i < count; i++) {
		due.tv_nsec += 10000000;
		if (due.tv_nsec >= 1000000000) {
			due.tv_nsec -= 1000000000;
			due.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		late[i] = (int64_t)(now.tv_sec - due.tv_sec) * 1000000000 + now.tv_nsec - due.tv_nsec;
	}
	qsort(late, count, sizeof *late, by_value);
	printf("%.1f %.1f %.1f\n", (double)late[count / 2] / 1e3, (double)late[count * 99 / 100] / 1e3,
	       (double)late[count * 999 / 1000] / 1e3);
	free(late);
	return 0;
}

#include "cli/interrupt.h"

#include "clock.h"

#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>

static volatile sig_atomic_t ignored_left, stop;

bool interrupt_is_new(void)
{
	static _Atomic int64_t last = INT64_MIN;
	int64_t now = clock_now(), last_ns = last;
	bool again = last_ns != INT64_MIN && now - last_ns < 100 * NS_PER_MS;
	last = now;
	return !again;
}

static void count(int number)
{
	if (!interrupt_is_new() || ignored_left-- > 0)
		return;
	stop = 1;
	signal(number, SIG_DFL);
}

void interrupt_watch(int ignored)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = count}, hangup;
	size_t watched = sizeof numbers / sizeof *numbers;
	/* under nohup SIGHUP is ignored, and must stay so */
	if (sigaction(SIGHUP, NULL, &hangup) < 0 || hangup.sa_handler == SIG_IGN)
		watched--;
	ignored_left = ignored;
	stop = 0;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < watched; i++)
		sigaddset(&action.sa_mask, numbers[i]);
	for (size_t i = 0; i < watched; i++)
		sigaction(numbers[i], &action, NULL);
}

bool interrupted(void)
{
	return stop;
}

bool input_is_live(int fd)
{
	struct stat status;
	return fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

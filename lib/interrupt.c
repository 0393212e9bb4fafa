#include "interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>

static volatile sig_atomic_t left, stop;

static void count(int number)
{
	if (left-- > 0)
		return;
	stop = 1;
	signal(number, SIG_DFL);
}

void interrupt_watch(int patience)
{
	struct sigaction action = {.sa_handler = count};
	left = patience;
	stop = 0;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool interrupted(void)
{
	return stop;
}

bool interrupt_is_live(int fd)
{
	struct stat about;
	return fstat(fd, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

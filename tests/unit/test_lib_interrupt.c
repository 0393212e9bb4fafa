#include "cli/interrupt.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* A signal arriving sooner after another one is part of it. */
static void pause_for_long_enough(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 120000000}, NULL);
}

static void send(int number)
{
	pause_for_long_enough();
	raise(number);
}

static void patience_wears_out(void **state)
{
	(void)state;
	interrupt_watch(2);
	assert_false(interrupted());
	send(SIGINT);
	send(SIGTERM);
	assert_false(interrupted());
	send(SIGINT);
	assert_true(interrupted());
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

static void none_at_all(void **state)
{
	(void)state;
	interrupt_watch(0);
	assert_false(interrupted());
	send(SIGTERM);
	assert_true(interrupted());
	interrupt_watch(0);
	assert_false(interrupted());
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

static void a_hangup_counts_unless_it_is_ignored(void **state)
{
	(void)state;
	interrupt_watch(0);
	send(SIGHUP);
	assert_true(interrupted());
	signal(SIGHUP, SIG_IGN);
	interrupt_watch(0);
	send(SIGHUP);
	assert_false(interrupted());
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

static void one_more_ends_the_program(void **state)
{
	(void)state;
	pid_t child = fork();
	if (child == 0) {
		interrupt_watch(1);
		send(SIGINT);
		send(SIGTERM);
		send(SIGTERM);
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void those_at_once_are_one(void **state)
{
	(void)state;
	interrupt_watch(1);
	send(SIGINT);
	raise(SIGINT);
	raise(SIGTERM);
	raise(SIGINT);
	assert_false(interrupted());
	send(SIGTERM);
	assert_true(interrupted());
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

static void pipes_are_live(void **state)
{
	(void)state;
	int ends[2], file = open("/dev/null", O_RDONLY);
	assert_int_equal(pipe(ends), 0);
	assert_true(input_is_live(ends[0]));
	assert_false(input_is_live(file));
	assert_false(input_is_live(-1));
	close(ends[0]);
	close(ends[1]);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patience_wears_out),
		cmocka_unit_test(none_at_all),
		cmocka_unit_test(a_hangup_counts_unless_it_is_ignored),
		cmocka_unit_test(one_more_ends_the_program),
		cmocka_unit_test(those_at_once_are_one),
		cmocka_unit_test(pipes_are_live),
	};
	return cmocka_run_group_tests_name("lib/interrupt", tests, NULL, NULL);
}

#include "interrupt.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void patience_wears_out(void **state)
{
	(void)state;
	interrupt_watch(2);
	assert_false(interrupted());
	raise(SIGINT);
	raise(SIGTERM);
	assert_false(interrupted());
	raise(SIGINT);
	assert_true(interrupted());
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

static void none_at_all(void **state)
{
	(void)state;
	interrupt_watch(0);
	assert_false(interrupted());
	raise(SIGTERM);
	assert_true(interrupted());
	interrupt_watch(0);
	assert_false(interrupted());
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

static void one_more_ends_the_program(void **state)
{
	(void)state;
	pid_t child = fork();
	if (child == 0) {
		interrupt_watch(1);
		raise(SIGINT);
		raise(SIGTERM); /* another one, or it would be the first over again */
		raise(SIGTERM);
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void the_same_at_once_is_one(void **state)
{
	(void)state;
	interrupt_watch(1);
	raise(SIGINT);
	raise(SIGINT);
	assert_false(interrupted());
	raise(SIGTERM);
	assert_true(interrupted());
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

static void pipes_are_live(void **state)
{
	(void)state;
	int ends[2], file = open("/dev/null", O_RDONLY);
	assert_int_equal(pipe(ends), 0);
	assert_true(interrupt_is_live(ends[0]));
	assert_false(interrupt_is_live(file));
	assert_false(interrupt_is_live(-1));
	close(ends[0]);
	close(ends[1]);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patience_wears_out),
		cmocka_unit_test(none_at_all),
		cmocka_unit_test(one_more_ends_the_program),
		cmocka_unit_test(the_same_at_once_is_one),
		cmocka_unit_test(pipes_are_live),
	};
	return cmocka_run_group_tests_name("lib/interrupt", tests, NULL, NULL);
}

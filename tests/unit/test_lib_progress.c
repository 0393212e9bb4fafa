#include "cli/progress.h"

#include "clock.h"

#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

/* Standard error during a test: a pipe, or a terminal with this many columns. */
struct catcher {
	int read_from, saved;
};

static void swap_stderr(struct catcher *c, int write_to, int read_from)
{
	c->read_from = read_from;
	c->saved = dup(STDERR_FILENO);
	dup2(write_to, STDERR_FILENO);
	close(write_to);
}

static void catch_pipe(struct catcher *c)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	swap_stderr(c, ends[1], ends[0]);
}

static void catch_terminal(struct catcher *c, unsigned short columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	int control, terminal;

	if (openpty(&control, &terminal, NULL, NULL, &size) < 0) {
		print_message("# no pseudo-terminals here: %m\n");
		skip();
	}
	swap_stderr(c, terminal, control);
}

/* Gives standard error back and returns all written to it. It is read to its end (a terminal's end is EIO): bytes
 * written to a terminal arrive when the kernel gets to them, in as many pieces as it likes. */
static const char *caught(struct catcher *c)
{
	static char text[4096];
	size_t len = 0;
	ssize_t got;

	dup2(c->saved, STDERR_FILENO);
	close(c->saved);
	while ((got = read(c->read_from, text + len, sizeof text - 1 - len)) > 0)
		len += (size_t)got;
	close(c->read_from);
	text[len] = '\0';
	return text;
}

static void silent_unless_wanted(void **state)
{
	struct catcher c;
	struct progress p;

	(void)state;
	catch_pipe(&c);
	progress_init(&p, false, false);
	for (int64_t now = 0; now < 10 * NS_PER_S; now += NS_PER_S)
		assert_false(progress_due(&p, now));
	progress_show(&p, "something");
	progress_end(&p);
	assert_string_equal(caught(&c), "");
	catch_pipe(&c);
	progress_init(&p, true, true); /* --quiet wins */
	assert_false(progress_due(&p, 0));
	progress_show(&p, "something");
	progress_end(&p);
	assert_string_equal(caught(&c), "");
	catch_terminal(&c, 80);
	progress_init(&p, false, true);
	progress_show(&p, "something");
	progress_end(&p);
	assert_string_equal(caught(&c), "");
}

static void a_line_a_second_in_a_log(void **state)
{
	struct catcher c;
	struct progress p;

	(void)state;
	catch_pipe(&c);
	progress_init(&p, true, false);
	assert_true(progress_due(&p, 5 * NS_PER_S));
	progress_show(&p, "%d of %s\nis done", 3, "seven");
	assert_false(progress_due(&p, 6 * NS_PER_S - 1));
	assert_true(progress_due(&p, 6 * NS_PER_S));
	progress_show(&p, "more");
	progress_end(&p);
	assert_string_equal(caught(&c), "3 of seven\\nis done\nmore\n");
}

static void one_line_on_a_terminal(void **state)
{
	struct catcher c;
	struct progress p;

	(void)state;
	catch_terminal(&c, 12);
	progress_init(&p, false, false);
	assert_true(progress_due(&p, NS_PER_S));
	assert_false(progress_due(&p, NS_PER_S + 100 * NS_PER_MS));
	assert_true(progress_due(&p, NS_PER_S + 200 * NS_PER_MS));
	progress_end(&p); /* nothing was shown: nothing to clear */
	progress_show(&p, "short");
	progress_show(&p, "0123456789abcdef");
	progress_show(&p, "äöüäöüäöüäö");
	progress_show(&p, "12.3 s  4567/89");
	progress_show(&p, "12.3 s  4/5  678");
	progress_show(&p, "a\tb\033[1m");
	progress_end(&p);
	progress_end(&p);
	assert_string_equal(caught(&c), "\rshort\033[K\r\033[K\räöüäöüäöüäö\033[K\r12.3 s\033[K\r12.3 s  4/5\033[K\r"
	                                "a\\tb\\x1b[1m\033[K\r\033[K");
}

static void terminals_without_a_width_have_80(void **state)
{
	char text[100], wanted[100] = "\r";
	struct catcher c;
	struct progress p;

	(void)state;
	memset(text, '0', 79);
	strcpy(text + 79, "  1");
	unsetenv("COLUMNS");
	catch_terminal(&c, 0);
	progress_init(&p, false, false);
	progress_show(&p, "%s", text);
	snprintf(wanted, sizeof wanted, "\r%.79s\033[K", text);
	assert_string_equal(caught(&c), wanted);
	setenv("COLUMNS", "20", 1);
	catch_terminal(&c, 0);
	progress_init(&p, false, false);
	progress_show(&p, "0123456789  abcdefg  1");
	assert_string_equal(caught(&c), "\r0123456789  abcdefg\033[K");
	catch_terminal(&c, 15); /* the terminal's width is right, whatever the shell said once */
	progress_init(&p, false, false);
	progress_show(&p, "0123456789  abcdefg  1");
	assert_string_equal(caught(&c), "\r0123456789\033[K");
	unsetenv("COLUMNS");
}

static void long_texts_are_cut(void **state)
{
	struct catcher c;
	struct progress p;

	(void)state;
	catch_pipe(&c);
	progress_init(&p, true, false);
	progress_show(&p, "%05000d", 0);
	assert_int_equal(strlen(caught(&c)), 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silent_unless_wanted),   cmocka_unit_test(a_line_a_second_in_a_log),
		cmocka_unit_test(one_line_on_a_terminal), cmocka_unit_test(terminals_without_a_width_have_80),
		cmocka_unit_test(long_texts_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

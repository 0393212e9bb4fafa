/* Drawing on a terminal: widths, sparklines, and lines drawn again in place. */
#include "view/screen.h"
#include "view/sparkline.h"
#include "cli/terminal.h"

#include <fcntl.h>
#include <math.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- sparklines ---- */

static void spark_is(const double *values, size_t count, bool utf8, const char *expected)
{
	struct buffer out = {0};
	buffer_text(&out, "");
	sparkline(&out, values, count, utf8);
	assert_string_equal(out.data ? out.data : "", expected);
	buffer_release(&out);
}

static void bars_have_the_height_of_their_values(void **state)
{
	const double values[] = {0, 1, 2, 4, NAN, 8, -3};
	(void)state;
	spark_is(values, 7, true, "▁▁▂▄ █▁");
	spark_is(values, 7, false, "__.- #_");
	spark_is(values, 0, true, "");
}

static void nothing_above_0_is_empty(void **state)
{
	const double zero[] = {0, 0, NAN}, endless[] = {INFINITY, 2};
	(void)state;
	spark_is(zero, 3, true, "   ");
	spark_is(endless, 2, true, " █");
}

/* ---- widths ---- */

static void figures_fit_whole(void **state)
{
	(void)state;
	assert_int_equal(terminal_fit("ab  cd  ef", 10), 10);
	assert_int_equal(terminal_fit("ab  cd  ef", 9), 6);
	assert_int_equal(terminal_fit("ab  cd  ef", 5), 2);
	assert_int_equal(terminal_fit("abcdef", 5), 0);
	/* two characters of two columns, three bytes each */
	assert_int_equal(terminal_fit("模型  x", 7), 9);
	assert_int_equal(terminal_fit("模型  x", 6), 6);
	assert_int_equal(terminal_cut("模型x", 3), 3);
	assert_int_equal(terminal_width_of(slice_of("模型x▁")), 6);
	/* not UTF-8: a byte in a column */
	assert_int_equal(terminal_width_of(slice_of("\xff\xfe")), 2);
}

static void the_locale_says_what_can_be_drawn(void **state)
{
	(void)state;
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	assert_true(terminal_is_utf8());
	setenv("LC_ALL", "C", 1);
	setenv("LANG", "en_US.UTF-8", 1);
	assert_false(terminal_is_utf8());
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	assert_true(terminal_is_utf8());
	setenv("LC_ALL", "C", 1);
}

/* ---- the screen ---- */

struct catcher {
	int master, saved;
};

static void set_size(int fd, unsigned short rows, unsigned short columns)
{
	struct winsize size = {.ws_row = rows, .ws_col = columns};
	assert_int_equal(ioctl(fd, TIOCSWINSZ, &size), 0);
}

static void catch_begin(struct catcher *c, unsigned short rows, unsigned short columns)
{
	int slave;
	struct termios raw;
	assert_int_equal(openpty(&c->master, &slave, NULL, NULL, NULL), 0);
	tcgetattr(slave, &raw);
	cfmakeraw(&raw); /* newlines stay newlines */
	tcsetattr(slave, TCSANOW, &raw);
	set_size(slave, rows, columns);
	c->saved = dup(STDERR_FILENO);
	dup2(slave, STDERR_FILENO);
	close(slave);
	fcntl(c->master, F_SETFL, O_NONBLOCK);
}

static void shown_is(struct catcher *c, const char *expected)
{
	char got[4096];
	ssize_t len = read(c->master, got, sizeof got - 1);
	got[len > 0 ? len : 0] = '\0';
	assert_string_equal(got, expected);
}

static void catch_end(struct catcher *c)
{
	dup2(c->saved, STDERR_FILENO);
	close(c->saved);
	close(c->master);
}

static void lines_are_drawn_again_in_place(void **state)
{
	struct screen s = {0};
	struct catcher c;
	(void)state;
	catch_begin(&c, 24, 20);
	screen_begin(&s);
	screen_line(&s, "one  two");
	screen_line(&s, "three");
	screen_show(&s);
	shown_is(&c, "\rone  two\033[K\r\nthree\033[K\033[J");
	screen_begin(&s);
	screen_line(&s, "four\033[2J");
	screen_show(&s);
	shown_is(&c, "\r\033[1Afour\\x1b[2J\033[K\033[J");
	screen_leave(&s);
	shown_is(&c, "\r\n");
	/* nothing is left to go back to */
	screen_begin(&s);
	screen_line(&s, "five");
	screen_show(&s);
	shown_is(&c, "\rfive\033[K\033[J");
	screen_clear(&s);
	shown_is(&c, "\r\033[J");
	catch_end(&c);
	screen_release(&s);
}

static void parts_without_room_are_left_out(void **state)
{
	struct screen s = {0};
	struct catcher c;
	(void)state;
	catch_begin(&c, 2, 10);
	screen_begin(&s);
	screen_line(&s, "12345  789");
	screen_line(&s, "b");
	screen_line(&s, "c");
	screen_show(&s);
	shown_is(&c, "\r12345\033[K\r\nb\033[K\033[J");
	catch_end(&c);
	screen_release(&s);
}

static void a_narrower_terminal_has_wrapped_lines(void **state)
{
	struct screen s = {0};
	struct catcher c;
	char drawn[256];
	(void)state;
	catch_begin(&c, 24, 40);
	screen_begin(&s);
	screen_line(&s, "123456789012345678901234567890"); /* 30 columns: 3 rows of 10 */
	screen_line(&s, "123456789012345");                /* 2 rows */
	screen_show(&s);
	assert_true(read(c.master, drawn, sizeof drawn) > 0);
	set_size(STDERR_FILENO, 24, 10);
	screen_begin(&s);
	screen_line(&s, "x");
	screen_show(&s);
	shown_is(&c, "\r\033[4Ax\033[K\033[J");
	catch_end(&c);
	screen_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars_have_the_height_of_their_values),
		cmocka_unit_test(nothing_above_0_is_empty),
		cmocka_unit_test(figures_fit_whole),
		cmocka_unit_test(the_locale_says_what_can_be_drawn),
		cmocka_unit_test(lines_are_drawn_again_in_place),
		cmocka_unit_test(parts_without_room_are_left_out),
		cmocka_unit_test(a_narrower_terminal_has_wrapped_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

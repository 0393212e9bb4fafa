/* The commands of plots in a saved report: our plots' commands pass, and none by which gnuplot runs a program, or reads
 * or writes a file. */
#include "unit.h"

#include "plots/plot_check.h"

#include <string.h>

static bool passes(const char *commands, size_t len)
{
	struct ipf_error err = {0};
	/* on the heap, so a sanitizer sees reads beyond the end */
	char *copy = malloc(len + 1);
	assert_non_null(copy);
	memcpy(copy, commands, len);
	char *exact = realloc(copy, len ? len : 1);
	bool good = plot_commands_check((struct slice){exact, len}, &err) == 0;
	if (!good) {
		assert_int_equal(err.kind, IPF_INPUT);
		assert_null(strpbrk(err.text, "\n\r\x1b"));
	}
	free(exact);
	return good;
}

static void scripts_of_our_plots_pass(void **state)
{
	(void)state;
	static const char *const good[] = {
		"",
		"\n\n",
		"set xrange [0:1.5]\nplot data using 1:2 with lines lt 1\n",
		"set xtics ('0' 0, '1e+03' 1e+03, 'it''s' 2.5 1)\n",
		"set label 2 'tokens/s $(x) `x` \"x\" ; system(\"x\") @x # |' at screen 0.022, graph 0.5 center rotate by 90\n",
		"set xlabel (glyphs('4e2d 20ac') ? '\xe4\xb8\xad' : '?') offset 0,0.7\n",
		"set object 100 rectangle from screen 0.1,0.2 to screen 0.3,0.4 fc rgb '#0072b2' fs solid noborder\n",
		"set arrow 1 from first 0.5, graph 0 to first 0.5, graph 1 nohead lw 1 lc rgb '#d8d8d8'\n",
		"unset for [i=100:105] label i\nunset logscale y\nunset multiplot\n",
		"place(from) = log(from) / log(2) + 0.5\n",
		"plot data index 0 using 1:($5 < 459 ? $4 : NaN) with points pt 9 ps 0.4 lc rgb '#ffffff'\n",
		"shade(n) = int(255 * 0.85 * (1 - log(1 + n) / log(1 + 97)) + 0.5) * 2**24 + 0x0072b2\n",
		"plot for [i=0:2] data using 1:2+i with linespoints lt i+1\n",
		"plot data index 0 using (($1+$2)/2):(($3+$4)/2):1:2:3:4:(shade($5)) with boxxyerror lc rgb variable\n",
		"plot data index 1 using ($4*250):($5*800):(sprintf('%.3g', $3)) with labels center\n",
		"plot 1-exp(-x) with lines lt -1 lw 1 dt 2, \\\ndata index 0 using 1:2 with lines lc rgb '#900072b2'\n",
		"plot x with lines lt -1, data using 1:2 with points",
	};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (!passes(good[i], strlen(good[i])))
			fail_msg("refused: %s", good[i]);
}

static const char *const bad[] = {
	/* programs */
	"system('touch x')",
	"system(\"touch x\")",
	"set label 1 system('touch x')",
	"set label 11system('touch x')",
	"set label 0x1system('touch x')",
	"set label 1.system('touch x')",
	"set label 1e5system('touch x')",
	"set xrange [0:1]system('x')",
	"plot data using (system('touch x'))",
	"plot $1system('touch x')",
	"`touch x`",
	"set label `touch x`",
	"set label 1 `x`",
	"! touch x",
	"!touch x",
	"set label 1 !x",
	"shell",
	"load 'x'",
	"call 'x'",
	"eval 'x'",
	"evaluate 'x'",
	"exit",
	"do for [i=0:1] { set label 'x' }",
	"plot '<touch x'",
	"plot \"<touch x\"",
	"plot ('<touch x')",
	"plot data, ('<touch x')",
	"plot sprintf('<touch x')",
	"plot sprintf('%s', '<touch x')",
	"plot strcol(1)",
	"plot for [i=0:1] ('<touch x')",
	"plot [0:1] '<touch x'",
	"plot [0:1] ('<touch x')",
	"shade(x) = x\nplot shade('<touch x')",
	"shade(x) = '<touch x'\nplot shade(1)",
	"shade(x) = ('<touch x')",
	"shade(x) = sprintf('<touch x')",
	"plot data with lines, ('<touch x')",
	"plot data using 1:2, ('<touch x')",
	"plot data using 1:2 with lines lc rgb '#000000', '<touch x'",
	"plot data using 1:2 with lines lc rgb, '<touch x'",
	"plot data using 1:2 with lines lc rgb 0x000000 '<touch x'",
	"plot x with lines lc rgb('<touch x')",
	"set label 1 glyphs(';touch x;')",
	"set label 1 (glyphs(''';touch x;''') ? 1 : 2)",
	"set label 1 glyphs (sprintf('%s', ';x'))",
	"set label 1 glyphs(strcol(1))",
	"plot data using (glyphs('xyz'))",
	"plot data pipe '|x'",
	"set label 1 'a' | x",
	"fit x",
	"plot data | x",
	/* files */
	"plot '/etc/passwd'",
	"plot \"x\"",
	"plot 'x' using 1",
	"plot data.'x'",
	"plot data.('/../x')",
	"plot data . ('x')",
	"set output 'x'",
	"set out 'x'",
	"set o 'x'",
	"set terminal svg",
	"set term svg",
	"set t svg",
	"set print 'x'",
	"set pr 'x'",
	"print 1",
	"set table 'x'",
	"set loadpath 'x'",
	"set fontpath 'x'",
	"set datafile separator 'x'",
	"set dat 'x'",
	"save 'x'",
	"replot",
	"reset",
	"cd 'x'",
	"stats 'x'",
	"test",
	"splot data",
	"set palette file 'x'",
	"set 'x'",
	"set data 'x'",
	"unset",
	"set for [i=0:1] output 'x'",
	"unset for [i=0:1] terminal",
	/* variables */
	"data = 'x'",
	"data='x'",
	"place = 5",
	"set xrange [data='x':1]",
	"set xrange [(data='x'):1]",
	"place(x) = (data = 'x')",
	"place(x) = data",
	"place(x) = x = 2",
	"plot data = 'x'",
	"set label (data='x')",
	"set label 1 x='x'",
	"plot for [data='x':'y'] data",
	"plot for [i=0:data='x'] data",
	"GPVAL_TERM = 1",
	"set samples = 5",
	"undefine data",
	/* form */
	"set label 'a'; system('x')",
	"set label 'a';",
	";",
	"@x",
	"set label @x",
	"plot @x",
	"set label $(x)",
	"plot $(x)",
	"$x",
	"$x << EOD",
	"plot $x",
	"set label 1 # x",
	"# x",
	"set label 'x",
	"set label 1 'x\n'",
	"set label 'x''",
	"set label (1",
	"set label 1)",
	"set xrange [0:1",
	"set xrange 0:1]",
	"set label (1\nset label 2)",
	"plot (x\n",
	"plot data using (1",
	"set label 1\\ \nx",
	"set label 1 \\x",
	"\\\nplot data",
	"1",
	"'x'",
	"(1)",
	"set label \"x\"",
	"set label 1 \"x\"",
	"\tset label 1",
	"set\tlabel 1",
	"set label 1\r\n",
	"\rset label 1",
	"set label 'a\rb'",
	"set label 'a\x1b[2J'",
	"set label 'a\x7f'",
	"\xc3\xa4",
	"set label \xc3\xa4",
	"set \xc3\xa4 label 1",
	"set label {x}",
	"set label 1 % 2",
	"set label 1 & 2",
	"set label 1 ~ 2",
	"set label 1 ^ 2",
	"set label _",
	"plot 'a' 'b'",
	"plot data using 'x'",
	"set border 1.2.3",
	"set border 1_a",
	"set border 0xg",
	"setlabel 1",
	"set labels_ 1",
	"Set label 1",
	"plott data",
};

static void others_do_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[300];
		if (passes(bad[i], strlen(bad[i])))
			fail_msg("passes: %s", bad[i]);
		/* behind the good part, and before it */
		int len = snprintf(text, sizeof text, "set xrange [0:1]\n%s\nplot data using 1:2\n", bad[i]);
		assert_in_range(len, 1, sizeof text - 1);
		if (passes(text, (size_t)len))
			fail_msg("passes in the middle: %s", text);
	}
}

/* A NUL hides from gnuplot the rest of a line, which goes on in the next. */
static void nul(void **state)
{
	(void)state;
	static const char in_text[] = "set label 1 'a\0b'\nset label 2 '.system(\"x\")'", between[] = "set label\0 1",
					  first[] = "\0";
	assert_false(passes(in_text, sizeof in_text - 1));
	assert_false(passes(between, sizeof between - 1));
	assert_false(passes(first, sizeof first - 1));
	assert_false(passes("set label 1\0", sizeof "set label 1\0" - 1));
}

/* Whatever is cut or changed of commands: passing ones have no word in front of strings that is not ours. */
static void cut_and_changed(void **state)
{
	(void)state;
	static const char script[] =
		"set label 2 'a''b' at screen 0.022, graph 0.5 center\nplace(i) = i == 0 ? 7 : 44\n"
		"plot for [i=0:2] data using 1:2+i:(sprintf('%.3g', $5)) with labels, x with lines lc rgb '#000000'\n";
	static const char marks[] = "'\"`@$();|!=[]\\\n\r#.,x0 <\0";
	uint64_t random = test_seed("cut_and_changed");
	for (size_t len = 0; len < sizeof script; len++)
		passes(script, len);
	for (int round = 0; round < 20000; round++) {
		char changed[sizeof script];
		memcpy(changed, script, sizeof script);
		for (int k = 0; k < 3; k++)
			changed[test_random(&random) % (sizeof script - 1)] = marks[test_random(&random) % (sizeof marks - 1)];
		if (!passes(changed, sizeof script - 1))
			continue;
		bool inside = false;
		for (size_t i = 0; i < sizeof script - 1; i++) {
			inside ^= changed[i] == '\'';
			if (!inside && strchr("\"`@;|!#\r", changed[i]))
				fail_msg("passes: %s", changed);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts_of_our_plots_pass),
		cmocka_unit_test(others_do_not),
		cmocka_unit_test(nul),
		cmocka_unit_test(cut_and_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The parts of plots: tables, texts, axes, the choice of stages, and the treatment of gnuplot's SVG. */
#include "unit.h"

#include "cli/gnuplot.h"
#include "plots/plot_style.h"
#include "plots/stage_choice.h"
#include "plots/svg_finish.h"

#include <math.h>

/* cmocka's assert_double_equal is younger than Debian's */
#define assert_near(a_, b_) assert_true(fabs((a_) - (b_)) < 1e-9)

static void is_text(struct buffer *b, const char *expected)
{
	buffer_byte(b, 0);
	assert_string_equal(b->data, expected);
	buffer_release(b);
}

static void test_tables(void **state)
{
	struct plot p = {.name = "a"};
	(void)state;
	assert_int_equal(plot_block(&p, "x\ty"), 0);
	plot_row(&p, (double[]){0.5, NAN}, 2);
	plot_row(&p, (double[]){1e6, -0.0000001}, 2);
	assert_int_equal(plot_block(&p, "z"), 1);
	plot_row(&p, (double[]){1.0 / 3}, 1);
	plot_row(&p, (double[]){INFINITY}, 1);
	is_text(&p.data, "# x\ty\n0.5\tNaN\n1000000\t0\n\n\n# z\n0.333333\nNaN\n");
	plot_release(&p);
}

static void test_texts(void **state)
{
	struct plot p = {.name = "a"};
	struct buffer quoted = {0};
	char text[16];
	(void)state;
	gnuplot_quote(&quoted, slice_of("it's `date` @x \"q\" _^{} \\n\n\x1b[0m"));
	is_text(&quoted, "'it''s `date` @x \"q\" _^{} \\n\\n\\x1b[0m'");
	plot_shorten(text, sizeof text, "abcdef", 4);
	assert_string_equal(text, "abc…");
	plot_shorten(text, sizeof text, "äöüß", 4);
	assert_string_equal(text, "äöüß");
	plot_shorten(text, sizeof text, "高峰期", 4); /* two columns each */
	assert_string_equal(text, "高…");
	plot_shorten(text, sizeof text, "高峰期", 6);
	assert_string_equal(text, "高峰期");
	plot_quote(&quoted, slice_of("äµ…"));
	is_text(&quoted, "'äµ…'");
	plot_quote(&quoted, slice_of("it's 低\U0001f600!"));
	is_text(&quoted, "(glyphs('4f4e 1f600') ? 'it''s 低\U0001f600!' : 'it''s ?\?!')");
	plot_shorten(text, sizeof text, "", 4);
	assert_string_equal(text, "");
	plot_title(&p, "%d requests", 3);
	plot_title(&p, "%d requests", 4);
	plot_say(&p, "One.");
	plot_say(&p, "Two.");
	assert_true(slice_is(buffer_all(&p.title), "4 requests"));
	assert_true(slice_is(buffer_all(&p.about), "One. Two."));
	plot_release(&p);
}

static void test_axes(void **state)
{
	struct plot p = {.name = "a", .width = 640, .height = 400};
	struct plot_axis axis;
	(void)state;
	assert_near(plot_round_up(0, false), 1);
	assert_near(plot_round_up(1.2, false), 2);
	assert_near(plot_round_up(1.2, true), 1.5);
	assert_near(plot_round_up(5, false), 5);
	assert_near(plot_round_up(0.0051, false), 0.01);
	axis = plot_axis_linear(&p, "x", "n", 58);
	assert_near(axis.low, 0);
	assert_near(axis.high, 60);
	assert_near(plot_axis_place(&axis, 15), 0.25);
	axis = plot_axis_ms(&p, "x", "t", 3, 150);
	assert_true(axis.log);
	assert_near(axis.low, 2);
	assert_near(axis.high, 200);
	assert_near(plot_axis_place(&axis, 20), 0.5);
	axis = plot_axis_ms(&p, "x", "t", 10, 150);
	assert_false(axis.log);
	assert_near(axis.high, 150);
	plot_axis_ms(&p, "y", "t", 20000, 45000);
	assert_non_null(strstr(p.script.data, "'10' 10000, '20' 20000"));
	assert_non_null(strstr(p.script.data, "'t (s)'"));
	plot_release(&p);
}

static void test_end_labels(void **state)
{
	struct plot p = {.name = "a"};
	const struct plot_axis y = {0, 100, false}, log_y = {0.1, 100, true};
	struct plot_end_label labels[] = {{"c", 100, 1}, {"a", NAN, 2}, {"b", 99, 3}, {"d", 10, 1}}, zero = {"e", 0, 1};
	(void)state;
	plot_end_labels(&p, &y, labels, 4);
	plot_end_labels(&p, &log_y, &zero, 1);
	buffer_byte(&p.script, 0);
	assert_non_null(strstr(p.script.data, "'d' at graph 1.02,0.1000"));
	assert_non_null(strstr(p.script.data, "'b' at graph 1.02,0.9250")); /* 99 would touch 100 */
	assert_non_null(strstr(p.script.data, "'c' at graph 1.02,1.0000"));
	assert_null(strstr(p.script.data, "'a'"));
	assert_non_null(strstr(p.script.data, "'e' at graph 1.02,0.0000")); /* the logarithm of 0 is no place */
	plot_release(&p);
}

static void test_stage_choice(void **state)
{
	struct figures stages[12] = {0};
	for (int i = 0; i < 12; i++)
		stages[i].name = i == 4 ? "" : "name";
	struct run_figures figures = {.stages = stages, .count = 12};
	struct stage_choice choice;
	(void)state;
	choose_stages(&figures, &choice);
	assert_int_equal(choice.count + choice.of, 0);
	for (int i = 0; i < 12; i++) {
		stages[i].measured = i != 0; /* the first is a warm-up */
		stages[i].ok = i != 3;       /* the fourth has no requests */
	}
	choose_stages(&figures, &choice); /* stages of 1, 2, 4 … 11 */
	assert_int_equal(choice.of, 10);
	assert_int_equal(choice.count, STAGE_LINES_MOST);
	const int32_t expected[] = {1, 4, 6, 8, 11};
	assert_memory_equal(choice.stage, expected, sizeof expected);
	assert_string_equal(choice.name[0], "name");
	assert_string_equal(choice.name[1], "stage 5"); /* it has no name */
	figures.count = 2;
	choose_stages(&figures, &choice);
	assert_int_equal(choice.count, 1);
	assert_int_equal(choice.stage[0], 1);
}

static const char drawn[] =
	"<?xml version=\"1.0\"?>\n<svg width=\"9\" height=\"9\">\n<title>Gnuplot</title>\n<desc>by gnuplot</desc>\n"
	"<g id=\"gnuplot_canvas\">\n<rect x=\"0\" fill=\"#ffffff\"/>\n<defs><path id='gpPt0' stroke='currentColor' d='M0,0'/>"
	"<filter id='f'><feFlood x='1'/></filter></defs>\n<g color=\"black\">\n</g>\n<g id=\"gnuplot_plot_1\" ><title>data</title>\n"
	"<g color='black' stroke=\"currentColor\"><path stroke='rgb(  0, 114, 178)' opacity='0.5' d='M1,2 '/>"
	"<use xlink:href='#gpPt0' color='rgb(1, 2, 3)'/><text>a &amp; <tspan>b</tspan></text></g></g>\n</g></svg>\n";

static void test_svg(void **state)
{
	struct plot p = {.name = "n", .width = 640, .height = 400};
	struct buffer out = {0};
	(void)state;
	plot_title(&p, "A <b>");
	plot_say(&p, "x & y");
	svg_finish(slice_of(drawn), &p, SVG_INLINE, &out);
	is_text(
		&out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" class=\"ipf-plot\" "
		"width=\"640\" height=\"400\" viewBox=\"0 0 640 400\" role=\"img\" aria-labelledby=\"n-title n-desc\">\n"
		"<title id=\"n-title\">A &lt;b&gt;</title>\n<desc id=\"n-desc\">x &amp; y</desc>\n"
		"<g id=\"n-gnuplot_canvas\"><defs><path id=\"n-gpPt0\" stroke=\"currentColor\" d=\"M0,0\"/>\n</defs>\n"
		"<g id=\"n-gnuplot_plot_1\"><g color=\"#000000\" stroke=\"currentColor\" class=\"c-ink\">"
		"<path stroke=\"#0072b2\" opacity=\"0.5\" d=\"M1,2\" class=\"s-1\"/>\n"
		"<use xlink:href=\"#n-gpPt0\" color=\"#010203\"/>\n<text>a &amp; <tspan>b</tspan>\n</text>\n</g>\n</g>\n</g>\n"
		"</svg>\n");
	svg_finish(slice_of("<svg><g><path d=\"M"), &p, SVG_ALONE, &out); /* cut */
	buffer_byte(&out, 0);
	assert_non_null(strstr(out.data, "<?xml"));
	assert_non_null(strstr(out.data, "var(--plot-ink,#000000)"));
	assert_non_null(strstr(out.data, "prefers-color-scheme:dark"));
	buffer_release(&out);
	plot_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),     cmocka_unit_test(test_texts),        cmocka_unit_test(test_axes),
		cmocka_unit_test(test_end_labels), cmocka_unit_test(test_stage_choice), cmocka_unit_test(test_svg),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "html/html_plots.h"

static int draw_plot(struct html_plots *plots, const struct plot *p, struct ipf_error *err)
{
	size_t before = plots->figures.len;
	/* a tall one takes the room of two */
	buffer_text(&plots->figures, p->height > p->width ? "<figure class=\"tall\">" : "<figure>");
	int drawn = plot_svg(p, SVG_INLINE, &plots->figures, err);
	if (drawn <= 0) {
		plots->figures.len = before;
		plots->gnuplot_missing = drawn == 0;
		return drawn;
	}
	buffer_text(&plots->figures, "</figure>\n");
	plots->count++;
	return 0;
}

int html_plots_draw(struct html_plots *plots, const struct plot_input *input, struct ipf_error *err)
{
	int bad = 0;
	for (const struct plot_kind *kind = plot_kinds; kind->name && bad == 0 && !plots->gnuplot_missing; kind++) {
		struct plot p;
		int made = plot_make(kind, input, &p, err);
		bad = made > 0 ? draw_plot(plots, &p, err) : made;
		plot_release(&p);
	}
	return bad;
}

void html_plots_release(struct html_plots *plots)
{
	buffer_release(&plots->figures);
}

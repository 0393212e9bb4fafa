#include "html/html_plots.h"

#include "html/plot_values.h"
#include "json_report/json_path.h"
#include "plots/plot_check.h"

#include <math.h>
#include <string.h>

enum { SIZE_LEAST = 50, SIZE_MOST = 4000 };

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

static void take(struct buffer *to, json_t *plot, const char *member)
{
	json_t *text = json_object_get(plot, member);
	buffer_append(to, json_is_string(text) ? json_string_value(text) : "", json_string_length(text));
}

/* A plot of ours by its name, and with the commands of one. */
static int read_plot(struct plot *p, json_t *plot, struct ipf_error *err)
{
	const char *name = text_at(plot, "name");
	double width = figure_at(plot, "width"), height = figure_at(plot, "height");
	const struct plot_kind *kind = plot_kinds;
	while (kind->name && strcmp(kind->name, name ? name : "") != 0)
		kind++;
	*p = (struct plot){.name = kind->name};
	if (!kind->name || !(width >= SIZE_LEAST && width <= SIZE_MOST) || !(height >= SIZE_LEAST && height <= SIZE_MOST))
		return ipf_error_set(err, IPF_INPUT, "plots: \"%.40s\" is not a plot of ours", name ? name : "");
	p->width = (int)width;
	p->height = (int)height;
	take(&p->title, plot, "title");
	take(&p->about, plot, "about");
	take(&p->data, plot, "data");
	take(&p->script, plot, "script");
	return plot_failed(p) ? ipf_error_memory(err) : plot_commands_check(buffer_all(&p->script), err);
}

int html_plots_draw(struct html_plots *plots, json_t *list, json_t *outliers, struct ipf_error *err)
{
	json_t *one;
	size_t i;
	int bad = 0;
	json_array_foreach(list, i, one)
	{
		struct plot p;
		if (bad < 0 || plots->gnuplot_missing)
			break;
		bad = read_plot(&p, one, err);
		if (bad == 0)
			bad = draw_plot(plots, &p, err);
		plot_release(&p);
	}
	if (bad == 0 && plots->count)
		plot_values_write(list, outliers, &plots->figures);
	return bad == 0 && plots->figures.failed ? ipf_error_memory(err) : bad;
}

void html_plots_release(struct html_plots *plots)
{
	buffer_release(&plots->figures);
}

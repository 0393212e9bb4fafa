#include "plots/svg_finish.h"

#include "output/markup.h"
#include "plots/plot_style.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements within elements; gnuplot has about six. */
enum { DEPTH_MOST = 64 };

struct svg_writer {
	const struct plot *p;
	enum svg_use use;
	struct buffer *out;
	int depth;
	struct {
		size_t begin; /* where its start tag is in `out` */
		bool empty;   /* it draws nothing */
	} open[DEPTH_MOST];
};

/* A tag as it was read: between < and >. */
struct tag {
	struct slice name, attributes;
	bool end, closed; /* </name>; <name/> */
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* ---- colours ---- */

void svg_style(struct buffer *out)
{
	for (int i = 0; i < PLOT_COLOURS; i++) {
		const struct plot_colour *c = &plot_colours[i];
		static const char *const uses[] = {"fill", "stroke", "color"};
		for (int u = 0; u < 3; u++)
			buffer_format(out, ".ipf-plot .%c-%s{%s:var(--plot-%s,#%06x)}", uses[u][0], c->name, uses[u], c->name,
			              (unsigned)c->light);
		buffer_byte(out, '\n');
	}
	buffer_text(out, "@media screen and (prefers-color-scheme:dark){.ipf-plot{");
	for (int i = 0; i < PLOT_COLOURS; i++)
		buffer_format(out, "--plot-%s:#%06x;", plot_colours[i].name, (unsigned)plot_colours[i].dark);
	buffer_text(out, "}}\n");
}

/* "rgb(  0, 114, 178)", "#0072b2", "black". -1: something else. */
static int32_t colour_of(struct slice value)
{
	char text[40];
	unsigned r, g, b;
	char rest;
	if (value.len >= sizeof text)
		return -1;
	memcpy(text, value.data, value.len);
	text[value.len] = 0;
	if (strcmp(text, "black") == 0)
		return 0;
	if (sscanf(text, "rgb( %3u , %3u , %3u )%c", &r, &g, &b, &rest) == 3 && r < 256 && g < 256 && b < 256)
		return (int32_t)(r << 16 | g << 8 | b);
	if (value.len == 7 && sscanf(text, "#%2x%2x%2x%c", &r, &g, &b, &rest) == 3)
		return (int32_t)(r << 16 | g << 8 | b);
	return -1;
}

static const struct plot_colour *plot_colour_of(int32_t colour)
{
	for (int i = 0; i < PLOT_COLOURS; i++)
		if (colour >= 0 && plot_colours[i].light == (uint32_t)colour)
			return &plot_colours[i];
	return NULL;
}

/* ---- attributes ---- */

/* Takes the next attribute from `rest`; false: there is no well-formed one. */
static bool next_attribute(struct slice *rest, struct slice *name, struct slice *value)
{
	const char *at = rest->data, *end = rest->data + rest->len;
	while (at < end && is_space(*at))
		at++;
	const char *begin = at;
	while (at < end && (isalnum((unsigned char)*at) || *at == '-' || *at == ':' || *at == '_'))
		at++;
	*name = (struct slice){begin, (size_t)(at - begin)};
	while (at < end && is_space(*at))
		at++;
	if (name->len == 0 || at >= end || *at != '=')
		return false;
	at++;
	while (at < end && is_space(*at))
		at++;
	if (at >= end || (*at != '"' && *at != '\''))
		return false;
	const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
	if (!close)
		return false;
	*value = (struct slice){at + 1, (size_t)(close - at - 1)};
	*rest = (struct slice){close + 1, (size_t)(end - close - 1)};
	return true;
}

/* A value without the space around it. One with a quotation mark in it, which gnuplot does not write, is left out. */
static void write_attribute(struct svg_writer *w, struct slice name, const char *before, struct slice value)
{
	while (value.len && is_space(*value.data))
		value = (struct slice){value.data + 1, value.len - 1};
	while (value.len && is_space(value.data[value.len - 1]))
		value.len--;
	if (memchr(value.data, '"', value.len) || memchr(value.data, '<', value.len))
		return;
	buffer_byte(w->out, ' ');
	buffer_slice(w->out, name);
	buffer_format(w->out, "=\"%s", before);
	buffer_slice(w->out, value);
	buffer_byte(w->out, '"');
}

static void write_attributes(struct svg_writer *w, struct slice attributes)
{
	struct slice name, value;
	char prefix[80], colour_text[16], classes[128] = "";
	while (next_attribute(&attributes, &name, &value)) {
		int32_t colour = slice_is(name, "fill") || slice_is(name, "stroke") || slice_is(name, "color")
		                     ? colour_of(value)
		                     : -1;
		const struct plot_colour *known = plot_colour_of(colour);
		if (known)
			snprintf(classes + strlen(classes), sizeof classes - strlen(classes), "%s%c-%s", *classes ? " " : "",
			         name.data[0], known->name);
		if (colour >= 0) {
			snprintf(colour_text, sizeof colour_text, "#%06x", (unsigned)colour);
			write_attribute(w, name, "", slice_of(colour_text));
		} else if (slice_is(name, "id")) {
			snprintf(prefix, sizeof prefix, "%s-", w->p->name);
			write_attribute(w, name, prefix, value);
		} else if (slice_is(name, "xlink:href") && value.len > 1 && value.data[0] == '#') {
			snprintf(prefix, sizeof prefix, "#%s-", w->p->name);
			write_attribute(w, name, prefix, (struct slice){value.data + 1, value.len - 1});
		} else if (!slice_is(name, "class") && memcmp(name.data, "on", name.len < 2 ? name.len : 2) != 0) {
			write_attribute(w, name, "", value);
		}
	}
	if (*classes)
		write_attribute(w, slice_of("class"), "", slice_of(classes));
}

/* ---- elements ---- */

static void open_picture(struct svg_writer *w)
{
	const char *name = w->p->name;
	if (w->use == SVG_ALONE)
		buffer_text(w->out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
	buffer_format(w->out,
	              "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
	              "class=\"ipf-plot\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
	              "aria-labelledby=\"%s-title %s-desc\">\n<title id=\"%s-title\">",
	              w->p->width, w->p->height, w->p->width, w->p->height, name, name, name);
	markup_escape(w->out, buffer_all(&w->p->title), "");
	buffer_format(w->out, "</title>\n<desc id=\"%s-desc\">", name);
	markup_escape(w->out, buffer_all(&w->p->about), "");
	buffer_text(w->out, "</desc>\n");
	if (w->use == SVG_ALONE) {
		buffer_text(w->out, "<style>\n");
		svg_style(w->out);
		buffer_format(w->out, "</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\" class=\"f-paper\"/>\n",
		              w->p->width, w->p->height);
	}
}

static void note_content(struct svg_writer *w)
{
	for (int i = 0; i < w->depth; i++)
		w->open[i].empty = false;
}

static void write_tag(struct svg_writer *w, const struct tag *tag)
{
	if (tag->end) {
		if (w->depth == 0)
			return;
		w->depth--;
		if (w->open[w->depth].empty && slice_is(tag->name, "g")) {
			w->out->len = w->open[w->depth].begin;
			return;
		}
		buffer_text(w->out, "</");
		buffer_slice(w->out, tag->name);
		buffer_text(w->out, ">\n");
		return;
	}
	size_t begin = w->out->len;
	buffer_byte(w->out, '<');
	buffer_slice(w->out, tag->name);
	write_attributes(w, tag->attributes);
	buffer_text(w->out, tag->closed ? "/>\n" : ">");
	if (!tag->closed && w->depth < DEPTH_MOST) {
		w->open[w->depth].begin = begin;
		w->open[w->depth++].empty = true;
	}
	if (!slice_is(tag->name, "g"))
		note_content(w);
}

/* Reads the tag at `at`, which begins with <. Returns the text after it; NULL: it does not end. */
static const char *read_tag(const char *at, const char *end, struct tag *tag)
{
	const char *close = at + 1;
	for (char quote = 0; close < end && (quote || *close != '>'); close++)
		if (quote ? *close == quote : *close == '"' || *close == '\'')
			quote = quote ? 0 : *close;
	if (close >= end)
		return NULL;
	const char *begin = at + 1, *last = close;
	*tag = (struct tag){.end = *begin == '/', .closed = close[-1] == '/'};
	begin += tag->end;
	last -= tag->closed && last > begin;
	const char *name = begin;
	while (begin < last && isalnum((unsigned char)*begin))
		begin++;
	tag->name = (struct slice){name, (size_t)(begin - name)};
	tag->attributes = (struct slice){begin, (size_t)(last - begin)};
	return close + 1;
}

/* The end of an element left out with its contents, which have none of the same name. */
static const char *skip_element(const char *at, const char *end, struct slice name)
{
	struct tag tag;
	while (at && (at = memchr(at, '<', (size_t)(end - at)))) {
		at = read_tag(at, end, &tag);
		if (at && tag.end && slice_equal(tag.name, name))
			return at;
	}
	return end;
}

/* Drawing elements are kept, but for the background. Left out are gnuplot's own words, and whatever else there may
 * be. */
static bool is_left_out(const struct svg_writer *w, const struct tag *tag)
{
	static const char *const kept[] = {"g",       "defs",     "path", "circle", "use",   "polygon",
	                                   "ellipse", "polyline", "line", "text",   "tspan", "pattern"};
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (slice_is(tag->name, kept[i]))
			return false;
	return !slice_is(tag->name, "rect") || w->depth <= 1;
}

static void write_text(struct svg_writer *w, struct slice text)
{
	size_t i = 0;
	while (i < text.len && is_space(text.data[i]))
		i++;
	if (i == text.len)
		return;
	note_content(w);
	buffer_slice(w->out, text);
}

void svg_finish(struct slice svg, const struct plot *p, enum svg_use use, struct buffer *out)
{
	struct svg_writer w = {.p = p, .use = use, .out = out};
	const char *at = svg.data, *end = svg.data + svg.len;
	open_picture(&w);
	while (at < end) {
		const char *next = memchr(at, '<', (size_t)(end - at));
		struct tag tag;
		write_text(&w, (struct slice){at, (size_t)((next ? next : end) - at)});
		if (!next || !(at = read_tag(next, end, &tag)))
			break;
		if (tag.name.len == 0 || slice_is(tag.name, "svg"))
			continue; /* the declaration, comments, and the part written above */
		if (is_left_out(&w, &tag))
			at = tag.closed || tag.end ? at : skip_element(at, end, tag.name);
		else
			write_tag(&w, &tag);
	}
	buffer_text(out, "</svg>\n");
}

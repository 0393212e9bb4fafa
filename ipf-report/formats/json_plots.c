#include "formats/json_plots.h"

#include "json/json_put.h"

static json_t *text_json(const struct buffer *text)
{
	return json_stringn(text->data ? text->data : "", text->len);
}

static json_t *plot_json(const struct plot *p)
{
	json_t *json = json_pack("{s:s, s:o, s:o, s:i, s:i, s:o, s:o}", "name", p->name, "title", text_json(&p->title),
	                         "about", text_json(&p->about), "width", p->width, "height", p->height, "data",
	                         text_json(&p->data), "script", text_json(&p->script));
	json_put_object(json, "panels", json_incref(p->panels));
	json_put_object(json, "range", json_incref(p->range));
	return json;
}

json_t *json_plots(const struct plot_input *input, struct ipf_error *err)
{
	json_t *list = json_array();
	for (const struct plot_kind *kind = plot_kinds; kind->name; kind++) {
		struct plot p;
		int made = plot_make(kind, input, &p, err);
		if (made > 0)
			json_array_append_new(list, plot_json(&p));
		plot_release(&p);
		if (made < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

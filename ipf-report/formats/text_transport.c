#include "formats/text_transport.h"

#include "safe_text.h"

#include <stdio.h>

#define FINDINGS_MOST 8 /* one more rather than "1 more" */

static const char *text_of(json_t *finding, const char *key)
{
	const char *text = json_string_value(json_object_get(finding, key));
	return text ? text : "";
}

/* A sentence from a file, with `before` and `after` around it. */
static void show_sentence(struct layout *l, enum style style, const char *before, const char *sentence,
                          const char *after)
{
	struct buffer text = {0};
	if (!*sentence)
		return;
	buffer_text(&text, before);
	safe_text_append(&text, slice_of(sentence));
	buffer_text(&text, after);
	layout_to(l, 14);
	if (text.failed)
		l->out->failed = true;
	else
		layout_wrapped(l, 14, style, text.data);
	buffer_release(&text);
}

static void show_finding(struct layout *l, json_t *finding, const char *part)
{
	bool doubt = json_is_true(json_object_get(finding, "doubt"));
	char of[300] = "";
	if (part)
		snprintf(of, sizeof of, " (%s)", shown(part).text);
	layout_to(l, 2);
	layout_format(l, PLAIN, "%s:", shown(text_of(finding, "finding")).text);
	show_sentence(l, PLAIN, "", doubt ? "see the verdict" : text_of(finding, "detail"), of);
	show_sentence(l, PLAIN, "this can be ", text_of(finding, "can_be"), "");
	show_sentence(l, FAINT, "advice: ", text_of(finding, "advice"), "");
}

void text_transport(struct layout *l, const struct report *report)
{
	const struct run_data *run = report->run;
	json_t *finding;
	size_t k, count = 0, lines = 0;
	for (int i = 0; i < run->part_count; i++)
		count += json_array_size(json_object_get(run->parts[i].trailer, "transport"));
	if (count == 0)
		return;
	size_t most = count <= FINDINGS_MOST + 1 ? count : FINDINGS_MOST;
	layout_heading(l, "Transport");
	layout_end_line(l);
	for (int i = 0; i < run->part_count; i++) {
		json_array_foreach(json_object_get(run->parts[i].trailer, "transport"), k, finding)
		{
			if (lines++ < most)
				show_finding(l, finding, run->part_count > 1 ? run->parts[i].name : NULL);
		}
	}
	if (count > most) {
		layout_to(l, 2);
		layout_format(l, FAINT, "%zu more", count - most);
		layout_end_line(l);
	}
}

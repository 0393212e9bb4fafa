#include "capture/traffic_counts.h"

#include "array.h"
#include "capture/known_apis.h"
#include "safe_text.h"

#include <stdio.h>
#include <stdlib.h>

void traffic_counts_add(struct traffic_counts *c, struct slice method, struct slice target)
{
	char name[TRAFFIC_COUNT_NAME];
	struct buffer text = {0};
	buffer_slice(&text, method);
	buffer_byte(&text, ' ');
	buffer_slice(&text, known_apis_path(target));
	safe_text(name, sizeof name, buffer_all(&text));
	buffer_release(&text);
	c->all++;
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->list[i].name, name) == 0) {
			c->list[i].count++;
			return;
		}
	if (c->count == TRAFFIC_COUNTED) {
		c->further++;
		return;
	}
	if (!array_room(c->list, c->cap, c->count + 1)) {
		c->failed = true;
		return;
	}
	c->list[c->count].count = 1;
	snprintf(c->list[c->count++].name, sizeof name, "%s", name);
}

json_t *traffic_counts_json(const struct traffic_counts *c)
{
	json_t *json = json_object();
	for (size_t i = 0; i < c->count; i++)
		json_object_set_new(json, c->list[i].name, json_integer((json_int_t)c->list[i].count));
	if (c->further)
		json_object_set_new(json, "others", json_integer((json_int_t)c->further));
	return json;
}

void traffic_counts_release(struct traffic_counts *c)
{
	free(c->list);
}

#include "client_clocks.h"

int client_clocks_begin(struct client_clocks *c, const struct record_inputs *inputs, struct ipf_error *err)
{
	if (inputs->count < 2 || inputs->count > CLOCK_CLIENTS_MOST || inputs->predicted || inputs->continued)
		return 0;
	c->offsets = clock_offsets_new();
	for (size_t i = 0; c->offsets && i < inputs->count; i++)
		if (clock_offsets_client(c->offsets, stream_reader_header(record_reader_stream(inputs->list[i].reader))) < 0)
			return ipf_error_memory(err);
	return c->offsets ? 0 : ipf_error_memory(err);
}

int client_clocks_line(struct client_clocks *c, size_t input, struct slice line, struct ipf_error *err)
{
	if (!c->offsets)
		return 0;
	return jdoc_parse(&c->doc, line.data, line.len, err) < 0 ||
	               clock_offsets_read(c->offsets, (int)input, &c->doc, JDOC_ROOT, err) < 0
	           ? -1
	           : 0;
}

json_t *client_clocks_end(struct client_clocks *c, const struct record_inputs *inputs)
{
	if (!c->offsets)
		return NULL;
	for (size_t i = 0; i < inputs->count; i++) {
		json_t *trailer = stream_reader_trailer(record_reader_stream(inputs->list[i].reader));
		clock_offsets_end(c->offsets, (int)i, json_object_get(trailer, "client"));
	}
	return clock_offsets_json(c->offsets);
}

void client_clocks_release(struct client_clocks *c)
{
	clock_offsets_free(c->offsets);
	jdoc_release(&c->doc);
}

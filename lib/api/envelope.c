#include "api/envelope.h"

#include "api/aws_eventstream.h"
#include "array.h"
#include "json/jdoc.h"
#include "api/error_message.h"

#include <stdlib.h>

static int add_part(struct envelope *e, size_t body_end, struct ipf_error *err)
{
	if (!array_room(e->parts, e->cap, e->count + 1))
		return ipf_error_memory(err);
	e->parts[e->count++] = (struct envelope_part){.payload_end = e->payload.len, .body_end = body_end};
	return 0;
}

/* Name and text, such as "throttlingException: Too many requests". */
static void note_error(struct envelope *e, const struct aws_eventstream_message *m)
{
	struct jdoc doc = {0};
	buffer_slice(&e->error, m->name);
	buffer_text(&e->error, m->name.len && (m->detail.len || m->payload.len) ? ": " : "");
	if (m->detail.len)
		error_message_plain(m->detail, 300, &e->error);
	else
		error_message_of_body(&doc, m->payload, &e->error);
	if (!e->error.len)
		buffer_text(&e->error, "error without a message");
	jdoc_release(&doc);
}

int envelope_open(struct envelope *e, struct slice body, struct ipf_error *err)
{
	struct aws_eventstream_message m;
	size_t at = 0;
	int got;
	buffer_clear(&e->payload);
	buffer_clear(&e->error);
	e->count = e->at = 0;
	e->truncated = e->broken = false;
	while ((got = aws_eventstream_next(body, &at, &m)) > 0) {
		if (m.type.len && !slice_is(m.type, "event")) {
			if (!e->error.len)
				note_error(e, &m);
			continue;
		}
		buffer_slice(&e->payload, m.payload);
		if (add_part(e, at, err) < 0)
			return -1;
	}
	e->broken = got < 0;
	e->truncated = got == 0 && at < body.len;
	return e->payload.failed || e->error.failed ? ipf_error_memory(err) : 0;
}

size_t envelope_end(struct envelope *e, size_t payload_end)
{
	while (e->at + 1 < e->count && e->parts[e->at].payload_end < payload_end)
		e->at++;
	return e->count ? e->parts[e->at].body_end : payload_end;
}

void envelope_rewind(struct envelope *e)
{
	e->at = 0;
}

void envelope_release(struct envelope *e)
{
	buffer_release(&e->payload);
	buffer_release(&e->error);
	free(e->parts);
}

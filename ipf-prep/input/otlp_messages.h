/* Files of OTLP in protocol buffers: one message, as it is posted to a receiver, or messages after their lengths, as
 * the collector's file exporter writes them (a length is 4 bytes, big-endian; the message may be compressed with zstd,
 * and may be JSON). Each message becomes OTLP's JSON.
 *
 *     struct otlp_messages messages = {.window = &window};
 *     if (otlp_begins(head))
 *         while ((got = otlp_messages_next(&messages, &json, &err)) != 0)
 *             … got < 0 && !messages.broken: only this message is malformed …
 *     otlp_messages_release(&messages);
 *
 * Requests of spans and of log records are read; any other, as of metrics, becomes {"resourceMetrics":[]}. Fields
 * without use in from_otel.c (resources, scopes, links) are left out. Invalid UTF-8 becomes U+FFFD.
 */
#ifndef PREP_OTLP_MESSAGES_H
#define PREP_OTLP_MESSAGES_H

#include "buffer.h"
#include "error.h"
#include "input/byte_window.h"

#include <stdbool.h>
#include <stdint.h>

struct otlp_messages {
	struct byte_window *window;
	bool begun, framed;
	bool broken;    /* nothing after the error can be read */
	int64_t number; /* the last message's, from 1 */
	size_t given;   /* length of the last message: consumed by the next call */
	struct buffer unpacked, json;
	void *zstd;
};

/* Does a file beginning with these bytes contain such messages? */
bool otlp_begins(struct slice head);
/* 1 and the JSON of the next message, valid until the next call; 0 at the end; -1: malformed (IPF_INPUT), cut
 * (IPF_CUT), or it cannot be read. */
int otlp_messages_next(struct otlp_messages *m, struct slice *json, struct ipf_error *err);
void otlp_messages_release(struct otlp_messages *m);

#endif

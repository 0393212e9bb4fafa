/* HTTP/1.1 of a captured connection: requests and responses, matched in order (RFC 9112), with keep-alive, pipelining,
 * chunks, interim responses and upgrades; see talk.h.
 *
 * Where bytes are missing, the exchange is damaged. Reading goes on at the end of the message if the length of its body
 * tells where that is; otherwise at the next segment that begins like a request or a response. That response belongs to
 * the newest request sent by then, since clients wait for an answer before they send the next request; on a connection
 * whose client does not wait (pipelining), all requests without an answer are damaged.
 */
#ifndef IPF_CAPTURE_HTTP1_TALK_H
#define IPF_CAPTURE_HTTP1_TALK_H

#include "capture/talk.h"

extern const struct talk_reader http1_talk;

/* Do the first bytes of a side look like HTTP/1? Few bytes may do. */
bool http1_talk_begins_request(struct slice bytes);
bool http1_talk_begins_response(struct slice bytes);
/* … like a chunk of a body that began before the capture? */
bool http1_talk_begins_chunk(struct slice bytes);

/* Takes the exchange out that asked for the upgrade, after TALK_UPGRADED: it goes on in the other protocol. */
struct captured *http1_talk_upgraded(void *talk);

#endif

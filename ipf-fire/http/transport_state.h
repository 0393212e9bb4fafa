/* The state of a transport, shared by the modules it consists of. */
#ifndef IPF_TRANSPORT_STATE_H
#define IPF_TRANSPORT_STATE_H

#include "http/deadlines.h"
#include "http/exchange.h"
#include "http/response_headers.h"
#include "http/transport.h"

struct transport {
	const struct transport_options *options;
	const struct endpoint *endpoint;
	struct balance *balance;
	struct thread_stats *stats;
	struct network network;
	struct pool pool;
	struct origin *origins; /* a target each */
	struct deadlines *deadlines;
	size_t waiting, held;         /* requests without a connection: not started; started */
	struct shelf *due;            /* there may be room in them for waiting requests */
	struct connection *unwritten; /* HTTP/2 ones, with unwritten requests */
	struct exchange *in_flight;   /* doubly linked */
	struct exchange *spare;
	struct buffer head; /* the request being written */
	struct buffer token;
	struct date_cache date;
	struct job_list ended;
	uint64_t serial;
	bool cut;              /* answers in flight were cut, and are to be ended */
	bool grown_in_need;    /* this read let an answer grow for which there is no room */
	char failed_text[256]; /* why a connection without a waiting request could not be opened; "" */
	char no_token_text[80], too_large_text[80], no_room_text[80];
};

#endif

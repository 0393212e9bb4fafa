/* One request and its answer on a libcurl easy handle, which is used again for the next. Private to the transport. */
#ifndef IPF_TRANSFER_H
#define IPF_TRANSFER_H

#include "http/transport.h"

/* Of a connection that carries several streams so many bytes are read before each of them gets what came for it; the
 * last read may bring as many as libcurl asks for, 32 KiB. Each stream's buffer takes all of that: one that is full
 * would stop the others, and a stream that ends in the meantime would lose its trailers to libcurl, and with them a
 * gRPC call its status. */
#define SHARED_READ   ((size_t)16 * 1024)
#define SHARED_BUFFER (64L * 1024)

struct transfer;

/* What all exchanges of a transport share. */
struct transfer_setup {
	const struct endpoint *endpoint;
	const struct transport_options *options;
	curl_opensocket_callback open_socket; /* its data is the exchange */
	curl_closesocket_callback close_socket;
	void *close_data;
	void (*connected)(struct transfer *x,
	                  int fd);               /* right before it is sent, and on which socket; -1: as known before */
	bool (*alive)(const struct transfer *x); /* is the connection that it was sent on still open? */
	void (*refused)(struct transfer *x);     /* by the server that it was sent to, as one too many */
	CURLSH *share;                           /* of TLS sessions; NULL */
	int64_t zero_ns;
	struct timestamps *stamps;
	/* The event that is being worked on: when its bytes came, as far as we know, and our own clock. */
	int64_t t_ns, own_ns;
};

struct transfer {
	CURL *easy;
	struct transfer_setup *setup;
	struct job *job; /* NULL while it is unused */
	size_t target;   /* where it goes: the URL that the handle has */
	struct multi *multi;
	struct transfer *next, *previous;
	struct curl_slist *signed_headers; /* the request's, with its signature; NULL */
	int attempts;                      /* how often the request was about to be sent */
	int fd;                            /* its connection's socket; -1 */
	int made;                          /* the last that was made for it; -1 */
	int64_t begin_ns;                  /* when libcurl began with it: what its times count from */
	int64_t trip_ns;                   /* a round trip on a connection that is used again; 0: unknown */
	int64_t again_ns;                  /* when libcurl wanted to try again; IPF_ABSENT */
	const char *cancelled;             /* why we ended it; NULL */
	enum record_error cancelled_as;
	uint64_t serial;         /* another one for each request */
	size_t closed;           /* connections of the multi handle that had been closed when it began */
	bool established;        /* TCP's connection is there */
	bool opening, unplanned; /* a connection is being made for it; though there should have been one */
	struct transfer *opener_next, *opener_previous; /* while it is `opening` */
	uint64_t key;                                   /* whose connections it may take: a session's; 0: those of nobody */
	uint32_t scope;                                 /* the key's (session_scopes.h); 0 */
	bool only_kept;                                 /* it can be sent on connections that there are, not on a new one */
	bool anew;                                      /* there was none: begin again (transfer_anew) */
	bool refused;   /* by a server that had no stream for it: to be sent once more, wherever there is one */
	bool pipewait;  /* libcurl may let it wait for a connection that is being made */
	bool shortened; /* its time-out, by the time that had passed before */
	bool no_memory;
	char error[CURL_ERROR_SIZE];
};

struct transfer *transfer_new(struct transfer_setup *setup); /* NULL: out of memory */
void transfer_free(struct transfer *x);
/* Ready for the next, as soon as it is known that this one has ended: so that nothing is left to do when the next one
 * begins. */
void transfer_unused(struct transfer *x);
/* With the key and scope that it has been given. `pin`: tell libcurl the address, once for each multi handle. `kept`:
 * there should be a connection for it already. */
void transfer_begin(struct transfer *x, struct job *job, size_t target, bool pin, bool kept);
/* For a new connection, after `anew`. */
void transfer_anew(struct transfer *x);
/* Fills in the job from what libcurl knows; the exchange is unused from then on. */
void transfer_end(struct transfer *x, CURLcode code, int64_t t_ns);

/* When the last read of its connection was, if it is known. */
bool transfer_last_read(const struct transfer *x, int64_t *t_ns, int64_t *own_ns);

/* libcurl is about to try a second time (from the socket callback). false: it is not to; transfer_end will say why. */
bool transfer_again(struct transfer *x);
/* What was refused libcurl sends five times. True: it ended for that, and is to be sent once more. */
bool transfer_gave_up(struct transfer *x, CURLcode code);
#define MOST_REFUSALS 100                                     /* a server that never takes it is one that fails */
void transfer_no_socket(struct transfer *x, int errno_value); /* likewise */

#endif

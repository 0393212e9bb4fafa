/* One request and its response on a libcurl easy handle, which later requests reuse. Used by the transport only. */
#ifndef IPF_TRANSFER_H
#define IPF_TRANSFER_H

#include "http/transport.h"
#include "http_date.h"

/* The number of bytes read from a connection with several streams before each stream gets what arrived for it; the last
 * read may return as many as libcurl asks for, 32 KiB. Each stream's buffer can hold all of that: a full one would stop
 * the other streams, and a stream that ended meanwhile would lose its trailers, and with them the status of a gRPC
 * call. */
#define SHARED_READ   ((size_t)16 * 1024)
#define SHARED_BUFFER (64L * 1024)

/* A request that an HTTP/2 server has refused this often fails. */
#define REFUSALS_MAX 100

struct transfer;

/* What all transfers of a transport share. */
struct transfer_setup {
	const struct endpoint *endpoint;
	const struct transport_options *options;
	curl_opensocket_callback open_socket; /* its data is the transfer */
	curl_closesocket_callback close_socket;
	void *close_data;
	/* Called right before the request is sent, with its socket; -1: the socket is known already. */
	void (*connected)(struct transfer *x, int fd);
	/* Limits of the answer (answer_limit.h): how many more bytes may be kept; false: it was cut. */
	size_t (*room)(struct transfer *x, size_t len);
	bool (*grown)(struct transfer *x);
	bool (*header)(struct transfer *x, size_t len);
	bool (*alive)(const struct transfer *x); /* is the connection that the request was sent on still open? */
	void (*refused)(struct transfer *x);     /* the server has refused the stream */
	CURLSH *share;                           /* shares TLS sessions; NULL */
	int64_t zero_ns;
	struct timestamps *timestamps;
	char date[HTTP_DATE_LENGTH]; /* the last Date header, and what it means */
	int64_t date_s;
	int64_t t_ns, own_ns; /* the event that is being handled: when its bytes arrived, as far as known, and our clock */
};

struct transfer {
	CURL *easy;
	struct transfer_setup *setup;
	struct job *job; /* NULL while unused */
	size_t target;   /* index in endpoint.targets; the handle has its URL */
	struct multi_handle *multi;
	struct transfer *next, *previous;
	struct curl_slist *signed_headers; /* the request's headers with its signature; NULL */
	int attempts;                      /* how often the request was about to be sent */
	int fd;                            /* the socket of its connection; -1 */
	int opened_fd;                     /* the last socket that was opened for it; -1 */
	int64_t begin_ns;                  /* when libcurl started; its times count from here */
	int64_t round_trip_ns;             /* of the kept connection that it uses; 0: unknown */
	int64_t retry_ns;                  /* when libcurl wanted to retry; IPF_ABSENT */
	const char *cancelled;             /* why we ended it; NULL */
	enum record_error cancelled_as;
	uint64_t serial;                                /* different for each request */
	size_t closed;                                  /* multi_handle.closed when it started */
	bool established;                               /* the TCP connection is established */
	bool opening;                                   /* a connection is being opened for it … */
	bool unplanned;                                 /* … although there should have been one */
	struct transfer *opener_next, *opener_previous; /* while `opening` */
	uint64_t key;   /* of the session whose connections it may use; 0: those of no session */
	uint32_t scope; /* of the key (session_scopes.h); 0 */
	bool only_kept; /* can use only an existing connection, not a new one */
	bool restart;   /* there was no existing connection: start again (transfer_restart) */
	bool refused;   /* by a server without a free stream: to be sent again on any connection */
	bool pipewait;  /* libcurl may let it wait for a connection that is being opened */
	bool shortened; /* its timeout was reduced by the time that had passed before */
	bool no_memory;
	char error[CURL_ERROR_SIZE];
};

struct transfer *transfer_new(struct transfer_setup *setup); /* NULL: out of memory */
void transfer_free(struct transfer *x);
/* Prepares the handle for its next request as soon as the current one has ended, so that nothing is left to do when the
 * next one starts. */
void transfer_reset(struct transfer *x);
/* Starts a request, with the key and scope that the transfer was given. `pin`: give libcurl the address, once for each
 * multi handle. `kept`: there should be a connection for it already. */
void transfer_begin(struct transfer *x, struct job *job, size_t target, bool pin, bool kept);
/* Starts again with a new connection, if `restart` is set. */
void transfer_restart(struct transfer *x);
/* Fills in the job from what libcurl knows; the transfer is then unused. */
void transfer_end(struct transfer *x, CURLcode code, int64_t t_ns);

/* When the last read of its connection was. false: not known. */
bool transfer_last_read(const struct transfer *x, int64_t *t_ns, int64_t *own_ns);

/* For the socket callback, when libcurl is about to send the request a second time. false: it must not; transfer_end
 * gives the reason. */
bool transfer_may_retry(struct transfer *x);
/* libcurl sends a refused request five times by itself. true: it has ended because of that, and must be sent again. */
bool transfer_must_resend(struct transfer *x, CURLcode code);
/* For the socket callback: no socket could be opened. */
void transfer_no_socket(struct transfer *x, int errno_value);

#endif

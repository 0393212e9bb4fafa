/* One request and its answer on a libcurl easy handle, which is used again for the next. Private to the transport. */
#ifndef IPF_EXCHANGE_H
#define IPF_EXCHANGE_H

#include "transport.h"

/* What all exchanges of a transport share. */
struct exchange_setup {
	const struct target *target;
	const struct transport_options *options;
	curl_opensocket_callback open_socket;   /* its data is the exchange */
	curl_closesocket_callback close_socket;
	void *close_data;
	int64_t zero_ns;
	struct stamps *stamps; /* NULL: none but our own */
	/* The event that is being worked on: when its bytes came, as far as we know, and our own clock. */
	int64_t t_ns, own_ns;
};

struct exchange {
	CURL *easy;
	struct exchange_setup *setup;
	struct job *job;         /* NULL while it is unused */
	size_t place;            /* where it goes: the URL that the handle has */
	struct multi *multi;
	struct exchange *next, *previous;
	int attempts;            /* how often the request was about to be sent */
	int fd;                  /* its connection's socket; -1 */
	int64_t trip_ns;         /* a round trip on a connection that is used again; 0: unknown */
	int64_t again_ns;        /* when libcurl wanted to try again; IPF_ABSENT */
	const char *cancelled;   /* why we ended it; NULL */
	bool only_kept;          /* it must not make a connection, … */
	bool anew;               /* … and wanted to */
	bool established;        /* TCP's connection is there */
	bool no_memory;
	char error[CURL_ERROR_SIZE];
};

struct exchange *exchange_new(struct exchange_setup *setup); /* NULL: out of memory */
void exchange_free(struct exchange *x);
/* `pin`: tell libcurl the address, once for each multi handle. `kept`: there should be a connection that it can use again. */
void exchange_begin(struct exchange *x, struct job *job, size_t place, bool pin, bool kept);
/* Where `anew` was set: there was none after all. To be added to the multi handle once more. */
void exchange_anew(struct exchange *x);
/* Fills in the job from what libcurl knows; the exchange is unused from then on. */
void exchange_end(struct exchange *x, CURLcode code, int64_t t_ns);

void exchange_again(struct exchange *x);                      /* from the socket callback */
void exchange_no_socket(struct exchange *x, int errno_value); /* likewise */

#endif

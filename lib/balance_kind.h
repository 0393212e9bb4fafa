/* Ways to spread requests over several servers. */
#ifndef IPF_BALANCE_KIND_H
#define IPF_BALANCE_KIND_H

enum balance_kind {
	BALANCE_ROUND_ROBIN,
	BALANCE_LEAST,   /* the server with the fewest requests in flight; ties go to the next one in turn */
	BALANCE_SESSION, /* all requests of a session go to one server, as long as the same number of servers is in;
	                    requests without a session take the servers in turn */
	BALANCE_KINDS,   /* none of them is known */
};

/* "round-robin", "least", "session", by enum balance_kind; NULL at the end. */
extern const char *const balance_names[];

#endif

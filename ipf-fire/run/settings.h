/* The program's options. */
#ifndef IPF_SETTINGS_H
#define IPF_SETTINGS_H

#include "cli/options.h"

struct fire_options {
	struct common_options common;
	const char *trace, *model, *api;
	const char *key_env, *key_file, *cacert, *cert, *key;
	const char *connections, *http;               /* see connection_policy.h */
	const char *unix_socket, *proxy, *bind, *dns; /* see network_path.h */
	const char *history;                          /* "recorded" or "live" */
	const char *balance;                          /* balance.h's names */
	const char *shape;                            /* --calibrate's load (calibrate.h); NULL */
	const char *calibration; /* the file that holds what --calibrate found; "none"; NULL: where it is kept */
	const char *start_at;    /* start_time.h; NULL: as soon as all is ready */
	const char *stop_on;     /* stop_rule.h; NULL: nothing */
	const char *stamps;      /* "kernel", "user"; NULL: the kernel's where it gives them */
	struct string_list urls, resolve, cancels, params, headers, record_headers;
	int64_t timeout_ns, first_token_timeout_ns, connect_timeout_ns, grace_ns;
	int64_t streams;
	int64_t warm;         /* requests before the schedule */
	int64_t memory_bytes; /* 0: half of the machine's */
	int64_t threads;      /* 0: as many as are of use */
	int64_t spin_ns;
	int64_t wait_ready_ns; /* 0: not at all */
	bool list_apis, probe, calibrate, exact_output, no_stream, insecure, no_resumption;
};

#endif

/* The program's options: one struct, parsed and checked once, before anything is opened. */
#ifndef IPF_SETTINGS_H
#define IPF_SETTINGS_H

#include "cli/options.h"
#include "cache/cache_state.h"
#include "endpoint/connection_policy.h"
#include "run/load_shape.h"
#include "run/retry_rule.h"
#include "run/run_options.h"
#include "run/start_time.h"

enum timestamp_source {
	TIMESTAMPS_KERNEL,
	TIMESTAMPS_USER,
	TIMESTAMPS_BEST, /* the kernel's if they are available */
};

/* --answers */
enum answer_choice { ANSWERS_FREE, ANSWERS_RECORDED };

struct connections_option {
	const char *text;                /* as given to --connections, for the records */
	struct connection_policy policy; /* including --http, --streams and --no-tls-resumption */
};

struct fire_options {
	struct common_options common;
	struct run_options run;
	const char *media, *api;
	const char *key_env, *key_file, *cacert, *cert, *key;
	const char *unix_socket, *proxy, *bind; /* see network_path.h */
	struct load_shape shape;                /* for --calibrate */
	const char *calibration;                /* file with a calibration; "none"; NULL: the saved one */
	struct string_list continued;           /* records of the parts the run continues */
	struct string_list urls, resolve, params, headers, record_headers;
	struct connections_option connections;
	const char *session_header; /* NULL: none goes back */
	enum timestamp_source timestamps;
	struct start_time start_at;
	int64_t stop_after_failures; /* the number of failed first requests to stop the run; 0: never */
	struct retry_rule retry;
	int64_t connect_timeout_ns;
	enum cache_choice cache;
	enum answer_choice answers;
	int64_t warm;    /* warm-up requests before the schedule */
	int64_t threads; /* 0: chosen by thread_count.h */
	int64_t spin_ns;
	int64_t wait_ready_ns; /* 0: do not wait */
	int dns;               /* 1: look names up for each connection */
	bool list_apis, probe, calibrate, exact_output, no_stream, insecure, sandbox;
};

/* Parses the command line and checks the options fit together. *schedule: the operand; NULL: standard input. *argv: for
 * the header of the records; new. False: end with *status (--help, --version, or wrong usage, which has been
 * reported). */
bool fire_options_parse(struct fire_options *options, int argc, char **arguments, const char **schedule, json_t **argv,
                        int *status);

/* fire_options_parse for a run within another process: nothing is printed, and the environment sets no options. -1:
 * IPF_USAGE. */
int fire_options_read(struct fire_options *options, struct arguments *arguments, const char **schedule, json_t **argv,
                      struct ipf_error *err);

#endif

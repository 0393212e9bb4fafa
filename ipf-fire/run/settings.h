/* The program's options: one struct, parsed and checked once, before anything is opened. */
#ifndef IPF_SETTINGS_H
#define IPF_SETTINGS_H

#include "batching/replicas.h"
#include "cli/options.h"
#include "endpoint/balance.h"
#include "endpoint/connection_policy.h"
#include "http/cancel.h"
#include "run/load_shape.h"
#include "run/retry_rule.h"
#include "run/start_time.h"
#include "run/stop_rule.h"

enum history_source {
	HISTORY_RECORDED,       /* later turns of a session repeat the answers in the trace */
	HISTORY_LIVE,           /* … the server's own */
	HISTORY_LIVE_REASONING, /* … and its reasoning */
	HISTORY_SERVER,         /* … are named by their ids, since the server has them */
};

enum timestamp_source {
	TIMESTAMPS_KERNEL,
	TIMESTAMPS_USER,
	TIMESTAMPS_BEST, /* the kernel's if they are available */
};

struct connections_option {
	const char *text;                /* as given to --connections, for the records */
	struct connection_policy policy; /* with what --http, --streams and --no-tls-resumption say */
};

struct fire_options {
	struct common_options common;
	const char *trace, *media, *model, *api;
	const char *twin; /* the file of a model that answers in the place of a server; NULL: a server answers */
	const char *name; /* of the run; NULL: that of the output */
	const char *key_env, *key_file, *cacert, *cert, *key;
	const char *unix_socket, *proxy, *bind; /* see network_path.h */
	struct load_shape shape;                /* of --calibrate */
	const char *calibration;                /* file with a calibration; "none"; NULL: the saved one */
	struct string_list assume;              /* parameters of the twin, see twin_assume */
	struct string_list continued;           /* records of the parts that the run continues */
	struct string_list urls, resolve, params, headers, record_headers;
	struct connections_option connections;
	enum balance_kind balance; /* BALANCE_KINDS: with a twin, as it says */
	enum history_source history;
	const char *session_header; /* NULL: none goes back */
	enum timestamp_source timestamps;
	struct start_time start_at;
	struct stop_rule stop_on;
	int64_t stop_after_failures; /* of the first requests, if all of them failed; 0: never */
	struct cancels cancels;
	struct retry_rule retry;
	struct replicas_options replicas;           /* of the twin; most is 0 without the option */
	int64_t timeout_ns, first_token_timeout_ns; /* 0: no limit */
	int64_t connect_timeout_ns, grace_ns;
	int64_t warm;         /* warm-up requests before the schedule */
	int64_t memory_bytes; /* of requests in flight and unwritten records; 0: half of the machine's memory */
	int64_t max_answer;   /* bytes of one answer */
	int64_t threads;      /* 0: chosen by thread_count.h */
	int64_t spin_ns;
	int64_t wait_ready_ns; /* 0: do not wait */
	int dns;               /* 1: look names up for each connection */
	bool force;            /* overwrite the records of a run */
	bool no_progress;      /* unless --progress wants it */
	bool list_apis, probe, calibrate, exact_output, no_stream, insecure, sandbox;
};

/* The values of --history, by enum history_source; NULL at the end. */
extern const char *const history_names[];

/* Parses the command line and checks that the options fit together. *schedule: the operand; NULL: standard input.
 * *argv: for the header of the records; new. False: end with *status (--help, --version, or wrong usage, which has been
 * reported). */
bool fire_options_parse(struct fire_options *options, int argc, char **arguments, const char **schedule, json_t **argv,
                        int *status);

/* Does another program show the progress of the run? */
bool fire_options_leave_progress(const struct fire_options *options);

/* fire_options_parse for a run within another process: nothing is printed, and the environment sets no options. -1:
 * IPF_USAGE. */
int fire_options_read(struct fire_options *options, struct arguments *arguments, const char **schedule, json_t **argv,
                      struct ipf_error *err);

#endif

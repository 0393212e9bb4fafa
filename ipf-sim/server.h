/* The simulated model server: one thread, one epoll, the connections, and the engine whose steps the clock drives.
 *
 * The parts: server.c accepts and waits; conn.c reads requests and sends the outbox; routes.c answers the small
 * endpoints and begins a job for the two that generate; job.c takes a job from its request to its last token; answer.c
 * writes its bytes.
 */
#ifndef SIM_SERVER_H
#define SIM_SERVER_H

#include "answer_faults.h"
#include "generate_request.h"
#include "batching/batching.h"
#include "batching/replicas.h"
#include "gpu.h"
#include "http.h"
#include "metrics_styles.h"
#include "modes.h"
#include "outbox.h"
#include "rate_limit.h"
#include "timers.h"

#include <stdio.h>

/* The treatment of a request for metrics. */
enum scrape_mode { SCRAPE_WELL, SCRAPE_HANG, SCRAPE_DIE, SCRAPE_GARBAGE, SCRAPE_HUGE, SCRAPE_CONTROL, SCRAPE_FAIL };

/* --cache-reset: what a request to empty the prefix cache does. */
enum cache_reset { RESET_WORKS, RESET_LIES, RESET_FAILS, RESET_MISSING };

struct server_options {
	struct batching_options engine;
	struct generate_request_options ask;
	struct gpu_options gpu;
	struct replicas_options replicas;
	struct rate_limit limit;
	int port;           /* 0: any */
	bool all_addresses; /* not only of 127.0.0.1 */
	const char *const *models;
	size_t model_count; /* 0: any name will do */
	const char *const *adapters;
	size_t adapter_count;   /* LoRA adapters: further names of models */
	const char *api_key;    /* NULL: none is asked for */
	int64_t model_len;      /* most tokens of prompt and output together */
	int64_t default_tokens; /* output where a request does not say */
	double eos_mean;        /* mean of the output's length where the end may come by itself; 0: it never does */
	uint64_t seed;
	struct mode *fails; /* by chance */
	size_t fail_count;
	struct answer_faults faults;
	int64_t keep_alive_ns, loading_ns, max_time_ns;
	int64_t body_limit, out_limit;
	bool role_early, request_metrics;
	bool generate_on; /* for clients that have disconnected */
	bool priority;    /* the queue of the engine is one of priorities */
	bool date;        /* answers have a Date, date_offset_ns ahead */
	int64_t date_offset_ns;
	int64_t batch_base_ns, batch_input_ns; /* service time of batches: of a request, and of each input */
	int64_t audio_base_ns;                 /* service time of transcriptions: of a request, */
	double audio_factor;                   /* and of their audio, as a part of its length */
	int64_t kv_transfer_ns;                /* between the first token and the next step */
	enum scrape_mode scrape_mode;
	enum cache_reset cache_reset;
	FILE *log; /* NULL: none */
	int verbose;
};

struct server;
struct job;

struct conn {
	struct server *server;
	int fd;
	struct http_request request;
	struct buffer later; /* bytes of the requests after the one under way */
	struct outbox out;
	struct job *job;    /* NULL: the request is none that generates */
	int64_t arrival_ns; /* when the last byte of the request under way was read */
	int64_t idle_ns;    /* how long it may be idle */
	int64_t idle_code;  /* the status sent when it was; 0: none */
	struct timer hold, idle;
	enum { CONN_STAY, CONN_CLOSE, CONN_RESET } then; /* the action once all is sent */
	bool answering;                                  /* a request is under way */
	bool answered;                                   /* and its response is complete in the outbox */
	bool holding, blocked, eof, lingering, dead, dirty;
	bool unbounded; /* its outbox may be long */
	struct conn *next_dirty, *next_dead, *before, *after;
};

struct totals {
	int64_t connections, requests, streams, refused, cut, overrun, starved;
	int64_t scrapes; /* requests for /metrics */
};

struct server {
	const struct server_options *options;
	struct batching *engine;
	struct metrics metrics;
	struct gpus *gpus; /* NULL: no devices are reported */
	struct replicas replicas;
	struct timer scale; /* when the replicas change next */
	struct timers timers;
	struct rate_limit limit;
	struct totals totals;
	int64_t open, begin_ns;
	int epoll_fd, listen_fd, timer_fd, signal_fd;
	struct timer end, again; /* max_time_ns; accepting again after descriptors ran out */
	int64_t begin_wall_ns;   /* on the wall clock */
	bool stop;
	int log_errno; /* the first line of the log that could not be written */
	struct conn *conns, *dead;
	struct job *left;                /* by their clients, while the engine goes on */
	struct conn *dirty, **dirty_end; /* those with something to send, in the order in which they got it */
	char scratch[65536];
};

/* server.c */
int server_open(struct server **server, const struct server_options *options, struct ipf_error *err);
/* The engine is brought up to now_ns: the next report includes every step that has ended. */
void server_catch_up(struct server *server, int64_t now_ns);
int server_port(const struct server *server);
int server_run(struct server *server, struct ipf_error *err); /* until a signal or the end of its time */
void server_close(struct server *server);

/* conn.c */
struct conn *conn_open(struct server *server, int fd);
void conn_event(struct conn *conn, uint32_t events);
void conn_dirty(struct conn *conn);    /* something is in its outbox: send it when this turn of the loop ends */
void conn_answered(struct conn *conn); /* the response is complete in the outbox; conn->then is the next action */
void conn_flush(struct conn *conn);
void conn_close(struct conn *conn);
void conn_free(struct conn *conn);

/* The current figures of /metrics and its like. `running` and `waiting` get the adapters' names, as C strings. */
struct metrics_view server_metrics(struct server *server, struct buffer *running, struct buffer *waiting);

/* routes.c */
void route(struct conn *conn); /* the request is whole */
/* Is this model served? */
bool server_has_model(const struct server_options *options, const char *name);
/* The name of the I-th one; without names, the only one's. NULL: there are no more. */
const char *server_model(const struct server_options *options, size_t i);

/* job.c */
const char *job_model(const struct sequence *sequence); /* the request of this sequence */
/* `dialect`: another server's API, NULL for OpenAI's; `model` and `streamed` are from its path. */
void job_begin(struct conn *conn, bool chat, const struct dialect *dialect, struct slice model, bool streamed);
void job_token(struct sequence *sequence, void *server); /* the engine's on_token */
void job_sent(struct conn *conn, int64_t at_ns);         /* bytes of its answer went out; the outbox knows how far */
void jobs_left(struct server *server, bool all);         /* frees those of them that the engine has ended, or all */
void job_close(struct conn *conn); /* the response is sent, or the connection is gone: the end of the job */

#endif

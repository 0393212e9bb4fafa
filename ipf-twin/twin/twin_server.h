/* A twin that answers, in virtual time: requests go in at the times the caller says, tokens come out at those that
 * follow. It sleeps never and has no socket.
 *
 *     struct twin_answer answer = {.sequence.output_tokens = 200, .replica = 0};
 *     twin_answer_prompt(&answer, 512);                          // with twin_answer_block: what it shares with others
 *     twin_server_send(server, &answer, now_ns);                 // belongs to the server until it has ended
 *     while ((t = twin_server_wake(server)) <= until_ns)
 *         twin_server_run(server, t, on_tokens, data);           // on_tokens: for each answer that got tokens
 *     twin_answer_release(&answer);
 *
 * The same calls with the same seed give the same times, on every machine.
 */
#ifndef IPF_TWIN_SERVER_H
#define IPF_TWIN_SERVER_H

#include "batching/replicas.h"
#include "twin/twin.h"

/* An answer without a replica waits until one is ready (twin_server_scale). */
#define TWIN_NO_REPLICA SIZE_MAX

/* A request and its answer; zero-initialise. Its first member is the sequence for batching.h: `output_tokens` is set by
 * the caller, `produced`, `fresh`, `cached_tokens`, `admitted_ns` and `preemptions` can be read. */
struct twin_answer {
	struct sequence sequence;
	size_t replica; /* that answers, which must be ready; or TWIN_NO_REPLICA; set by the caller */
	void *data;     /* the caller's */
	/* The server's own. */
	int64_t arrives_ns;
	struct twin_answer *next;
	struct twin_replica *at;
	bool arrived; /* at the replica */
};

/* Its prompt: blocks of KV_BLOCK tokens of which a hash of all tokens up to their end is known, then the rest of the
 * prompt, which no other has. Then blocks its answer completes, by which a later prompt finds them. */
void twin_answer_block(struct twin_answer *answer, uint64_t hash);
void twin_answer_prompt(struct twin_answer *answer, int64_t tokens); /* in all, with those of its blocks */
bool twin_answer_failed(const struct twin_answer *answer);           /* memory ran out */
void twin_answer_release(struct twin_answer *answer);

struct twin_server;

/* Servers of this kind (the twin is borrowed), each with its own queue and cache. If their number varies
 * (replicas_vary), one that becomes ready has an empty cache, and one that is removed, which is the one with the
 * highest number, finishes its requests. */
int twin_server_open(struct twin_server **server, const struct twin *twin, const struct replicas_options *replicas,
                     uint64_t seed, struct ipf_error *err);
void twin_server_close(struct twin_server *server); /* NULL is fine */

/* Called by twin_server_run for a server whose replicas vary. */
struct twin_scaling {
	/* Another number of replicas is ready or desired. */
	void (*changed)(void *data);
	/* Which one answers a request that had none to be sent to; it must be ready. */
	size_t (*choose)(struct twin_answer *answer, void *data);
	void *data;
};
void twin_server_scale(struct twin_server *server, const struct twin_scaling *scaling);
const struct replicas *twin_server_replicas(const struct twin_server *server); /* how many there are */
bool twin_server_is_ready(const struct twin_server *server, size_t replica);

/* `on_step` is called whenever a replica begins a step. */
void twin_server_watch(struct twin_server *server,
                       void (*on_step)(size_t replica, const struct batching_step *step, void *data), void *data);

/* `on_move` is called for each answer a step lets in or throws out, as batching_watch_moves describes. */
void twin_server_watch_moves(struct twin_server *server,
                             void (*on_move)(const struct twin_answer *answer, int64_t at_ns, void *data), void *data);

/* The longest prompt and answer together that a replica can hold, in tokens: a longer one would never end. */
int64_t twin_server_room(const struct twin_server *server);
/* now_ns must not be before that of an earlier call. */
void twin_server_send(struct twin_server *server, struct twin_answer *answer, int64_t now_ns);
/* The client has gone: the answer is the caller's again. */
void twin_server_cancel(struct twin_server *server, struct twin_answer *answer);
/* When something happens next; INT64_MAX: nothing unless more is sent. */
int64_t twin_server_wake(const struct twin_server *server);
/* Runs the events due at now_ns, which must be twin_server_wake or earlier. `on_tokens` is called for each answer with
 * sequence.fresh new tokens; one that has produced all of them is the caller's again. It may call twin_server_cancel
 * for that answer; it must not send. */
void twin_server_run(struct twin_server *server, int64_t now_ns,
                     void (*on_tokens)(struct twin_answer *answer, void *data), void *data);
/* Empties the prefix caches; nothing may be in flight. */
void twin_server_reset_caches(struct twin_server *server);
/* Memory ran out for a replica that became ready. */
bool twin_server_failed(const struct twin_server *server);

#endif

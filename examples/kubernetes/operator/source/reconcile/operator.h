/* The operator's state: the stores of the objects it watches, and its connection to the API server. All that matters is
 * in the API: the stores are copies, and an operator started again goes on from there.
 *
 * A pass looks at all Benchmarks and schedules and does the missing steps. It is made when something has changed, when
 * a time has come, and again after a backoff where the API server did not take something.
 */
#ifndef IPF_OPERATOR_OPERATOR_H
#define IPF_OPERATOR_OPERATOR_H

#include "api/api_client.h"
#include "api/object_store.h"

#include <stdbool.h>

struct operator_settings {
	struct api_settings api;
	const char *namespace;
	const char *image;    /* the measuring image; NULL: `pod`'s */
	const char *pod;      /* the operator's; NULL: there is an image */
	int64_t per_endpoint; /* Jobs measuring one server at a time */
};

enum { PATH_SIZE = 512 };

struct operator_state {
	const struct operator_settings *settings;
	struct api_client api;
	struct object_store benchmarks, schedules, jobs;
	char benchmarks_path[PATH_SIZE], schedules_path[PATH_SIZE], jobs_path[PATH_SIZE], core_path[PATH_SIZE];
	char *image;    /* the measuring image; NULL: not known yet */
	char now[24];   /* this pass', RFC 3339 */
	int64_t now_s;  /* the same, since the epoch */
	int64_t wake_s; /* when the next pass is due at the latest; 0: when something changes */
	bool again;     /* something was not taken, or has changed meanwhile: another pass is needed */
};

/* A line on standard error: "ipf-operator: benchmark chat: …". */
void operator_say(const char *kind, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A request whose answer may be kept in a store. Returns the status, 0 if there is no answer; then, and where the
 * answer is none of 200 … 299, 404 and 409, it is reported, and another pass is asked for. `message` gets the API
 * server's reason for a refusal; it may be NULL. */
struct api_step {
	const char *method, *path;
	const json_t *body;
	struct object_store *keep_in; /* NULL: the answer is not kept */
	char message[400];
};
long operator_call(struct operator_state *op, struct api_step *step);

/* Asks for a pass at this time at the latest, seconds since the epoch. */
void operator_wake(struct operator_state *op, int64_t at_s);

/* Sets the status of an object, if it differs; frees `status`. False: it was not taken. */
bool operator_put_status(struct operator_state *op, struct object_store *store, const json_t *object, json_t *status);

/* An event of an object: once for each reason and message. `warning`: of the type Warning. */
struct happening {
	const char *kind, *reason, *message;
	bool warning;
};
void operator_event(struct operator_state *op, const json_t *object, const struct happening *what);

/* Looks up the measuring image, unless it is known: the image of the container "operator" of the operator's own pod,
 * which whatever changes the Deployment has set. It is found by a list with the pod's name, for which the right to list
 * pods is enough. False: it is not known now, and another pass is asked for. */
bool operator_find_image(struct operator_state *op);

void reconcile_benchmarks(struct operator_state *op);
void reconcile_schedules(struct operator_state *op);

#endif

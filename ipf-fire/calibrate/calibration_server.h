/* A model server of our own, in a process of its own: what --calibrate measures this program against. It answers every
 * POST with a stream of chat completion chunks, each sent at its exact time after the request came, by the kernel's
 * stamp; and tells in each chunk when the request came and when the chunk was sent, on CLOCK_MONOTONIC, which all
 * processes of a machine share.
 */
#ifndef IPF_CALIBRATION_SERVER_H
#define IPF_CALIBRATION_SERVER_H

#include "error.h"

#include <stdint.h>
#include <sys/types.h>

struct calibration_server_shape {
	int64_t first_ns, gap_ns; /* from the request to the first chunk, from each to the next; gap_ns > 0 */
	int64_t events;           /* chunks of an answer, the last with the end mark; at least 1 */
};

struct calibration_server {
	pid_t pid;
	char url[40]; /* http://127.0.0.1:PORT */
};

/* Before any other thread runs. The process ends with ours. */
int calibration_server_start(struct calibration_server *l, const struct calibration_server_shape *shape,
                             struct ipf_error *err);
void calibration_server_stop(struct calibration_server *l);

/* The next chunk of a body, from *at on: 1, and *at is behind it; 0: no more. */
int calibration_server_next(const char *body, size_t len, size_t *at, int64_t *asked_ns, int64_t *sent_ns);

#endif

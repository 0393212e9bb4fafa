/* The model server of --calibrate, in a separate process. It answers every POST with a stream of chat completion
 * chunks, each sent at an exact time after the request arrived, by the kernel's timestamp. Each chunk contains when the
 * request arrived and when the chunk was sent, on CLOCK_MONOTONIC, which all processes of a machine share.
 */
#ifndef IPF_CALIBRATION_SERVER_H
#define IPF_CALIBRATION_SERVER_H

#include "error.h"
#include "run/load_shape.h"

#include <stdint.h>
#include <sys/types.h>

struct calibration_server {
	pid_t pid;
	char url[40]; /* http://127.0.0.1:PORT */
};

/* Forks the server, which ends when this process ends. Call it before any other thread runs. -1: IPF_SYSTEM. */
int calibration_server_start(struct calibration_server *server, const struct stream_shape *shape,
                             struct ipf_error *err);
void calibration_server_stop(struct calibration_server *server);

/* Reads the next chunk of a response body, from *at on. 1: *at is behind it; 0: there is no other. */
int calibration_server_next(const char *body, size_t len, size_t *at, int64_t *asked_ns, int64_t *sent_ns);

#endif

/* The ways to misbehave needing no engine: of answers in one piece, such as those of batches and transcriptions. */
#ifndef SIM_PLAIN_MODES_H
#define SIM_PLAIN_MODES_H

#include "server.h"

/* The modes of the connection's request. -1: its header is wrong. */
int plain_modes_choose(struct modes *modes, struct conn *conn, struct ipf_error *err);
/* Writes an answer as changed by the modes. true: nothing is left to say. */
bool plain_modes_answer(const struct modes *modes, struct conn *conn);

#endif

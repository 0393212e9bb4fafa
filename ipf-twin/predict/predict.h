/* A run against a twin instead of a server, in virtual time, from its inputs to its last record. */
#ifndef TWIN_PREDICT_H
#define TWIN_PREDICT_H

#include "batching/replicas.h"
#include "cli/options.h"
#include "run/run_options.h"

struct predict_options {
	struct common_options common;
	struct run_options run;
	struct string_list assume;        /* parameters of the twin, see twin_assume */
	struct replicas_options replicas; /* most is 0 without the option */
};

/* `twin`: its file. `schedule`: NULL: standard input. `argv` is for the header of the records; taken over. Returns the
 * exit status. */
int predict(const struct predict_options *options, const char *twin, const char *schedule, json_t *argv);

#endif

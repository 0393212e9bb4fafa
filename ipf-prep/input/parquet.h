/* Parquet files, read through the command duckdb: their rows as JSON Lines from a pipe. */
#ifndef PREP_PARQUET_H
#define PREP_PARQUET_H

#include "error.h"

#include <stdbool.h>
#include <sys/types.h>

/* By the file's name. */
bool is_parquet(const char *path);
/* Starts duckdb; its rows come from *fd. IPF_SYSTEM if it is not installed. */
int parquet_open(const char *path, int *fd, pid_t *pid, struct ipf_error *err);
/* Waits until duckdb ends: 0, or -1 if it failed (IPF_CUT). It has reported why on standard error. */
int parquet_close(const char *path, pid_t pid, struct ipf_error *err);

#endif

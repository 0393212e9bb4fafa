/* Parquet, read by DuckDB's command line: its rows as JSON Lines from a pipe. */
#ifndef PREP_PARQUET_H
#define PREP_PARQUET_H

#include "error.h"

#include <stdbool.h>
#include <sys/types.h>

bool is_parquet(const char *path);
/* Starts duckdb; *fd is where its rows come from. IPF_SYSTEM where it is not installed. */
int parquet_open(const char *path, int *fd, pid_t *pid, struct ipf_error *err);
/* Waits for its end: -1 (IPF_CUT) where it failed. Errors of its own it has said. */
int parquet_close(const char *path, pid_t pid, struct ipf_error *err);

#endif

/* One file over HTTP, into a file: redirects followed by hand, so that a token goes to the host it is for and to no
 * other. */
#ifndef PREP_DOWNLOAD_H
#define PREP_DOWNLOAD_H

#include "error.h"
#include "cli/progress.h"

#include <stdbool.h>
#include <stdint.h>

#define MARK_MAX 512

struct download {
	const char *url;       /* http is for this machine alone */
	const char *token;     /* sent to the host of `url` only; NULL: none */
	const char *unless;    /* an ETag: nothing is wanted where the file still has it; NULL */
	const char *part_mark; /* the ETag of what `fd` has already, which is gone on with; NULL: from the beginning */
	int fd;                /* written to; cut where the server begins anew */
	struct progress *progress;
	/* What came of it. */
	long status;         /* of the last answer; 0: none came */
	int64_t had, size;   /* bytes in the file, and how many it will have; size IPF_ABSENT where not said */
	char mark[MARK_MAX]; /* its ETag; empty where there is none that holds */
	bool whole;          /* all of it is there */
	bool unreached;      /* no server was there, or none that spoke */
};

/* 0: whole, or not wanted (status 304). -1: `err` says what it was in one line; what came is in the file, under `mark`.
 */
int download_run(struct download *d, struct ipf_error *err);

#endif

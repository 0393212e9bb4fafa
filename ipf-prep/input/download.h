/* Downloads one file over HTTP. Redirects are followed one by one, so that a token is sent only to its own host.
 */
#ifndef PREP_DOWNLOAD_H
#define PREP_DOWNLOAD_H

#include "error.h"
#include "cli/progress.h"

#include <stdbool.h>
#include <stdint.h>

#define MARK_MAX 512

struct download {
	const char *url;    /* https; http only for this machine */
	const char *token;  /* sent only to the host of `url`; NULL: none */
	const char *unless; /* an ETag: download nothing if the file still has it; NULL */
	const char
		*part_mark; /* the ETag of the bytes that `fd` has already, to resume from there; NULL: from the beginning */
	int fd;         /* written to; truncated if the server begins anew */
	struct progress *progress;

	/* The result. */
	long status;         /* of the last response; 0: there was none */
	int64_t had, size;   /* bytes in the file, and its full size; size is IPF_ABSENT if not known */
	char mark[MARK_MAX]; /* its ETag; empty if it has no strong one */
	bool whole;          /* the download is complete */
	bool unreached;      /* no server responded */
};

/* 0: complete, or not needed (status 304). -1: `err` is one line; what arrived is in the file, under `mark`. */
int download_run(struct download *d, struct ipf_error *err);

#endif

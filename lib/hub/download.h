/* Downloads one file over HTTP. Redirects are followed one by one, so a token is sent only to its own host. Each
 * request ends after a day, and after a minute without a byte of the file, whatever else the server sends: headers,
 * extensions of chunks.
 *
 *     struct download d = {.url = url, .token = token, .fd = fd};
 *     if (download_run(&d, &err) < 0) …          // d.status, d.had, d.whole, d.hub
 */
#ifndef IPF_HUB_DOWNLOAD_H
#define IPF_HUB_DOWNLOAD_H

#include "error.h"
#include "cli/progress.h"

#include <stdbool.h>
#include <stdint.h>

#define MARK_MAX 512

/* The Hugging Face hub's headers about a file, as far as they came from the host of the URL. Empty: nothing. */
struct hub_headers {
	char commit[128];        /* X-Repo-Commit */
	char linked[MARK_MAX];   /* X-Linked-Etag: of the file it redirects to, without quotes */
	char etag[MARK_MAX];     /* ETag of its last response, without W/ and quotes */
	int64_t linked_size;     /* X-Linked-Size; IPF_ABSENT */
	char error_code[64];     /* X-Error-Code: RepoNotFound, EntryNotFound, RevisionNotFound, GatedRepo */
	char error_message[256]; /* X-Error-Message */
};

struct download {
	const char *url;    /* https; http only for this machine */
	const char *token;  /* sent only to the host of `url`; NULL: none */
	const char *unless; /* an ETag: download nothing if the file still has it; NULL */
	const char
		*part_mark; /* the ETag of the bytes that `fd` has already, to resume from there; NULL: from the beginning */
	int fd;         /* written to; truncated if the server begins anew */
	bool resume;    /* `fd` has `had` bytes of this very file, by its name: resume without asking for an ETag */
	bool head;      /* ask for the headers only; redirects to another server are not followed */
	int64_t limit;  /* refuse a file of more bytes; 0: of more than 1 TiB */
	int64_t silence_ns; /* give up when no byte of the file has come for so long; 0: a minute */
	struct progress *progress;

	/* The result. */
	long status;         /* the last response's; 0: there was none */
	int64_t had, size;   /* bytes in the file, and its full size; size is IPF_ABSENT if not known */
	char mark[MARK_MAX]; /* its ETag; empty if it has no strong one */
	bool whole;          /* the download is complete */
	bool unreached;      /* no server responded */
	bool over;           /* the file is larger than the limit */
	struct hub_headers hub;
};

/* 0: complete, or not needed (status 304). -1: `err` is one line; the received bytes are in the file, under `mark`. */
int download_run(struct download *d, struct ipf_error *err);

#endif

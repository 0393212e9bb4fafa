/* A store's list of objects: any bytes give a bounded identity, and parts within the plan. */
#include "upload/pending_upload.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice xml = {(const char *)data, size};
	struct pending_upload pending = {0};
	struct ipf_error err = {0};
	int64_t last = 0;
	if (pending_upload_init(&pending, PARTS, &err) < 0)
		abort();
	char *id = pending_upload_latest(xml, "a/b.zst");
	if (id && (!*id || strlen(id) >= UPLOAD_ID_MOST))
		abort();
	int more = pending_upload_read_parts(xml, &pending, &last);
	if (last < 0 || (more == 1 && last == 0))
		abort();
	for (int i = 0; i < PARTS; i++)
		if (pending.parts[i].bytes < 0 ||
		    strnlen(pending.parts[i].etag, sizeof pending.parts[i].etag) == sizeof pending.parts[i].etag)
			abort();
	free(id);
	pending_upload_release(&pending);
	return 0;
}

#include "upload/pending_upload.h"

#include "upload/xml_reader.h"

#include <stdlib.h>
#include <string.h>

enum { PAGES_MOST = 100 }; /* 1,000 parts each, if the store keeps to its own limits */

int pending_upload_init(struct pending_upload *pending, int64_t count, struct ipf_error *err)
{
	*pending = (struct pending_upload){.parts = calloc((size_t)count, sizeof *pending->parts), .count = count};
	return pending->parts ? 0 : ipf_error_memory(err);
}

void pending_upload_release(struct pending_upload *pending)
{
	free(pending->id);
	free(pending->parts);
	*pending = (struct pending_upload){0};
}

/* ---- which one ---- */

struct upload_list {
	const char *key; /* looked for */
	bool same;       /* the upload being read is one of it */
	char id[UPLOAD_ID_MOST], latest[UPLOAD_ID_MOST];
	char initiated[64], latest_initiated[64]; /* ISO 8601, so their order is chronological */
};

static void copy(char *to, size_t cap, const char *text)
{
	size_t len = strlen(text) < cap ? strlen(text) : 0;
	memcpy(to, text, len);
	to[len] = '\0';
}

static void take_upload(void *data, const char *element, const char *text)
{
	struct upload_list *l = data;
	if (strcmp(element, "Key") == 0) {
		l->same = strcmp(text, l->key) == 0;
	} else if (strcmp(element, "UploadId") == 0) {
		copy(l->id, sizeof l->id, text);
	} else if (strcmp(element, "Initiated") == 0) {
		copy(l->initiated, sizeof l->initiated, text);
	} else if (strcmp(element, "Upload") == 0) {
		if (l->same && *l->id && (!*l->latest || strcmp(l->initiated, l->latest_initiated) > 0)) {
			strcpy(l->latest, l->id);
			strcpy(l->latest_initiated, l->initiated);
		}
		l->same = false;
		l->id[0] = l->initiated[0] = '\0';
	}
}

char *pending_upload_latest(struct slice xml, const char *key)
{
	struct upload_list list = {.key = key};
	return xml_read(xml, take_upload, &list) == 0 && *list.latest ? strdup(list.latest) : NULL;
}

static int find_upload(struct store *store, const char *key, char **id, struct ipf_error *err)
{
	struct buffer query = {0};
	struct store_answer answer = {0};
	buffer_text(&query, "prefix=");
	store_escape(&query, key);
	buffer_text(&query, "&uploads=");
	const struct store_request request = {.method = "GET", .query = query.data, .fd = -1};
	int status = query.failed ? ipf_error_memory(err) : store_send(store, &request, &answer, err);
	if (status == 0 && answer.status == 200)
		*id = pending_upload_latest(buffer_all(&answer.body), key);
	store_answer_release(&answer);
	buffer_release(&query);
	return status;
}

/* ---- its parts ---- */

struct part_list {
	struct pending_upload *pending;
	struct pending_part part;
	int64_t number, last; /* the part being read; the greatest so far */
	bool more;
};

static int64_t number_in(const char *text)
{
	size_t len = strlen(text);
	return len && len < 19 && strspn(text, "0123456789") == len ? strtoll(text, NULL, 10) : 0;
}

static void take_part(void *data, const char *element, const char *text)
{
	struct part_list *l = data;
	if (strcmp(element, "PartNumber") == 0) {
		l->number = number_in(text);
	} else if (strcmp(element, "Size") == 0) {
		l->part.bytes = number_in(text);
	} else if (strcmp(element, "ETag") == 0) {
		char etag[128];
		copy(etag, sizeof etag, text);
		size_t quoted = etag[0] == '"';
		etag[quoted + strcspn(etag + quoted, "\"")] = '\0';
		copy(l->part.etag, sizeof l->part.etag, etag + quoted);
	} else if (strcmp(element, "ChecksumSHA256") == 0) {
		copy(l->part.sha256, sizeof l->part.sha256, text);
	} else if (strcmp(element, "ChecksumAlgorithm") == 0) {
		l->pending->sha256_kept = strcmp(text, "SHA256") == 0;
	} else if (strcmp(element, "IsTruncated") == 0) {
		l->more = strcmp(text, "true") == 0;
	} else if (strcmp(element, "Part") == 0) {
		if (l->number >= 1 && l->number <= l->pending->count)
			l->pending->parts[l->number - 1] = l->part;
		if (l->number > l->last)
			l->last = l->number;
		l->part = (struct pending_part){0};
		l->number = 0;
	}
}

int pending_upload_read_parts(struct slice xml, struct pending_upload *pending, int64_t *last)
{
	struct part_list list = {.pending = pending, .last = *last};
	if (xml_read(xml, take_part, &list) < 0)
		return -1;
	bool more = list.more && list.last > *last;
	*last = list.last;
	return more;
}

static int find_parts(struct store *store, const char *key, struct pending_upload *pending, struct ipf_error *err)
{
	int64_t last = 0;
	int status = 0, more = 1;
	for (int page = 0; page < PAGES_MOST && more && status == 0; page++) {
		struct buffer query = {0};
		struct store_answer answer = {0};
		if (last)
			buffer_format(&query, "part-number-marker=%lld&", (long long)last);
		buffer_text(&query, "uploadId=");
		store_escape(&query, pending->id);
		const struct store_request request = {.method = "GET", .key = key, .query = query.data, .fd = -1};
		status = query.failed ? ipf_error_memory(err) : store_send(store, &request, &answer, err);
		more = status == 0 && answer.status == 200 ? pending_upload_read_parts(buffer_all(&answer.body), pending, &last)
		                                           : -1;
		if (more < 0) {
			/* it is gone meanwhile, or the credential may not list it */
			free(pending->id);
			pending->id = NULL;
			more = 0;
		}
		store_answer_release(&answer);
		buffer_release(&query);
	}
	return status;
}

int pending_upload_find(struct store *store, const char *key, struct pending_upload *pending, struct ipf_error *err)
{
	if (find_upload(store, key, &pending->id, err) < 0)
		return -1;
	return pending->id ? find_parts(store, key, pending, err) : 0;
}

bool pending_upload_has(const struct pending_upload *pending, int64_t part, int64_t bytes,
                        const struct file_digest *digest)
{
	const struct pending_part *p = &pending->parts[part];
	if (p->bytes != bytes || !*p->etag)
		return false;
	return pending->sha256_kept ? strcmp(p->sha256, digest->sha256_base64) == 0 : strcmp(p->etag, digest->md5_hex) == 0;
}

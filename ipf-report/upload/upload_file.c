#include "upload/upload_file.h"

#include "absent.h"
#include "output/markup.h"
#include "safe_text.h"
#include "upload/media_type.h"
#include "upload/part_plan.h"
#include "upload/pending_upload.h"
#include "upload/xml_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART_TRIES = 3 }; /* a body whose digest the store reports otherwise */

/* ---- the file ---- */

int upload_file_open(struct upload_file *f, struct ipf_error *err)
{
	struct stat st;
	if (f->fd < 0)
		f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO does not wait for its writer */
	if (f->fd < 0)
		return ipf_error_errno(err, errno, f->path, "cannot open");
	if (fstat(f->fd, &st) < 0)
		return ipf_error_errno(err, errno, f->path, "cannot read");
	if (!S_ISREG(st.st_mode))
		return ipf_error_at(err, IPF_USAGE, f->path, 0, "only a file can be uploaded");
	f->bytes = st.st_size;
	f->changed = st.st_mtim;
	return 0;
}

void upload_file_close(struct upload_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	free(f->key);
	f->key = NULL;
}

static int check_unchanged(const struct upload_file *f, struct ipf_error *err)
{
	struct stat st;
	if (fstat(f->fd, &st) < 0)
		return ipf_error_errno(err, errno, f->path, "cannot read");
	if (st.st_size == f->bytes && st.st_mtim.tv_sec == f->changed.tv_sec && st.st_mtim.tv_nsec == f->changed.tv_nsec)
		return 0;
	return ipf_error_at(err, IPF_SYSTEM, f->path, 0, "has changed while it was uploaded");
}

/* ---- requests ---- */

/* With the name of the object, which errors of the connection do not have. */
static int send_request(const struct upload_file *f, struct store *store, const struct store_request *request,
                        struct store_answer *answer, struct ipf_error *err)
{
	struct ipf_error now = {0};
	struct buffer url = {0};
	if (store_send(store, request, answer, &now) == 0)
		return 0;
	upload_target_url(store_target(store), f->key, &url);
	if (!*now.file && !url.failed)
		ipf_error_set(err, now.kind, "%s: %s", shown(url.data).text, now.text);
	else if (err->kind == IPF_OK)
		*err = now;
	buffer_release(&url);
	return -1;
}

static int mismatch(const struct upload_file *f, struct store *store, const char *what, struct ipf_error *err)
{
	struct buffer url = {0};
	upload_target_url(store_target(store), f->key, &url);
	ipf_error_set(err, IPF_SYSTEM, "%s: %s", shown(url.data ? url.data : "").text, what);
	buffer_release(&url);
	return -1;
}

static bool add_header(struct curl_slist **list, const char *name, const char *value)
{
	struct buffer line = {0};
	buffer_format(&line, "%s: %s", name, value);
	struct curl_slist *longer = line.failed ? NULL : curl_slist_append(*list, line.data);
	buffer_release(&line);
	if (longer)
		*list = longer;
	return longer;
}

static bool is_md5(const char *etag)
{
	return strlen(etag) == 32 && strspn(etag, "0123456789abcdef") == 32;
}

/* Does the store say it got something else? Only S3's ETags are known to be MD5s, and not with every encryption.
 */
static bool differs(const struct store *store, const struct store_answer *a, const struct file_digest *d)
{
	if (*a->sha256)
		return strcmp(a->sha256, d->sha256_base64) != 0;
	return store_target(store)->kind == STORE_S3 && !a->encrypted && is_md5(a->etag) &&
	       strcmp(a->etag, d->md5_hex) != 0;
}

/* A part of the file, or all of it, and its headers. */
struct body {
	const char *query;
	int64_t offset, bytes;
	const struct file_digest *digest;
	bool type, sha256;
};

static struct curl_slist *headers_of(const struct upload_file *f, const struct body *b)
{
	struct curl_slist *list = NULL;
	bool good = add_header(&list, "Content-MD5", b->digest->md5_base64) &&
	            (!b->type || add_header(&list, "Content-Type", media_type(f->key))) &&
	            (!b->sha256 || add_header(&list, "X-Amz-Checksum-Sha256", b->digest->sha256_base64));
	if (good)
		return list;
	curl_slist_free_all(list);
	return NULL;
}

static int judge_put(const struct upload_file *f, struct store *store, const struct store_answer *answer,
                     struct ipf_error *err)
{
	bool digest = strcmp(answer->code, "BadDigest") == 0 || strcmp(answer->code, "XAmzContentSHA256Mismatch") == 0;
	if (answer->status == 200)
		return 0;
	if (digest && check_unchanged(f, err) < 0)
		return -1;
	return store_refusal(store, answer, f->key, err);
}

/* Sends it, again as long as the store reports another digest. */
static int put_body(const struct upload_file *f, struct store *store, const struct body *b, struct store_answer *answer,
                    struct ipf_error *err)
{
	struct curl_slist *headers = headers_of(f, b);
	const struct store_request request = {.method = "PUT",
	                                      .key = f->key,
	                                      .query = b->query,
	                                      .headers = headers,
	                                      .fd = f->fd,
	                                      .offset = b->offset,
	                                      .bytes = b->bytes,
	                                      .sha256 = b->digest->sha256_hex,
	                                      .progress = f->progress,
	                                      .name = f->path,
	                                      .name_bytes = f->bytes};
	int status = headers ? 0 : ipf_error_memory(err);
	for (int tries = 1; status == 0; tries++) {
		if (send_request(f, store, &request, answer, err) < 0 || judge_put(f, store, answer, err) < 0)
			status = -1;
		else if (!differs(store, answer, b->digest))
			break;
		else if (tries == PART_TRIES)
			status = mismatch(f, store, "the store has got other bytes than these, by their digest", err);
	}
	curl_slist_free_all(headers);
	return status;
}

/* ---- uploads present ---- */

enum likeness { LIKE_UNKNOWN, LIKE_SAME, LIKE_OTHER };

/* Is the object the file with this ETag? A credential may write without being allowed to read. */
static int compare_object(const struct upload_file *f, struct store *store, struct store_answer *answer,
                          struct ipf_error *err)
{
	const struct store_request request = {.method = "HEAD", .key = f->key, .fd = -1};
	return send_request(f, store, &request, answer, err);
}

static enum likeness likeness_of(const struct upload_file *f, const struct store *store, const struct store_answer *a,
                                 const char *etag)
{
	const char *own = strchr(etag, '-'), *its = strchr(a->etag, '-');
	if (a->status != 200)
		return LIKE_UNKNOWN;
	if (a->bytes != IPF_ABSENT && a->bytes != f->bytes)
		return LIKE_OTHER;
	if (a->encrypted || a->bytes == IPF_ABSENT)
		return LIKE_UNKNOWN;
	if (strcmp(a->etag, etag) == 0)
		return LIKE_SAME;
	/* one of another form is no digest we know */
	bool known = own && its ? strcmp(own, its) == 0 : !own && is_md5(a->etag);
	return known && store_target(store)->kind == STORE_S3 ? LIKE_OTHER : LIKE_UNKNOWN;
}

static int check_object(const struct upload_file *f, struct store *store, const char *etag, struct ipf_error *err)
{
	struct store_answer answer = {0};
	int status = compare_object(f, store, &answer, err);
	if (status == 0 && likeness_of(f, store, &answer, etag) == LIKE_OTHER)
		status = mismatch(f, store, "the object is not the file, by its size or ETag: did another program write it?",
		                  err);
	store_answer_release(&answer);
	return status;
}

/* ---- in one request ---- */

static int send_whole(struct upload_file *f, struct store *store, struct ipf_error *err)
{
	struct store_answer answer = {0};
	struct file_digest digest;
	const struct body body = {
		.bytes = f->bytes, .digest = &digest, .type = true, .sha256 = store_target(store)->kind == STORE_S3};
	int status = file_digest(f->fd, 0, f->bytes, f->path, &digest, err);
	if (status == 0)
		status = compare_object(f, store, &answer, err);
	f->unchanged = status == 0 && likeness_of(f, store, &answer, digest.md5_hex) == LIKE_SAME;
	if (status == 0 && !f->unchanged && (status = put_body(f, store, &body, &answer, err)) == 0)
		status = check_object(f, store, digest.md5_hex, err);
	store_answer_release(&answer);
	return status;
}

/* ---- in parts ---- */

struct multipart {
	struct upload_file *file;
	struct store *store;
	int64_t part_bytes;
	struct file_digest *digests; /* each part's, when its md5_hex is not "" */
	struct pending_upload upload;
};

static int64_t bytes_of(const struct multipart *m, int64_t part)
{
	int64_t left = m->file->bytes - part * m->part_bytes;
	return left < m->part_bytes ? left : m->part_bytes;
}

static int find_digest(struct multipart *m, int64_t part, struct ipf_error *err)
{
	struct file_digest *d = &m->digests[part];
	return *d->md5_hex ? 0 : file_digest(m->file->fd, part * m->part_bytes, bytes_of(m, part), m->file->path, d, err);
}

static int find_etag(struct multipart *m, char etag[ETAG_BYTES], struct ipf_error *err)
{
	unsigned char *md5s = calloc((size_t)m->file->parts, MD5_BYTES);
	int status = md5s ? 0 : ipf_error_memory(err);
	for (int64_t i = 0; i < m->file->parts && status == 0; i++) {
		status = find_digest(m, i, err);
		memcpy(md5s + i * MD5_BYTES, m->digests[i].md5, MD5_BYTES);
	}
	if (status == 0)
		composed_etag(md5s, m->file->parts, etag);
	free(md5s);
	return status;
}

/* Whether the object is the file already. The whole file is read only if its size, and the number of its parts, are
 * those of the object. */
static int find_object(struct multipart *m, struct ipf_error *err)
{
	struct upload_file *f = m->file;
	struct store_answer answer = {0};
	char etag[ETAG_BYTES] = "", suffix[32];
	snprintf(suffix, sizeof suffix, "-%lld", (long long)f->parts);
	int status = compare_object(f, m->store, &answer, err);
	const char *its = strchr(answer.etag, '-');
	if (status == 0 && answer.status == 200 && answer.bytes == f->bytes && its && strcmp(its, suffix) == 0) {
		status = find_etag(m, etag, err);
		f->unchanged = status == 0 && likeness_of(f, m->store, &answer, etag) == LIKE_SAME;
	}
	store_answer_release(&answer);
	return status;
}

static void take_id(void *data, const char *element, const char *text)
{
	char **id = data;
	if (strcmp(element, "UploadId") == 0 && !*id && *text && strlen(text) < UPLOAD_ID_MOST)
		*id = strdup(text);
}

static int begin_upload(struct multipart *m, struct ipf_error *err)
{
	struct upload_file *f = m->file;
	struct store_answer answer = {0};
	struct curl_slist *headers = NULL;
	bool good = add_header(&headers, "Content-Type", media_type(f->key)) &&
	            (store_target(m->store)->kind != STORE_S3 ||
	             add_header(&headers, "X-Amz-Checksum-Algorithm", "SHA256"));
	const struct store_request request = {
		.method = "POST", .key = f->key, .query = "uploads=", .headers = headers, .fd = -1};
	int status = good ? send_request(f, m->store, &request, &answer, err) : ipf_error_memory(err);
	if (status == 0 && answer.status != 200)
		status = store_refusal(m->store, &answer, f->key, err);
	if (status == 0 && (xml_read(buffer_all(&answer.body), take_id, &m->upload.id) < 0 || !m->upload.id))
		status = mismatch(f, m->store, "the store began no upload: its answer has no UploadId", err);
	m->upload.sha256_kept = answer.sha256_kept;
	curl_slist_free_all(headers);
	store_answer_release(&answer);
	return status;
}

static int send_part(struct multipart *m, int64_t part, struct ipf_error *err)
{
	struct buffer query = {0};
	struct store_answer answer = {0};
	struct pending_part *p = &m->upload.parts[part];
	buffer_format(&query, "partNumber=%lld&uploadId=", (long long)part + 1);
	store_escape(&query, m->upload.id);
	const struct body body = {.query = query.data,
	                          .offset = part * m->part_bytes,
	                          .bytes = bytes_of(m, part),
	                          .digest = &m->digests[part],
	                          .sha256 = m->upload.sha256_kept};
	int status = query.failed ? ipf_error_memory(err) : put_body(m->file, m->store, &body, &answer, err);
	if (status == 0 && (!*answer.etag || strlen(answer.etag) >= sizeof p->etag))
		status = mismatch(m->file, m->store, "the store gave a part no ETag", err);
	if (status == 0) {
		p->bytes = body.bytes;
		strcpy(p->etag, answer.etag);
		strcpy(p->sha256, m->digests[part].sha256_base64);
	}
	store_answer_release(&answer);
	buffer_release(&query);
	return status;
}

static int send_parts(struct multipart *m, struct ipf_error *err)
{
	struct upload_file *f = m->file;
	for (int64_t i = 0; i < f->parts; i++) {
		if (find_digest(m, i, err) < 0)
			return -1;
		bool kept = pending_upload_has(&m->upload, i, bytes_of(m, i), &m->digests[i]);
		if (!kept && send_part(m, i, err) < 0)
			return -1;
		f->parts_kept += kept;
		f->parts_there++;
	}
	return check_unchanged(f, err);
}

static void write_parts(const struct multipart *m, struct buffer *xml)
{
	buffer_text(xml, "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
	for (int64_t i = 0; i < m->file->parts; i++) {
		buffer_format(xml, "<Part><PartNumber>%lld</PartNumber><ETag>&quot;", (long long)i + 1);
		markup_escape(xml, slice_of(m->upload.parts[i].etag), "");
		buffer_text(xml, "&quot;</ETag>");
		if (m->upload.sha256_kept)
			buffer_format(xml, "<ChecksumSHA256>%s</ChecksumSHA256>", m->digests[i].sha256_base64);
		buffer_text(xml, "</Part>");
	}
	buffer_text(xml, "</CompleteMultipartUpload>");
}

/* If the answer is lost, a second one says there is no such upload any more: the object decides. */
static int complete(struct multipart *m, struct ipf_error *err)
{
	struct upload_file *f = m->file;
	struct buffer xml = {0}, query = {0};
	struct store_answer answer = {0}, object = {0};
	struct curl_slist *headers = NULL;
	char etag[ETAG_BYTES];
	write_parts(m, &xml);
	buffer_text(&query, "uploadId=");
	store_escape(&query, m->upload.id);
	bool good = add_header(&headers, "Content-Type", "application/xml");
	const struct store_request request = {
		.method = "POST", .key = f->key, .query = query.data, .headers = headers, .body = buffer_all(&xml), .fd = -1};
	int status = xml.failed || query.failed || !good ? ipf_error_memory(err) : find_etag(m, etag, err);
	if (status == 0)
		status = send_request(f, m->store, &request, &answer, err);
	if (status == 0 && answer.status == 404)
		status = compare_object(f, m->store, &object, err);
	if (status == 0 && answer.status != 200 && likeness_of(f, m->store, &object, etag) != LIKE_SAME)
		status = store_refusal(m->store, &answer, f->key, err);
	if (status == 0)
		status = check_object(f, m->store, etag, err);
	curl_slist_free_all(headers);
	store_answer_release(&answer);
	store_answer_release(&object);
	buffer_release(&xml);
	buffer_release(&query);
	return status;
}

static int send_multipart(struct upload_file *f, struct store *store, struct ipf_error *err)
{
	struct multipart m = {.file = f,
	                      .store = store,
	                      .part_bytes = part_bytes_of(f->bytes),
	                      .digests = calloc((size_t)f->parts, sizeof(struct file_digest))};
	int status = m.digests ? pending_upload_init(&m.upload, f->parts, err) : ipf_error_memory(err);
	if (status == 0)
		status = find_object(&m, err);
	if (status == 0 && !f->unchanged) {
		status = pending_upload_find(store, f->key, &m.upload, err);
		if (status == 0 && !m.upload.id)
			status = begin_upload(&m, err);
		if (status == 0)
			status = send_parts(&m, err);
		if (status == 0)
			status = complete(&m, err);
	}
	pending_upload_release(&m.upload);
	free(m.digests);
	return status;
}

int upload_file_send(struct upload_file *f, struct store *store, struct ipf_error *err)
{
	f->parts = part_count_of(f->bytes);
	int status = f->parts ? send_multipart(f, store, err) : send_whole(f, store, err);
	f->done = status == 0;
	return status;
}

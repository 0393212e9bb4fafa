/* The objects of one kind in the namespace, as the API server has them: listed once, then kept up to date by a watch.
 *
 *     struct object_store jobs;
 *     struct store_kind kind = {.path = "/apis/batch/v1/namespaces/x/jobs", .selector = "a=b"};
 *     store_open(&jobs, &kind, &api, &err);
 *     for (;;) {
 *         store_step(&jobs, multi, clock_now()); // lists or begins to watch, if that is due
 *         curl_multi_perform(multi, …);          // and store_finished() for a transfer that has ended
 *         if (jobs.listed && jobs.changed) … json_object_get(jobs.objects, "name") …
 *     }
 *
 * The watch asks for bookmarks, so it can go on where it was even if nothing has happened for long. If the API server
 * no longer knows that place (410), all is listed again; if it is away, it tries again after a backoff, and the objects
 * stay as they were. A watch ends after five minutes at the latest, so one whose connection is dead without a sign does
 * not last.
 *
 * Memory: a line of a watch has at most 4 MiB (an object has 1.5 MiB in etcd), an answer 32 MiB, a store 5000 objects.
 * More is an error. Members no reader needs (managedFields, the spec of a Job) are not kept.
 */
#ifndef IPF_OPERATOR_OBJECT_STORE_H
#define IPF_OPERATOR_OBJECT_STORE_H

#include "api/api_client.h"
#include "api/backoff.h"

enum { STORE_OBJECTS_MOST = 5000, STORE_LINE_MOST = 4 << 20 };

struct store_kind {
	const char *path;     /* the collection's */
	const char *selector; /* a selector of labels; NULL: all */
	bool without_spec;
};

struct object_store {
	struct store_kind kind;
	struct api_client *api;
	json_t *objects;        /* by name */
	bool listed;            /* `objects` is a list, with the changes since */
	bool changed;           /* for the caller to reset */
	struct ipf_error error; /* the last attempt's; of the kind IPF_OK: it went well */

	char version[64]; /* to watch from; "": list first */
	bool watching;
	int64_t begun_ns, retry_at_ns;
	struct http_handle http; /* the watch's */
	struct curl_slist *headers;
	struct buffer line;
	struct backoff backoff;
};

/* The strings of `kind` and the API client must outlive the store, which must stay where it is. */
int store_open(struct object_store *s, const struct store_kind *kind, struct api_client *api, struct ipf_error *err);
void store_close(struct object_store *s, CURLM *multi);

void store_step(struct object_store *s, CURLM *multi, int64_t now_ns);
/* The transfer of s->http.curl has ended. */
void store_finished(struct object_store *s, CURLM *multi, CURLcode result, int64_t now_ns);

/* An object as an answer had it, before the watch says so. `object` is borrowed. */
void store_put(struct object_store *s, json_t *object);

/* A line of a watch: {"type": "ADDED", "object": {…}}. For store_finished, and for tests. */
void store_take_line(struct object_store *s, const char *line, size_t len);

const char *object_name(const json_t *object);                     /* "" if it has none */
json_t *object_meta(const json_t *object, const char *member);     /* borrowed; NULL: absent */
const char *object_label(const json_t *object, const char *label); /* "" if absent */
bool object_is_deleted(const json_t *object);                      /* is its deletion under way? */
/* For qsort() of json_t pointers: the oldest first, those of one second by their names. */
int object_by_age(const void *a, const void *b);

#endif

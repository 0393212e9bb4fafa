/* Requests to the API server of Kubernetes.
 *
 *     struct api_client api;
 *     struct api_answer answer;
 *     if (api_open(&api, &settings, &err) < 0) …
 *     if (api_call(&api, "POST", path, job, &answer, &err) < 0)    // away: try again later
 *     if (answer.status == 409) …                                  // it exists, or somebody changed it meanwhile
 *     api_answer_release(&answer);
 *     api_close(&api);
 *
 * The token is read from its file for each request, because Kubernetes replaces it every hour. One request at a time,
 * 15 s each; an answer above 32 MiB is an error.
 */
#ifndef IPF_OPERATOR_API_CLIENT_H
#define IPF_OPERATOR_API_CLIENT_H

#include "buffer.h"
#include "error.h"
#include "http/http_handle.h"

#include <jansson.h>
#include <stdbool.h>

struct api_settings {
	const char *server;     /* https://HOST:PORT, without a slash at its end */
	const char *token_file; /* NULL: none is sent */
	const char *cacert;     /* NULL: the system's */
};

struct api_client {
	const struct api_settings *settings;
	struct http_handle http;
	struct buffer received;
};

struct api_answer {
	long status;
	json_t *body; /* NULL: there is none, or it is no JSON */
};

/* `settings` must stay where it is, and the client, too. -1: out of memory. */
int api_open(struct api_client *api, const struct api_settings *settings, struct ipf_error *err);
void api_close(struct api_client *api);

/* `method` is GET, POST, PATCH (a JSON merge patch) or DELETE; `body` may be NULL. 0: there is an answer, which the
 * caller releases. -1: there is none, or a request to come back later (429 and 5xx); err says why. */
int api_call(struct api_client *api, const char *method, const char *path, const json_t *body,
             struct api_answer *answer, struct ipf_error *err);
void api_answer_release(struct api_answer *answer);
/* The API server's reason for refusing a request, such as `jobs.batch "x" already exists`; "" if there is none. */
const char *api_answer_message(const struct api_answer *answer);

/* The headers of a request, for a handle of one's own; freed by curl_slist_free_all. NULL: err says why. */
struct curl_slist *api_headers(const struct api_settings *settings, const char *content_type, struct ipf_error *err);

#endif

/* Whom the requests go to: the URLs, the headers that each of them carries, the addresses that were found. Fixed before
 * the run. */
#ifndef IPF_ENDPOINT_H
#define IPF_ENDPOINT_H

#include "api/api.h"
#include "error.h"
#include "cli/options.h"
#include "endpoint/sigv4.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

/* One of the URLs. */
struct target {
	char *url;     /* with the API's path; "$model" in it stands for each request's model */
	CURLU *parsed; /* the same */
	char *shown;   /* without what is secret: credentials, query */
	struct curl_slist
		*resolve; /* CURLOPT_RESOLVE's entries that pin the address, and that of a proxy; NULL for numeric ones */
};

struct endpoint {
	struct target *targets; /* in the user's order, the same API at each */
	size_t count;
	bool url_varies;
	const char *method;
	struct curl_slist *headers;
	bool grpc;                  /* HTTP/2, whatever is asked for */
	struct signer *signer;      /* of each request; NULL */
	struct curl_slist *varying; /* "Name: $id", "… $session", "… $model": each request has its own; NULL */
};

struct endpoint_options {
	const struct string_list *urls;    /* as the user gave them, one at least */
	const struct string_list *headers; /* "Name: value" */
	const char *key_env;               /* the environment variable that holds the key; NULL: the descriptor's own */
	const char *key_file;              /* the file that holds it, in place of a variable; NULL */
	bool streamed;
	int64_t timeout_ns; /* of a request, for servers that want to know it (gRPC); 0: none */
};

/* A URL is http or https, a host, perhaps a path, to which the API's is added (less what both have at the seam: a base
 * of /v1 is not doubled). The user's headers win over the descriptor's. -1: IPF_USAGE, a key's file that cannot be
 * read, or memory. */
int endpoint_open(struct endpoint *t, const struct api *api, const struct endpoint_options *options,
                  struct ipf_error *err);
/* The user's URL `index` with another path, for the readiness route. New; NULL: out of memory. */
char *endpoint_url_with_path(const struct api *api, const struct endpoint_options *options, size_t index,
                             const char *path, struct ipf_error *err);
/* What of a request's URL and headers is its own, as far as there is such a thing: texts as JSON, absent where it has
 * none. `url` gets one for each target, with a NUL after it. A header whose field is absent is not sent. -1: memory, or
 * IPF_INPUT where the path needs a model and there is none. */
int endpoint_address(const struct endpoint *t, struct slice id, struct slice session, struct slice model,
                     struct buffer *url, struct curl_slist **headers, struct ipf_error *err);
void endpoint_close(struct endpoint *t);

/* The URL of a target that may be shown. */
int endpoint_shown_url(const struct endpoint *t, size_t target, struct slice model, struct buffer *shown,
                       struct ipf_error *err);

/* Does a header's name say that its value is nobody's business? */
bool header_name_is_secret(const char *name, size_t len);
/* Takes out of a header's argv what is secret: the values of headers that authorise, credentials in URLs. */
void argv_redact(json_t *argv);

#endif

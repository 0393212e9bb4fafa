/* Whom the requests go to: the URL, the headers that each of them carries, the address that was found. Fixed before the run. */
#ifndef IPF_TARGET_H
#define IPF_TARGET_H

#include "api.h"
#include "error.h"
#include "options.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

struct target {
	char *url;                  /* with the API's path */
	char *shown;                /* without what is secret: credentials, query */
	struct curl_slist *resolve; /* CURLOPT_RESOLVE's entry that pins the address; NULL for a numeric one */
	const char *method;
	struct curl_slist *headers;
};

/* `url` as the user gave it: http or https, a host, perhaps a path, to which the API's is added (less what both have at the seam: a base
 * of /v1 is not doubled). `headers` are "Name: value"; they win over the descriptor's. `key_env` names the environment variable
 * with the key, NULL: the descriptor's own. -1: IPF_USAGE or memory. */
int target_open(struct target *t, const struct api *api, const char *url, const struct string_list *headers, const char *key_env,
                struct ipf_error *err);
void target_close(struct target *t);

/* Looks the name up, tries one connection, and pins the address that took it. -1 with one line that says why not. */
int target_reach(struct target *t, int64_t timeout_ns, struct ipf_error *err);

/* Takes out of a header's argv what is secret: the values of headers that authorise, credentials in URLs. */
void argv_redact(json_t *argv);

#endif

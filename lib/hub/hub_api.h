/* Questions to the hub's API: which files a repository has, which repositories have a name like this.
 */
#ifndef IPF_HUB_API_H
#define IPF_HUB_API_H

#include "buffer.h"
#include "error.h"
#include "hub/hub_repository.h"
#include "hub/hub_settings.h"

#include <jansson.h>

/* Appends text that may stand in a URL's path; "/" stays. */
void hub_escape(struct buffer *url, const char *text);
/* The paths of the repository's files: a new array of texts; NULL with `err`. */
json_t *hub_api_files(const struct hub_settings *s, const struct hub_repository *r, struct ipf_error *err);
/* Appends ", A, B" for up to three names the hub finds for this one, or nothing. */
void hub_api_similar(const struct hub_settings *s, const struct hub_repository *r, struct buffer *names);

#endif

/* The request half of an API descriptor: checked here; ipf-fire renders it into request bodies and headers.
 */
#ifndef IPF_API_REQUEST_H
#define IPF_API_REQUEST_H

#include "api/descriptor_check.h"

/* Checks the "request" object: its members, its templates and every field they name. */
int api_request_check(struct descriptor_place at, json_t *request, struct ipf_error *err);

/* Does the header's value name a field that differs between requests: "$id", "$session", "$model" or
 * "$traceparent"? */
bool api_header_field(const char *value);

#endif

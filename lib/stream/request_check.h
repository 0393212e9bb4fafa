/* Requests whose answers are checked, by their tags (ipf-trace(5)): a canary has a known answer, a repeat is sent alone
 * and under load. Neither is in a latency. */
#ifndef IPF_REQUEST_CHECK_H
#define IPF_REQUEST_CHECK_H

#include "json/jdoc.h"

enum request_check { CHECK_NONE, CHECK_CANARY, CHECK_REPEAT };

/* By the request's tags, JSON or absent. `doc` is scratch space, which then has the tags if they were parsed. */
enum request_check request_check_of(struct slice tags, struct jdoc *doc);

#endif

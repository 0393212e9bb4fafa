/* The recorded headers of a response: those the user and the API's descriptor name, those explaining the answer
 * (Content-Encoding, and Location of a redirect), and the Date. */
#ifndef IPF_RESPONSE_HEADERS_H
#define IPF_RESPONSE_HEADERS_H

#include "cli/options.h"
#include "http_date.h"
#include "job/job.h"

/* The most recorded headers of a response: each name is compared with those before it. */
#define RESPONSE_HEADERS_MOST 256

/* The last Date, and its time: answers coming in succession often have the same. */
struct date_cache {
	char text[HTTP_DATE_LENGTH];
	int64_t date_s;
};

/* Notes a header in job->headers, if it is one of the names ("*" are all), or explains the answer. Only the name of
 * credentials is kept, and no query of a URL. */
void response_headers_note(struct job *job, const struct string_list *names, struct slice name, struct slice value);
/* Notes the Date of an answer, which came at t_ns. */
void response_headers_date(struct job *job, struct date_cache *cache, struct slice value, int64_t t_ns);
/* Forgets those of an interim response. */
void response_headers_forget(struct job *job);

#endif

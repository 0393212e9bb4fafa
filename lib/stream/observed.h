/* A run that was observed in a capture of production traffic (ipf-prep capture): the member "observed" of the headers
 * of its records and results (ipf-results(5)). No schedule and no client of ours sent it, so the capture is judged
 * instead.
 *
 *     json_t *observed = observed_find(header);                // NULL: a client sent the run's requests
 *     json_t *capture = observed_capture(trailer);             // its counts
 */
#ifndef IPF_OBSERVED_H
#define IPF_OBSERVED_H

#include <jansson.h>

#define OBSERVED_MEMBER "observed"

/* Names in its counts: kinds of damage, and of connections. */
#define OBSERVED_OPEN         "still open at the end"
#define OBSERVED_BEGAN_BEFORE "began before the capture"
#define OBSERVED_SILENT       "silent"
#define OBSERVED_HTTP1        "HTTP/1.1"
#define OBSERVED_HTTP2        "HTTP/2"

/* The member of this header, or of that of the records it was made from. Borrowed; NULL: the run was not observed. */
json_t *observed_find(json_t *header);
/* The counts of the capture in a trailer of records, or in that of the first input of results. Borrowed; NULL:
 * the trailer does not say, as when it is missing. */
json_t *observed_capture(json_t *trailer);

#endif

/* Lists with an entry for each request of a load, in the order of the starts, as the detailed results of vLLM and of
 * SGLang have them; and figures both compute from the times of events. Formats using them set `lines`.
 *
 *     struct request_lists lists = request_lists_of(&load);
 *     jout_key(w, "ttfts");
 *     request_list_times(w, &load, row_ttft);
 *
 * Failed requests are in the lists, with 0 and empty texts, as those tools write them.
 */
#ifndef REPORT_REQUEST_LISTS_H
#define REPORT_REQUEST_LISTS_H

#include "other_tools/seen_request.h"
#include "exports/row_values.h"
#include "results/event_times.h"
#include "json/jout.h"

/* When the chunks of a request came that count for the tool, in ns from t0 of its part. Zero-initialise; may be used
 * again for the next request. */
struct request_chunks {
	double *ns;
	size_t count;

	/* private */
	size_t cap;
	struct event_times content;
	struct seen_request seen;
	struct seen_chunks chunks;
};
/* false, and none: the results do not say it (ipf-collect --events). */
bool request_chunks_read(struct request_chunks *c, const struct row *row, const struct result *result);
void request_chunks_release(struct request_chunks *c);

/* JSON texts of a failure; also of one that only the tool takes for a failure. */
struct slice request_error_kind(const struct row *row, const struct result *result);
struct slice request_error_text(const struct row *row, const struct result *result);

/* The members of the rows: without the option of ipf-collect there is no such list. */
struct request_lists {
	bool events;              /* --events, for every successful streamed response */
	bool texts;               /* --text */
	double tokens_per_s_peak; /* the most chunks counting in a second from the first start on; NAN: not known */
};
struct request_lists request_lists_of(const struct load *load);

void request_list_times(struct jout *w, const struct load *load, row_value ns);      /* seconds; 0 for failures */
void request_list_counts(struct jout *w, const struct load *load, row_value tokens); /* 0 for failures */
void request_list_inputs(struct jout *w, const struct load *load);                   /* includes failures */
void request_list_gaps(struct jout *w, const struct load *load);                     /* lists, in seconds */
void request_list_texts(struct jout *w, const struct load *load);
void request_list_errors(struct jout *w, const struct load *load); /* "" for successes */

#endif

/* Lists with an entry for each request of a load, in the order of the starts, as the detailed results of vLLM and of
 * SGLang have them; and what both compute from the times of events. Formats that use them set `lines`.
 *
 *     struct request_lists lists = request_lists_of(&load);
 *     jout_key(w, "ttfts");
 *     request_list_times(w, &load, row_ttft);
 *
 * Failed requests are in the lists, with 0 and empty texts, as those tools write them.
 */
#ifndef REPORT_REQUEST_LISTS_H
#define REPORT_REQUEST_LISTS_H

#include "exports/row_values.h"
#include "json/jout.h"

/* What the lines of the rows have: without the option of ipf-collect there is no such list. */
struct request_lists {
	bool events;              /* --events, for every streamed response that succeeded */
	bool texts;               /* --text */
	double tokens_per_s_peak; /* the most content events in a second from the first start on; NAN: not known */
};
struct request_lists request_lists_of(const struct load *load);

void request_list_times(struct jout *w, const struct load *load, row_value ns);      /* seconds; 0 for failures */
void request_list_counts(struct jout *w, const struct load *load, row_value tokens); /* 0 for failures */
void request_list_inputs(struct jout *w, const struct load *load);                   /* also of failures */
void request_list_gaps(struct jout *w, const struct load *load);                     /* lists, in seconds */
void request_list_texts(struct jout *w, const struct load *load);
void request_list_errors(struct jout *w, const struct load *load); /* "" for successes */

#endif

/* The figures of a load as GuideLLM defines them ("metrics" of a benchmark; guidellm 0.8.1,
 * benchmark/schemas/metrics.py and schemas/base/request_stats.py), and those of one request they are made of.
 *
 *     jout_key(w, "metrics");
 *     guidellm_figures(w, &load);
 *
 * Each figure is there for the successful requests, were incomplete (cancelled at the end of the run), failed, and for
 * all of them. An unknown value of a request has no part in a figure, where GuideLLM counts 0 for it.
 */
#ifndef REPORT_GUIDELLM_FIGURES_H
#define REPORT_GUIDELLM_FIGURES_H

#include "exports/row_values.h"

enum guidellm_status { GUIDELLM_SUCCESSFUL, GUIDELLM_INCOMPLETE, GUIDELLM_ERRORED, GUIDELLM_STATUSES };
enum guidellm_status guidellm_status(const struct row *row);

/* A request's value; NAN: there is none. In seconds: */
double guidellm_latency(const struct row *row);           /* a success's to the end mark; a failure's to its end */
double guidellm_dispatch_delay(const struct row *row);    /* from when it was due to its start */
double guidellm_scheduled_latency(const struct row *row); /* from when it was due to the end */
/* In ms: */
double guidellm_ttft(const struct row *row);
double guidellm_ttfot(const struct row *row); /* to the first token besides reasoning */
double guidellm_tpot(const struct row *row);  /* to the last token / output tokens */
double guidellm_itl(const struct row *row);   /* from the first token to the last / (output tokens - 1) */
/* Tokens: */
double guidellm_total(const struct row *row); /* input and output, as far as one is known */

/* Whether requests had a time at which they were due. */
bool guidellm_scheduled(const struct load *load);

/* {"successful", "incomplete", "errored", "total"}: how many requests */
void guidellm_counts(struct jout *w, const char *key, const struct load *load);
/* An object. */
void guidellm_figures(struct jout *w, const struct load *load);

/* The limit of each request's `metric` in --slo, in ms; NAN: none. */
double guidellm_limit(const struct load *load, enum metric metric);
/* Whether there are objectives, and all are such as GuideLLM knows: ttft, tpot and e2e of requests. */
bool guidellm_has_slo(const struct load *load);

#endif

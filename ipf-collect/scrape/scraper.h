/* Scrapes the metrics of servers while a run lasts (--scrape): a thread asking all targets at each `every`, each by
 * itself, so a hanging one delays neither the others nor the rows.
 *
 *     scraper_start(&scraper, &options, every_ns, clock, queue, &err);   // the first scrape begins at once
 *     scraper_align(scraper);                                            // when the clock knows the run's start
 *     scraper_stop(scraper);                                             // after the last record: one more scrape of
 * each json_t *targets = scraper_json(scraper);                           // for the trailer scraper_free(scraper);
 *
 * A target gets one request at a time. It fails if it takes longer than the time limit, answers with another status
 * than 200 (redirects are not followed), with more than SCRAPE_BYTES_MAX bytes, or without metrics. Its failure is a
 * line of the results, and the next scrape tries again.
 */
#ifndef COLLECT_SCRAPER_H
#define COLLECT_SCRAPER_H

#include "live/line_queue.h"
#include "live/run_clock.h"
#include "scrape/scrape_options.h"

#include <jansson.h>

#define SCRAPE_BYTES_MAX ((int64_t)8 << 20) /* one answer's, when decompressed */

struct scraper;

/* `options`, `clock` and `queue` are borrowed until scraper_free. -1: IPF_USAGE for faulty options, IPF_SYSTEM. */
int scraper_start(struct scraper **scraper, const struct scrape_options *options, int64_t every_ns,
                  const struct run_clock *clock, struct line_queue *queue, struct ipf_error *err);
void scraper_align(struct scraper *scraper);
/* Waits at most for two time limits. */
void scraper_stop(struct scraper *scraper);
/* A list of the targets as in the trailer's "server"; after scraper_stop. New. */
json_t *scraper_json(const struct scraper *scraper);
/* If it has not been stopped, the transfers are aborted. NULL is fine. */
void scraper_free(struct scraper *scraper);

#endif

/* Metrics a scraper should survive: the good ones as changed by `--metrics-mode`. */
#ifndef SIM_HOSTILE_METRICS_H
#define SIM_HOSTILE_METRICS_H

#include "server.h"

#define HOSTILE_METRICS_BYTES ((size_t)64 << 20) /* for SCRAPE_HUGE */

/* SCRAPE_GARBAGE: lines that are not metrics, and bytes that are not text. SCRAPE_HUGE: the good ones, and many more
 * series, to HOSTILE_METRICS_BYTES in all. SCRAPE_CONTROL: the good ones, among labels with escape sequences, control,
 * bidirectional and invisible characters, bytes that are not UTF-8, a label of 100 kB, numbers that are none or too
 * large, and counters that fall. Other modes leave them. */
void hostile_metrics(enum scrape_mode mode, struct buffer *body);

#endif

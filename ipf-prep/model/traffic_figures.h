/* The figures by which two traces of the same kind of traffic are alike: dispersion of arrivals, lengths and their
 * correlation, turns, think times, and hits of prefix caches. A model has those of its data.
 *
 *     struct traffic_watch watch = {0};
 *     traffic_watch_add(&watch, &request, &err);            // for each request of a trace
 *     traffic_watch_end(&watch, note_prompt, data, &figures, &err);
 *     traffic_watch_release(&watch);
 *
 * ipf-prep(1) defines the figures.
 */
#ifndef PREP_TRAFFIC_FIGURES_H
#define PREP_TRAFFIC_FIGURES_H

#include "model/dispersion.h"
#include "model/pairs.h"
#include "model/prompt_blocks.h"
#include "model/quantile_table.h"

enum traffic_numbers {
	TRAFFIC_INPUT,   /* tokens of prompts */
	TRAFFIC_OUTPUT,  /* tokens of answers */
	TRAFFIC_TURNS,   /* a session's turns */
	TRAFFIC_WAIT,    /* s from the end of a turn to the next one */
	TRAFFIC_GAP,     /* s from the arrival of a turn to the next one's */
	TRAFFIC_HANG_UP, /* s from the start of a request to its client's disconnecting */
	TRAFFIC_NUMBERS
};
extern const char *const traffic_number_names[TRAFFIC_NUMBERS]; /* "input_tokens", … */

struct traffic_figures {
	int64_t requests, starts;             /* starts: sessions, and requests without one */
	double dispersion[DISPERSION_SCALES]; /* NAN: not known */
	int64_t windows[DISPERSION_SCALES];
	struct quantile_table numbers[TRAFFIC_NUMBERS];
	double rank_correlation; /* between input and output; NAN: not known */
	int64_t distinct_tokens; /* in blocks */
	double hit_rate;         /* NAN: no blocks are known */
	struct prompt_cache caches[PROMPT_CACHES];
	int cache_count;
};

/* Zero-initialise. */
struct traffic_watch {
	struct dispersion arrivals;
	struct pairs lengths, numbers[TRAFFIC_NUMBERS]; /* the latter's, one side is used; the first two have no items */
	struct prompt_blocks blocks;
	int64_t requests, starts;
	/* ---- the session at hand ---- */
	struct buffer name;
	int64_t session, turn; /* its number from 1, and of its turns so far the last one, from 0; session 0: none so far */
	int64_t last_at_ns, last_start_ns;
	bool in_session;
};

/* -1: IPF_INPUT, or out of memory. */
int traffic_watch_add(struct traffic_watch *watch, const struct trace_request *request, struct ipf_error *err);
/* `note`: see prompt_blocks_end. */
int traffic_watch_end(struct traffic_watch *watch, void (*note)(void *data, const struct prompt_use *use), void *data,
                      struct traffic_figures *figures, struct ipf_error *err);
void traffic_watch_release(struct traffic_watch *watch);

/* A new object; NULL: out of memory. */
json_t *traffic_figures_json(const struct traffic_figures *figures);
int traffic_figures_read(struct traffic_figures *figures, const json_t *map, struct ipf_error *err);

#endif

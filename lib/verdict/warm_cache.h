/* Did the server's prefix cache have prompts the run had not sent yet? The most the trace lets a cache find
 * (schedule_reuse) is in the schedule's header: the trace itself is not needed.
 *
 *     warm_cache_part(&w, &schedule);              // before the rows of each shard or repeat
 *     warm_cache_row(&w, &row, number, measured);  // `number` is that of the prompt: schedule_prompt_number
 *     warm_cache_judge(&w, check);                 // at any time
 *     warm_cache_release(&w);
 *
 * If the answers report no hits, the servers' counters are judged: over all requests, those that repeat a prompt
 * included, of which a cache may find everything.
 *
 * Only the first successful request with a prompt counts: later ones find it. If a part of the trace is sent, a cache
 * finds at most its hits in the whole one. Repeats are judged one by one, and the warmest decides. Shards that sent a
 * prompt again are not judged: they are read one after another, whoever was the first.
 */
#ifndef IPF_WARM_CACHE_H
#define IPF_WARM_CACHE_H

#include "seen_numbers.h"
#include "stream/result.h"
#include "stream/schedule.h"
#include "verdict/verdict_check.h"

/* For requests that sent their prompt first. Tokens as the server counts them, but for `asked`. */
struct warm_cache_sums {
	int64_t requests, input, cached;
	int64_t again;           /* input tokens of the other requests, whose prompts a cache finds */
	int64_t asked, received; /* over those of which both are known: as the trace counts, as the server does */
	bool reported;           /* the server reported hits for some */
};

struct warm_cache_finding {
	double share, possible; /* the input tokens': found, and found at most by a cold cache; NAN: not known */
	double excess;          /* hits beyond that and beyond the error of the comparison */
};

/* Zero-initialise. */
struct warm_cache {
	struct seen_numbers sent;
	struct schedule_reuse reuse;
	int64_t copies;       /* the trace's requests, which begin differently: each can be found once */
	uint64_t copies_sent; /* a bit for each that was: with salt, the schedule does not say how many */
	int64_t resets;       /* after each, prompts are sent first again */
	int64_t parts;        /* that are repeats */
	struct warm_cache_sums sums;
	struct warm_cache_finding worst; /* the ended repeats' */
	bool shard, unordered;           /* shards that sent a prompt twice: nobody knows which request was the first */
	bool live;                       /* later turns have the server's own answers */
	bool known;                      /* from elsewhere: figures are made, and nothing is said */
	bool filled;                     /* on purpose, before the run */
	bool counted;                    /* by the servers' counters: */
	double counters;                 /* the share of the tokens looked up that were found */
	double possible;                 /* if it is known: the share a cold cache finds; NAN */
};

void warm_cache_part(struct warm_cache *w, const struct schedule *schedule);
/* The server's cache was emptied before the next row. */
void warm_cache_reset(struct warm_cache *w);
void warm_cache_row(struct warm_cache *w, const struct result *row, int64_t number, bool measured);
/* Adds a clause and the figures "cached_share" and "cache_possible". False: out of memory. */
bool warm_cache_judge(const struct warm_cache *w, struct verdict_check *check);
void warm_cache_release(struct warm_cache *w);

#endif

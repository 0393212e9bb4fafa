/* A prefix cache's possible hits in the prompts of a run, and the server's reported hits.
 *
 *     struct cache_truth t;
 *     cache_truth_find(&t, &workload, &run, &options, &err);
 *     if (!t.absent) … t.all.ideal / t.all.prompt, t.reported.found …
 *     cache_truth_judge(&t, &run);                     // a warm start, for the verdict
 *     cache_truth_release(&t);
 *
 * Prompts are blocks of tokens (tree_prompt.h), and requests are taken in the order in which they started. The ideal
 * cache has no limit, begins empty, and has the blocks of every request starting before; at least the last token of a
 * prompt is computed. If the length of the server's own blocks is known, a request finds whole ones of them, a chat
 * template in front included, and at most as many as the unknown part of a block of ours allows. "Prefix cache" in
 * ipf-report-definitions(1) defines every figure.
 *
 * Requests overlapping make the order at the server uncertain. Two bounds are computed besides. The least: a cache
 * without a limit certainly has the blocks of requests that had their first token before this one started. The most: it
 * can have the blocks of any other request starting before this one had its first token. A server finding more than the
 * latter has had the prompts before the run: its cache was warm.
 */
#ifndef REPORT_CACHE_TRUTH_H
#define REPORT_CACHE_TRUTH_H

#include "figures/metric_summary.h"
#include "stats/lru_curve.h"
#include "results/workload.h"

/* The longest block believed. */
#define CACHE_BLOCK_MOST (INT64_C(1) << 20)

enum { CACHE_TIERS = 4, CACHE_INTERVALS_MOST = 54, CACHE_SESSIONS_SHOWN = 10 };
extern const char *const cache_tiers[CACHE_TIERS]; /* "device", "host", "disk", "remote" */

/* Tokens of successful requests of measured stages. */
struct cache_sums {
	int64_t requests;
	int64_t prompt; /* their prompts' tokens */
	int64_t ideal;  /* found by the ideal cache */
	int64_t found;  /* that the server says it found; 0 unless all of these requests say it */
};

/* The requests starting in an interval. */
struct cache_interval {
	struct cache_sums all, reported;
};

struct cache_session {
	const char *name;
	struct cache_sums sums; /* requests that report */
};

struct cache_point {
	int64_t tokens; /* size of the cache */
	int64_t ideal;  /* prompt tokens it finds */
	double share;   /* as a share of all */
};

/* The bounds of a request, in the server's tokens. */
struct cache_bounds {
	int64_t prompt, ideal, least, most;
	int64_t least_here; /* the part of `least` on the replica that answered; all, if that is not known */
	int64_t slack;      /* a server's possible hits beyond `most`: a chat template, parts of blocks */
	bool exact;         /* the tokens are counted as the server does */
};

struct cache_truth {
	const char *absent;              /* why there are no figures; NULL: there are */
	int64_t block_tokens;            /* the prompts' blocks, in our tokens */
	int64_t server_block;            /* tokens of a block of the server's cache, if longer; 0: as those */
	const char *block_from;          /* how it is known: "metrics", "option"; "assumed" */
	struct cache_sums all, reported; /* `reported`: those with the server's count of hits */
	int64_t tiers[CACHE_TIERS];      /* where it found it; IPF_ABSENT: it does not say */
	struct cache_point curve[LRU_SIZES];
	int curve_count;
	struct cache_point size; /* at the size asked for; share NAN: none was */
	int64_t first_ns, every_ns;
	struct cache_interval intervals[CACHE_INTERVALS_MOST];
	int interval_count;
	int64_t sessions;                                 /* with several requests that report */
	struct metric_summary ideal_share, found_share;   /* over these sessions */
	struct cache_session worst[CACHE_SESSIONS_SHOWN]; /* those missing most tokens, the first one most */
	int worst_count;
	int64_t warm, warm_of;       /* tokens found that no request of the run had sent, of all such tokens */
	const char *no_warm;         /* why a warm start cannot be told; NULL: it can */
	struct cache_bounds *bounds; /* for each of workload.started */
};

struct cache_options {
	int64_t size_tokens;  /* 0: none */
	int64_t block_tokens; /* the server cache's block size; 0: as its metrics say */
	const struct percentiles *percentiles;
};

/* Fails only when memory runs out. */
int cache_truth_find(struct cache_truth *t, const struct workload *w, const struct run_data *run,
                     const struct cache_options *options, struct ipf_error *err);
/* The server's count of hits for a request; IPF_ABSENT. A server reporting it for others says nothing where it found
 * nothing. */
int64_t cache_truth_found(const struct run_data *run, const struct row *row);
/* Tells the verdict of a warm start, which then needs no estimate of its own. */
void cache_truth_judge(const struct cache_truth *t, const struct run_data *run);
void cache_truth_release(struct cache_truth *t);

#endif

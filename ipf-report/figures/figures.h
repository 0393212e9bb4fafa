/* All figures of a run: of each stage, of the total, and of each model or target in these.
 *
 *     struct run_figures figures;
 *     run_figures_build(&figures, &run, &options, &err);
 *     figures.total.due[METRIC_TTFT].at[i] …
 *     run_figures_release(&figures);
 *
 * An absent value is NAN, IPF_ABSENT or a metric_summary with n = 0. Times are in milliseconds, rates per second.
 */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "figures/attainment.h"
#include "figures/token_reads_figures.h"
#include "figures/early_stopping.h"
#include "figures/edge_rule.h"
#include "figures/fairness.h"
#include "figures/metric_summary.h"
#include "figures/row_samples.h"
#include "figures/started_together.h"
#include "results/run_data.h"

enum window_kind {
	WINDOW_STAGE,  /* the measured part of the stage */
	WINDOW_DRAIN,  /* until its last request has ended */
	WINDOW_STEADY, /* its steady part (steady_windows.h narrows the windows) */
};

struct figure_options {
	struct percentiles percentiles;
	int window; /* enum window_kind: the time for rates */
	bool errors_as_inf;
	bool early_stopping;
	bool by[GROUPINGS]; /* the groupings: by model, by target … */
};

/* The difference a − b of two counts of the same tokens, over the requests that have both. */
struct token_difference {
	const char *name;
	int64_t n;
	double mean, min, max;
	double share; /* sum of the differences / sum of b */
};
enum {
	OUTPUT_USAGE_TOKENIZER,
	OUTPUT_USAGE_EVENTS,
	OUTPUT_TOKENIZER_EVENTS,
	INPUT_USAGE_TOKENIZER,
	INPUT_ASKED,
	OUTPUT_ASKED,
	RESIDUALS,
};

/* Above this share of unmeasured requests, there is no goodput. */
#define GOODPUT_UNMEASURED_MOST 0.01

/* Latencies shown besides with failures as infinite, and with MLPerf's estimates: from due if there is one. */
enum { WAITED_TTFT, WAITED_TTFA, WAITED_TPOT, WAITED_NTPOT, WAITED_E2E, WAITED };
extern const enum metric waited_metrics[WAITED];
enum { EARLY_PERCENTILES = 5 };
extern const double early_percentiles[EARLY_PERCENTILES]; /* 90, 95, 97, 99 and 99.9, as LoadGen reports them */

/* Refused requests, and those sent again (ipf-fire --retry). */
struct refusal_figures {
	int64_t refused;             /* requests with at least one answer with status 429 or 503 … */
	int64_t refusals;            /* … and these answers */
	int64_t retried, retried_ok; /* retried requests, and those of them with success */
	int64_t attempts;            /* all requests together; counted if some were sent again */
	double waited_ns, in_all_ns; /* between attempts; from the first start to the end */
	int64_t asked, early;        /* answers asking the client to wait; attempts before */
	double asked_ns, asked_min_ns, asked_max_ns;
};

/* Turns continuing the server's own answers (ipf-fire --history live); tokens of those for which each is known. */
struct history_figures {
	int64_t turns;
	int64_t compared, compared_tokens;   /* whose prompt and the turn before have listed ids; tokens of these turns */
	int64_t differing, differing_tokens; /* that do not begin with all of them; tokens from the first other one on */
	int64_t generated_tokens, found_tokens; /* tokens of the answers before, and of them those in the cache */
	int64_t read_generated, read_tokens;    /* answers whose text went back: as generated, as the tokenizer reads it */
};

struct figures {
	const char *name, *kind;
	bool measured, total;
	double window_s;
	bool failures_unknown; /* another tool states how many requests succeeded, and not how many failed */
	int64_t empty;         /* the part of `ok` without content: complete responses */
	int64_t scheduled, started, ok, failed, hung_up, unseen, cut, cancelled, stale, errors[VERDICT_KINDS];
	double offered, achieved, completed, completed_own; /* completed_own: of those, requests of the stage itself */
	double completed_counted;                           /* those ending in the window; NAN: the same as completed */
	double begin_in_flight, end_in_flight; /* at the edges of the window; NAN: as many as chance explains */
	double tokens_spread; /* share of output_per_s whose arrival at an edge is not known exactly; NAN: 1 % or less */
	double inputs_per_s;  /* inputs of embeddings, documents of rankings */
	double input_per_s, output_per_s, total_per_s;
	double images_per_s, audio_s_per_s; /* NAN: none were sent */
	double output_audio_s_per_s;        /* NAN: no answer was audio */
	const char *no_throughput;          /* why completed, goodput or tokens per second are not known; NULL: they are */
	int64_t ended, ended_own;           /* requests ending in the window, well or not: of any stage; of the stage */
	double in_flight_mean, in_flight_max, little;
	struct metric_summary start[METRIC_COUNT], due[METRIC_COUNT]; /* `due`: only of metrics counting from the start */
	struct percentile_limits (*limits)[PERCENTILES_MOST]; /* for some of these, in stages and the total; else NULL */
	struct metric_summary itl;
	struct metric_summary with_failures[WAITED]; /* n = 0 unless requests failed; failures are infinite */
	double early[WAITED][EARLY_PERCENTILES];     /* ms; NAN: too few requests, or not requested */
	struct metric_summary inputs;                /* a request's */
	struct metric_summary input, output, reasoning, asked_input, asked_output;
	struct metric_summary tool_calls; /* an answer's, if it has any */
	double input_total, output_total; /* tokens of all requests ending well */
	int64_t by_source[SOURCES];
	int64_t *by_finish; /* one count for each of run->finishes */
	struct token_difference residuals[RESIDUALS];
	double cached_share;
	int64_t image_tokens, audio_tokens, output_audio_tokens; /* sums over `ok`; 0 also if not known */
	int64_t output_audio_ns, played, played_on; /* audio answers; and those of them playing without a wait */
	int64_t images, audio_clips, video_clips, audio_ns, media_bytes; /* sent; the same */
	struct token_reads_figures token_reads;
	int64_t spec_drafts, spec_draft_tokens, spec_accepted_tokens; /* as the server reports; the same */
	bool reads_known, stalls_known;             /* do rows say which events shared a read, and which gaps are stalls? */
	int64_t events, coalesced, stalls, stalled; /* stalled: requests with at least one stall */
	int64_t after_end, went_on; /* content events after the end mark, and responses with any; also of failures */
	int64_t not_streamed[RESULT_NOT_STREAMED_COUNT]; /* successful responses in one piece, by reason */
	int64_t outputs[OUTPUT_COUNT];                   /* successful responses with a checked text, by the result */
	struct refusal_figures refusals;
	struct started_together together; /* a stage's, and the total's if it is the only one */
	struct history_figures history;
	struct fairness fairness;         /* between the values of a tag, with --by tag */
	int64_t deadlines, deadlines_met; /* fluidity; 0: not measured */
	int64_t judged, good;             /* requests with objectives, and those meeting all of them */
	int64_t left_out;                 /* requests with objectives ipf-fire disconnected on purpose; not in `judged` */
	int64_t unmeasured;               /* requests with objectives unmeasured: not streamed; not in `judged` */
	double good_output_per_s;   /* output tokens of good requests; NAN like the goodput, or if tokens are not known */
	double good_output_total;   /* all of them */
	double goodput, good_share; /* NAN if no request was judged, or too many could not be measured */
	struct attainment objectives[OBJECTIVES_MOST];
	/* Every row is in ok, failed (of which some are cut or cancelled) hung_up or unseen. */
	/* One for each of run->groups up to run_figures.group_counts, if requested; else NULL. Windows of time count the
	 * requests due in them, over their length, and have no requests in flight. */
	struct figures *groups[GROUPINGS];
};

/* Figures of members of a grouping, for all stages together: some 300 MB while they are built. */
#define FIGURES_MOST 8192

struct run_figures {
	bool loads_differ; /* attainment.h: objectives are judged by stage, and not over all of them */
	double episodes;   /* how often the load changed (bursts.h): with fewer than LOAD_EPISODES_FEWEST no intervals */
	struct edge_rules *rules; /* how requests at the edges of windows count */
	struct figures *stages;
	size_t count;
	struct figures total;
	int group_counts[GROUPINGS]; /* length of each `groups`, if it exists: at most FIGURES_MOST for all stages */
};

/* The number of requests the figures cover. */
int64_t figures_requests(const struct figures *f);

int run_figures_build(struct run_figures *figures, const struct run_data *run, const struct figure_options *options,
                      struct ipf_error *err);
void run_figures_release(struct run_figures *figures);

/* ---- the values of distributions ---- */

struct samples_query {
	const struct run_data *run;
	const struct figure_options *options;
	int32_t stage; /* -1: all measured stages */
	enum metric metric;
	enum latency_origin origin;
};
/* Replaces `s` by the samples in nanoseconds, and counts in `infinite` the infinite failures (--errors-as-inf). -1: out
 * of memory. */
int figures_samples(const struct samples_query *query, struct samples *s, int64_t *infinite);

/* The inter-token gaps of a stage; -1: of all measured ones. A new histogram, which may be empty. NULL: out of
 * memory. */
struct histogram *figures_gaps(const struct run_data *run, int32_t stage);

#endif

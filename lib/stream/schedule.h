/* Reads and writes the schedule: when each request is sent. See ipf-schedule(5).
 *
 * Times count from the start of the run. A stage without an end (`end_ns` absent: its count bounds it, not time, as in
 * closed:n=… or burst without for=) lasts until all its requests have ended. Until then the schedule's time stops at
 * its begin_ns: the stages after it are planned as if it took no time.
 */
#ifndef IPF_SCHEDULE_H
#define IPF_SCHEDULE_H

#include "json/jdoc.h"
#include "stream/stream.h"

#include <string.h>

/* The most users or slots of a stage: as many connections no process can have. */
#define SCHEDULE_SLOTS_MAX 16777216

struct schedule_stage {
	char *name; /* unique; by default the kind, with a number if it occurs more than once */
	char *kind; /* "poisson", … */
	char *spec; /* as the user typed it: "poisson:rate=5,for=10s" */
	int64_t begin_ns;
	int64_t end_ns;       /* IPF_ABSENT: when all its requests have ended */
	int64_t slots;        /* the most requests in flight; IPF_ABSENT: no limit */
	int64_t arrivals;     /* lines of this stage in the schedule */
	int64_t all_arrivals; /* a shard's: lines of all shards together; 0: the schedule is not a shard */
	int64_t first_n;      /* the n of its first arrival */
	double rate;          /* planned mean arrivals/s; NAN: none (closed, rest, replay of an empty span) */
	char *by; /* how a replay reached its rate: "time", "thin", "copies"; NULL or "": no rate was requested */
	double recorded_rate; /* the replay's recorded rate; 0 without `by` */
	double speed;         /* a replay divides recorded times and waits by this; 0: no replay, or not known */
	bool closed;          /* its arrivals have no at_ns: they start when a slot is free */
	/* Closed and bounded by time: after the last arrival the first comes again. The k-th start of the stage has n =
	 * first_n + k and the req of arrival k mod arrivals; the next stage's first_n leaves 2^32 numbers free. */
	bool cycle;
	int64_t once; /* with cycle: so many of its first lines do not come again */
	bool salt; /* with cycle: in round k, from 0, an arrival is copy (that of its line + k) mod (SCHEDULE_COPIES + 1) */
	int64_t idle_max_ns; /* recorded waits are no longer than this; 0: as they are */
	int64_t copy; /* all its lines are this copy (schedule_arrival); 0: the requests themselves, or a replay's copies */
	int64_t sent_before; /* its lines that are the first here with a prompt the earlier runs of a search sent */
	int64_t rampup_ns;   /* closed: its users start one after another over this time; 0: all at once */
	int64_t pace_ns;     /* closed: the least time between two starts of a user; 0: none */
	bool sessions;       /* closed: a user takes a whole session, and the next one when all its requests have ended */
	bool drain;          /* the schedule's time stops at end_ns until all its requests have ended */
	bool overlap;        /* for a stage without an end: it lasts until its last request has started, not ended */
	bool cold;           /* the server's prefix cache is emptied before it begins, while the schedule's time stops */
	bool measured;       /* false: warm-up, cool-down or rest */
};

/* The possible hits of a prefix cache without a limit in a trace's prompts, in whichever order they are sent: tokens as
 * the trace counts them. */
struct schedule_reuse {
	int64_t input_tokens;    /* all prompts together; 0: not known, then all are 0 */
	int64_t reusable_tokens; /* the part of these found if each request is sent once */
	int64_t answer_tokens;   /* answers that later turns have in their prompts: found too if the server gave them */
	int64_t error_tokens;    /* the standard error of reusable_tokens */
};

struct schedule {
	struct schedule_stage *stages;
	size_t count;
	int64_t shard, shards;          /* shard number `shard`, from 1, of `shards`; 0 of 0: the schedule is not a shard */
	char trace_sha256[65];          /* "": made without a trace */
	char *trace_file;               /* as ipf-sched was given it; NULL: not known */
	int64_t trace_requests;         /* lines of that trace; IPF_ABSENT: made without one */
	int64_t trace_repeated_prompts; /* those of these with the prompt of an earlier one, as far as is known */
	struct schedule_reuse trace_reuse;
};

enum { SCHEDULE_COPIES = 63 };
/* Warm-up requests of ipf-fire have numbers from here on. Schedules count from 0 and leave 2^32 to a cycle stage;
 * readers that know only doubles are exact up to 2^53. */
#define SCHEDULE_WARMUP_FIRST_N (INT64_C(1) << 52)
enum { SCHEDULE_SHARDS_MOST = 4096 };

struct schedule_arrival {
	int64_t n;            /* unique, increasing */
	int64_t at_ns;        /* IPF_ABSENT: as soon as possible (closed loop; a follower without a recorded arrival) */
	int64_t req;          /* index into the trace, from 0 */
	int64_t stage;        /* index into the stages, from 0 */
	const int64_t *after; /* earlier n's that must have ended; borrowed, from a reader until its next call */
	size_t after_count;   /* 0: waits for no other request */
	int64_t copy; /* 0: the request itself; k: copy k of it, whose prompt begins differently; at most SCHEDULE_COPIES */
	/* From the last of those ends to this request's due time; IPF_ABSENT: 0. Without `after`, in a closed stage: from
	 * the last answer of the user who takes it. */
	int64_t wait_ns;
	int64_t session_requests; /* for the first of a session: its lines in the schedule; 1 or less: no more than this */
};

struct schedule_reader;

int schedule_reader_open(struct schedule_reader **reader, const char *path, struct ipf_error *err);
const struct schedule *schedule_reader_header(const struct schedule_reader *reader); /* the stages; borrowed */
/* 1: the next arrival, valid until the next call; 0: the end; -1: err names file, line, field and value. */
int schedule_reader_next(struct schedule_reader *reader, struct schedule_arrival *arrival, struct ipf_error *err);
struct stream_reader *schedule_reader_stream(struct schedule_reader *reader); /* borrowed */
void schedule_reader_close(struct schedule_reader *reader);

/* Finds the header that describes the stages of records or results, given their header: that of the records if they
 * have stages of their own, otherwise the schedule's. Borrowed; NULL: there is none. */
json_t *schedule_find_header(json_t *header);
/* Adds "stages", "shard" and "trace" to a header. -1: out of memory. */
int schedule_to_header(const struct schedule *schedule, json_t *header);
/* Reads them from a header, for instance one that schedule_find_header found; `file` is for messages. Free the schedule
 * with schedule_release. */
int schedule_from_header(struct schedule *schedule, json_t *header, const char *file, struct ipf_error *err);
void schedule_release(struct schedule *schedule);
/* Reads a header before it is written: no program writes a schedule that the next one refuses. -1: IPF_USAGE, with the
 * member; out of memory. */
int schedule_check_header(json_t *header, struct ipf_error *err);
/* The member "reuse" of a trace's trailer, and of "trace" in a schedule's header. -1: out of memory. */
int schedule_reuse_to_json(const struct schedule_reuse *reuse, json_t *object);
void schedule_reuse_from_json(struct schedule_reuse *reuse, const json_t *object);
/* Does a stage send copies of requests, so two of one line have other prompts (by=copies)? */
static inline bool schedule_has_copies(const struct schedule_stage *stage)
{
	return stage->by && strcmp(stage->by, "copies") == 0;
}
/* A number for the prompt of a request of a trace with this many, which copies of it do not share. */
static inline int64_t schedule_prompt_number(int64_t req, int64_t copy, int64_t trace_requests)
{
	return copy ? req + copy * trace_requests : req;
}
/* Appends the line, without a newline. */
void schedule_arrival_write(const struct schedule_arrival *arrival, struct buffer *to);
/* Appends the list of its parents; nothing if it has none. */
void schedule_after_write(const struct schedule_arrival *arrival, struct buffer *to);

#endif

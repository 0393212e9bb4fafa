/* The schedule: when each request is sent. See ipf-schedule(5).
 *
 * Time in a schedule is counted from the run's start. A stage without an end (`end_ns` absent: bounded by its count,
 * not by time: closed:n=…, burst without for=) lasts until all its requests have ended; the schedule's time stands
 * still at its begin_ns until then, so that what follows is planned as if it had taken no time.
 */
#ifndef IPF_SCHEDULE_H
#define IPF_SCHEDULE_H

#include "json/jdoc.h"
#include "stream/stream.h"

struct schedule_stage {
	char *name; /* unique; by default the kind with a number where it stands twice */
	char *kind; /* "poisson", … */
	char *spec; /* as the user typed it: "poisson:rate=5,for=10s" */
	int64_t begin_ns;
	int64_t end_ns;       /* IPF_ABSENT: when all its requests have ended */
	int64_t slots;        /* most in flight; IPF_ABSENT: no limit */
	int64_t arrivals;     /* lines of this stage in the schedule */
	int64_t all_arrivals; /* of a shard: the lines of all shards together; 0 where the schedule is the whole */
	int64_t first_n;      /* the n of its first arrival */
	double rate;          /* planned mean arrivals/s; NAN where there is none (closed, rest, replay of an empty span) */
	char *by; /* how a replay got to its rate: "time", "thin", "copies"; NULL or "": it was not asked for one */
	double recorded_rate; /* which it had before; 0 without `by` */
	bool closed;          /* its arrivals have no at_ns: they start when a slot is free */
	bool
		cycle; /* closed and bounded by time: after the last arrival the first comes again, the k-th start of the stage
	              having n = first_n + k and req of arrival k mod arrivals; the next stage's first_n leaves 2^32 free */
	int64_t rampup_ns; /* closed: its new users come one after another over this time; 0: all at once */
	int64_t pace_ns;   /* closed: a user's least time between one start and the next; 0: none */
	bool sessions;     /* closed: a user takes a session, and the next when all of its requests have ended */
	bool drain;        /* the schedule's time stands still at end_ns until all its requests have ended */
	bool overlap;      /* of one without an end: it lasts until its last request has started, not ended */
	bool measured;     /* false: warm-up, cool-down or rest */
};

struct schedule {
	struct schedule_stage *stages;
	size_t count;
	int64_t shard, shards;  /* "shard" of "shards", from 1; 0 of 0 where it is the whole */
	char trace_sha256[65];  /* "" where the schedule was made without a trace */
	int64_t trace_requests; /* lines of that trace; IPF_ABSENT without one */
};

struct schedule_arrival {
	int64_t n;     /* unique, increasing */
	int64_t at_ns; /* IPF_ABSENT: as soon as it can (closed loop; a follower without a recorded arrival) */
	int64_t req;   /* 0-based index into the trace */
	int64_t stage; /* 0-based index into the stages */
	const int64_t
		*after;         /* earlier n's that must have ended; owned by the reader (until the next call) or the caller */
	size_t after_count; /* 0: waits for nobody */
	int64_t copy; /* 0: the request itself; k: copy k of it, whose prompt begins differently; at most SCHEDULE_COPIES */
	int64_t wait_ns; /* from the last of those ends to this request's due; IPF_ABSENT: 0. Without `after`, in a closed
	                    stage: from the last answer of the user who takes it */
};

enum { SCHEDULE_COPIES = 63 };

struct schedule_reader;

int schedule_reader_open(struct schedule_reader **reader, const char *path, struct ipf_error *err);
const struct schedule *schedule_reader_header(const struct schedule_reader *reader);
int schedule_reader_next(struct schedule_reader *reader, struct schedule_arrival *arrival,
                         struct ipf_error *err); /* 1, 0, -1 */
struct stream_reader *schedule_reader_stream(struct schedule_reader *reader);
void schedule_reader_close(struct schedule_reader *reader);

/* The header that says what the stages are that the lines below a header of records or results speak of: that of the
 * records where they had stages of their own, else the schedule's. Borrowed; NULL: nobody says. */
json_t *schedule_find_header(json_t *header);
/* Adds "stages" and "trace" to a header; 0, or -1 when memory runs out. */
int schedule_to_header(const struct schedule *schedule, json_t *header);
/* Reads them back (also from a schedule's header that stands in another stream's "from"). Frees with schedule_release.
 */
int schedule_from_header(struct schedule *schedule, json_t *header, const char *file, struct ipf_error *err);
void schedule_release(struct schedule *schedule);
/* Appends the line, without its end. */
void schedule_arrival_write(const struct schedule_arrival *arrival, struct buffer *to);

#endif

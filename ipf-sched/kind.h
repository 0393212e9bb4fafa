/* The kinds of stages. A kind is a table of the keys it takes and a function that gives one arrival time after
 * another:
 *
 *     static int poisson_begin(struct arrival_process *p, struct ipf_error *err) { … p->state … }
 *     static int64_t poisson_next(struct arrival_process *p) { … rng_exponential(&p->rng) … }
 *     const struct stage_kind kind_poisson = {.name = "poisson", .keys = keys, …};
 *
 * and a line in the list in kinds.c. All the rest is common to them: reading the spec, where a stage begins and
 * ends, which request an arrival stands for, sessions, writing. A kind never sees the clock of the run: its time
 * begins with its stage.
 */
#ifndef IPF_KIND_H
#define IPF_KIND_H

#include "error.h"
#include "gaps.h"
#include "json/jdoc.h"
#include "objective.h"
#include "ratio.h"
#include "requests.h"
#include "stats/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list of rates per second, or of counts; owned. */
struct rates {
	double *list;
	size_t count;
	bool counts;
};

/* A rate from this time on; see rate_file.h. */
struct rate_point {
	int64_t at_ns;
	double rate;
};

/* How a replay gets to a rate that was not recorded. */
enum replay_by {
	REPLAY_TIME,   /* time is scaled */
	REPLAY_THIN,   /* some of the sessions, at their recorded times */
	REPLAY_COPIES, /* all of them several times, at shifted times */
};

/* A stage as the user described it; plain data. What was not given is IPF_ABSENT, NAN, NULL or 0/0. */
struct stage {
	const struct stage_kind *kind;
	const char *spec;        /* as it was typed; borrowed, or … */
	char *own_spec;          /* … this one, of a stage that another one was short for */
	int number;              /* of the operand that it comes from, from 1 */
	char label[64];          /* "stage 2 (ramp)": what messages begin with */
	char *name;              /* owned; unique after stages_parse */
	uint64_t ordinal;        /* how many stages of its kind stand before it: picks its random generator */
	int64_t for_ns;          /* how long */
	int64_t n;               /* how many arrivals */
	int64_t slots;           /* most in flight; a closed loop's users */
	int64_t to_slots, steps; /* of users that grow in steps, each a stage: up to this, in so many */
	int64_t sessions;        /* a closed loop's users who take whole sessions */
	int64_t think_ns, rampup_ns;
	double rate;            /* arrivals per second */
	double cv;              /* coefficient of variation of the gaps */
	int64_t from_ns, to_ns; /* part of the trace's time */
	struct ratio speed;
	enum replay_by by; /* how a replay gets to its rate */
	bool by_given;
	enum gaps_kind process; /* of the gaps along a rate that changes */
	bool process_given;
	double from_rate, to_rate, base, peak;
	struct rates rates;
	int64_t every_ns, width_ns, on_ns, off_ns;
	bool warmup, cooldown, drain, overlap;
	char *file; /* owned, as is what was read from it: */
	struct rate_point *points;
	size_t point_count;
	bool linear; /* from one point to the next in a straight line */
	struct objectives objectives;
	double low, high; /* loads between which a search looks */
	double precision, confidence, upto;
	int64_t most, point_number;
	bool by_users;
	bool loop;
};

enum key_type {
	KEY_RATE,       /* double, between a billionth and a thousand million a second */
	KEY_RATE_0,     /* the same, or 0 */
	KEY_RATES,      /* struct rates: several of these, with commas between them */
	KEY_COUNTS,     /* struct rates: several counts, with commas between them */
	KEY_NUMBER,     /* double above 0 */
	KEY_DURATION,   /* int64_t ns above 0 */
	KEY_TIME,       /* int64_t ns, 0 allowed */
	KEY_COUNT,      /* int64_t, at least 1 */
	KEY_USERS,      /* the same; or two with .. between them, of which the other goes to to_slots */
	KEY_RATIO,      /* struct ratio */
	KEY_BY,         /* enum replay_by, by its name */
	KEY_TEXT,       /* char *, owned by the stage */
	KEY_GAPS,       /* enum gaps_kind, by its name */
	KEY_SHARE,      /* double between 0 and 1 */
	KEY_OBJECTIVES, /* struct objectives: several of these, with commas between them */
	KEY_FLAG,       /* bool; takes no value */
};

struct stage_key {
	const char *name;     /* NULL ends a table */
	const char *argument; /* what --list calls the value; NULL for a flag */
	enum key_type type;
	size_t offset;     /* in struct stage */
	const char *about; /* for --list */
	bool required;
};

#define STAGE_KEY(name_, argument_, type_, member_, about_)                                                            \
	{                                                                                                                  \
		.name = name_, .argument = argument_, .type = type_, .offset = offsetof(struct stage, member_),                \
		.about = about_                                                                                                \
	}
#define REQUIRED_KEY(name_, argument_, type_, member_, about_)                                                         \
	{                                                                                                                  \
		.name = name_, .argument = argument_, .type = type_, .offset = offsetof(struct stage, member_),                \
		.about = about_, .required = true                                                                              \
	}

/* Keys that mean the same in several kinds. */
#define KEY_RATE_PER_S REQUIRED_KEY("rate", "RATE", KEY_RATE, rate, "mean arrivals a second (5, 300/m, 1.5k)")
#define KEY_FOR        STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "how long the stage lasts")
#define KEY_N          STAGE_KEY("n", "COUNT", KEY_COUNT, n, "how many requests, or sessions (default: the trace once)")
#define KEY_SLOTS      STAGE_KEY("slots", "COUNT", KEY_COUNT, slots, "most requests in flight")
#define KEY_PHASES                                                                                                     \
	STAGE_KEY("warmup", NULL, KEY_FLAG, warmup, "not measured"),                                                       \
		STAGE_KEY("cooldown", NULL, KEY_FLAG, cooldown, "not measured, either"),                                       \
		STAGE_KEY("drain", NULL, KEY_FLAG, drain, "the next stage waits until all of this one's have ended"),          \
		STAGE_KEY("overlap", NULL, KEY_FLAG, overlap, "the next stage begins when all were started")
#define KEY_NAME              STAGE_KEY("name", "NAME", KEY_TEXT, name, "what reports call it (default: the kind)")
#define KEY_LENGTH_AND_LIMITS KEY_FOR, KEY_N, KEY_SLOTS, KEY_NAME, KEY_PHASES
#define PROCESS_KEYS                                                                                                   \
	STAGE_KEY("process", "NAME", KEY_GAPS, process, "poisson (default), constant, gamma, weibull, uniform"),           \
		STAGE_KEY("cv", "NUMBER", KEY_NUMBER, cv, "variation of the gaps, for a process that needs it")
#define KEY_END                                                                                                        \
	{                                                                                                                  \
		.name = NULL                                                                                                   \
	}

enum stage_type {
	STAGE_OPEN,    /* arrivals at times of their own */
	STAGE_AT_ONCE, /* all arrivals at the beginning */
	STAGE_CLOSED,  /* arrivals without a time: when a slot is free */
	STAGE_REST,    /* none */
};

/* A stage's arrivals as they come. What is random draws from `rng`, whose numbers belong to this stage alone. */
struct arrival_process {
	const struct stage *stage;
	const struct requests *requests; /* NULL without a trace */
	struct rng rng;
	uint64_t seed; /* for a kind that draws more than one thing: rng_init with another name */
	void *state;   /* the kind's own, kind->state_size bytes, zero before begin */

	/* A kind whose arrivals are the trace's own (replay) sets these in begin. */
	int64_t first_head;   /* the first head it takes; IPF_ABSENT: where the stage before stopped */
	bool recorded;        /* each arrival sets what is below; followers keep their recorded times … */
	int64_t zero_ns;      /* … counted from this time of the trace (of the arrival that came last) … */
	double recorded_rate; /* that was changed to the stage's rate=; 0: none was */
	struct ratio speed;   /* … and divided by this, as are their waits */
	int64_t end_head;     /* behind this head the first comes again; IPF_ABSENT: behind the trace's last */
	bool picks;           /* its heads are not one after another: `next` says which one each arrival is … */
	int64_t head, copy;   /* … and which copy of it, 0 for the head itself; end_head is set */
	char note[240];       /* what there is to say of how they were made; "" */
	/* Where the stage ends once `next` has nothing more; IPF_ABSENT: with its requests. A kind that sets it ends by
	 * itself. */
	int64_t end_ns;
};

#define ARRIVAL_NONE  INT64_MIN
#define ARRIVAL_LIMIT RATIO_MOST /* times from here on (146 years) are all this one */

struct resources;

struct stage_kind {
	const char *name;
	const char *about; /* one line for --list */
	enum stage_type type;
	const struct stage_key *keys;
	enum gaps_kind gaps; /* of the kinds that draw one gap after another */
	/* The remaining ones may be NULL; begin and next are for STAGE_OPEN. */
	/* What no key can see alone: IPF_USAGE, text "key: …". */
	int (*check)(const struct stage *stage, struct ipf_error *err);
	size_t state_size;
	int (*begin)(struct arrival_process *p, struct ipf_error *err);
	/* The next arrival, in ns from the stage's beginning, never before the last; without an end of its own: the
	 * stage's for= and n= are looked after by the caller. ARRIVAL_NONE: no more. */
	int64_t (*next)(struct arrival_process *p);
	/* Of STAGE_CLOSED: how long a user thinks before the next head. Draws, as next does. NULL: not at all. */
	int64_t (*think)(struct arrival_process *p);
	double (*rate)(const struct stage *stage); /* the planned mean rate; NULL: stage->rate */
	/* Looks at the results of earlier runs, or reads a file; before expand. */
	int (*resolve)(struct stage *stage, struct resources *resources, struct ipf_error *err);
	/* Is this one short for several stages? NULL: every one that has `expand` is. */
	bool (*is_short)(const struct stage *stage);
	/* A stage that is short for several has nothing else: fills in the stage at `index`, of which everything is absent
	 * so far, with a spec and a name that are its own. 1, 0 behind the last, -1 on error. */
	int (*expand)(const struct stage *of, size_t index, struct stage *stage, struct ipf_error *err);
};

/* The kinds that have files of their own. */
extern const struct stage_kind kind_constant, kind_poisson, kind_gamma, kind_weibull, kind_uniform, kind_ramp,
	kind_steps, kind_sine, kind_spike, kind_onoff, kind_rates, kind_replay, kind_closed, kind_sweep, kind_search;
/* A check for those that are bounded by for= or by n=, not by both. */
int limits_check(const struct stage *stage, struct ipf_error *err);
/* Is the coefficient of variation (NAN: not given) within the bounds of these gaps? */
int cv_check(enum gaps_kind gaps, double cv, struct ipf_error *err);
/* The same for a kind with process=, which may need one. */
int process_check(const struct stage *stage, struct ipf_error *err);

/* "poisson", …: the process's name, which is also that of the kind with one rate. */
const char *gaps_kind_name(enum gaps_kind gaps);
/* "time", "thin", "copies". */
const char *replay_by_name(enum replay_by by);

/* Every kind, in the order in which --list shows them; NULL ends it. */
extern const struct stage_kind *const stage_kinds[];
const struct stage_kind *stage_kind_find(const char *name);

/* Begins the stage's arrivals: the same (stage, ordinal, seed) gives the same ones. */
int arrival_process_begin(struct arrival_process *p, const struct stage *stage, const struct requests *requests,
                          uint64_t seed, struct ipf_error *err);
void arrival_process_end(struct arrival_process *p);

/* Nanoseconds of a clock that runs in doubles, rounded to the nearest; ARRIVAL_LIMIT where it has run away. */
int64_t arrival_round(double ns);

#endif

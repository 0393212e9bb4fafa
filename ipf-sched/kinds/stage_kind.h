/* The kinds of stages, a file each. A kind is a table of the keys its spec takes, and functions that give one arrival
 * time after another:
 *
 *     static int poisson_begin(struct arrival_process *p, struct ipf_error *err) { … p->state … }
 *     static int64_t poisson_next(struct arrival_process *p) { … rng_exponential(&p->rng) … }
 *     const struct stage_kind kind_poisson = {.name = "poisson", .keys = keys, …};
 *
 * A new kind is a file kind_NAME.c, a declaration below, and a line in the list in stage_kinds.c. Everything else is
 * common to all kinds: parsing the spec (stages.c), when a stage begins and ends, which request an arrival sends,
 * sessions, and writing (schedule_builder.c). The time of a kind begins with its stage, not with the run.
 */
#ifndef IPF_STAGE_KIND_H
#define IPF_STAGE_KIND_H

#include "error.h"
#include "inputs/rate_file.h"
#include "inputs/trace_index.h"
#include "json/jdoc.h"
#include "kinds/gaps.h"
#include "kinds/ratio.h"
#include "search/search_goal.h"
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

/* How a replay reaches a rate other than the recorded one. */
enum replay_by {
	REPLAY_TIME,   /* scale the time */
	REPLAY_THIN,   /* keep some of the sessions, at their recorded times */
	REPLAY_COPIES, /* repeat all of them, at shifted times */
};

/* A stage as the user described it; plain data. A key not given is IPF_ABSENT, NAN, NULL or 0/0. */
struct stage {
	const struct stage_kind *kind;
	const char *spec;        /* as typed; borrowed, or … */
	char *own_spec;          /* … this one, if the stage comes from a shorthand */
	int number;              /* the number of its operand, from 1 */
	char label[64];          /* "stage 2 (ramp)": how messages begin */
	char *name;              /* owned; unique after stages_parse */
	uint64_t ordinal;        /* the number of stages of its kind before it: selects its random generator */
	int64_t for_ns;          /* length */
	int64_t n;               /* number of arrivals */
	int64_t times;           /* alone: how often each request is sent */
	int64_t slots;           /* maximum number of requests in flight; the users of a closed loop */
	int64_t to_slots, steps; /* users=1..32: the last number of users, and in how many stages it is reached */
	int64_t think_ns, rampup_ns;
	double rate;            /* arrivals per second */
	double cv;              /* coefficient of variation of the gaps */
	int64_t from_ns, to_ns; /* part of the trace's time */
	struct ratio speed;
	enum replay_by by; /* how a replay reaches its rate */
	bool by_given;
	enum gaps_kind process; /* gaps along a changing rate */
	bool process_given;
	double from_rate, to_rate, base, peak;
	struct rates rates;
	int64_t every_ns, width_ns, on_ns, off_ns;
	bool warmup, cooldown, drain, overlap;
	bool cold;                 /* cache=cold */
	char *file;                /* owned */
	struct rate_points points; /* the contents of `file` */
	bool linear;               /* the rate changes linearly from one point to the next */
	struct search_goals goals;
	double low, high; /* the range of a search */
	int64_t time_ns;  /* a whole search's … */
	int64_t lead_ns;  /* … and of the warm-up before the stage it tries */
	double precision, confidence, upto;
	int64_t most, point_number;
	bool by_users;
	bool by_concurrency; /* a closed loop keeps `slots` requests in flight, whichever sessions they are of */
	bool middle;         /* a closed loop over sessions: the first ones begin at a turn in their middle … */
	bool primer;         /* … and this stage, before it, sends the turn before that one */
	bool salt;           /* a closed loop: each round of the trace begins its prompts differently */
	bool apart;          /* … and so do the sessions beginning in their middle */
	int64_t idle_max_ns; /* recorded waits of sessions are no longer than this */
	bool loop;
};

/* ---- keys -------------------------------------------------------------------------------------------------------- */

enum key_type {
	KEY_RATE,           /* double: between 1e-9 and 1e9 per second */
	KEY_RATE_0,         /* double: the same, or 0 */
	KEY_RATES,          /* struct rates: several of these, separated by commas */
	KEY_COUNTS,         /* struct rates: several counts, separated by commas */
	KEY_NUMBER,         /* double above 0 */
	KEY_DURATION,       /* int64_t: ns above 0 */
	KEY_TIME,           /* int64_t: ns, 0 or more */
	KEY_COUNT,          /* int64_t: at least 1 */
	KEY_SLOTS_OR_RANGE, /* int64_t: at least 1; or two with .. between them, of which the second goes to to_slots */
	KEY_RATIO,          /* struct ratio */
	KEY_CACHE,          /* bool, by the name of the state */
	KEY_BY,             /* enum replay_by, by name */
	KEY_TEXT,           /* char *, owned by the stage */
	KEY_GAPS,           /* enum gaps_kind, by name */
	KEY_SHARE,          /* double between 0 and 1 */
	KEY_GOALS,          /* struct search_goals: several of these, separated by commas */
	KEY_FLAG,           /* bool; takes no value */
};

struct stage_key {
	const char *name;     /* NULL ends a table */
	const char *argument; /* how --list shows the value; NULL for a flag */
	enum key_type type;
	size_t offset;    /* in struct stage */
	const char *help; /* for --list */
	bool required;
};

#define STAGE_KEY(name_, argument_, type_, member_, help_)                                                             \
	{                                                                                                                  \
		.name = name_, .argument = argument_, .type = type_, .offset = offsetof(struct stage, member_), .help = help_  \
	}
#define REQUIRED_KEY(name_, argument_, type_, member_, help_)                                                          \
	{                                                                                                                  \
		.name = name_, .argument = argument_, .type = type_, .offset = offsetof(struct stage, member_), .help = help_, \
		.required = true                                                                                               \
	}

/* Keys that several kinds share. */
#define KEY_RATE_PER_S REQUIRED_KEY("rate", "RATE", KEY_RATE, rate, "mean arrivals per second (5, 300/m, 1.5k)")
#define KEY_FOR        STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "length of the stage")
#define KEY_N          STAGE_KEY("n", "COUNT", KEY_COUNT, n, "number of requests or sessions (default: the trace once)")
#define KEY_SLOTS      STAGE_KEY("slots", "COUNT", KEY_COUNT, slots, "maximum number of requests in flight")
#define KEY_PHASES                                                                                                     \
	STAGE_KEY("warmup", NULL, KEY_FLAG, warmup, "send, but do not measure: before the measured stages"),               \
		STAGE_KEY("cooldown", NULL, KEY_FLAG, cooldown, "send, but do not measure: after the measured stages"),        \
		STAGE_KEY("drain", NULL, KEY_FLAG, drain, "begin the next stage when all requests have ended"),                \
		STAGE_KEY("overlap", NULL, KEY_FLAG, overlap, "the next stage does not wait for the answers of this one"),     \
		STAGE_KEY("cache", "STATE", KEY_CACHE, cold, "cold: reset the prefix cache before; as-is (default)")
#define KEY_IDLE_MAX                                                                                                   \
	STAGE_KEY("idle-max", "TIME", KEY_DURATION, idle_max_ns, "recorded waits of sessions are at most this long")
#define KEY_SALT              STAGE_KEY("salt", NULL, KEY_FLAG, salt, "with for=: each round of the trace has new prompts")
#define KEY_NAME              STAGE_KEY("name", "NAME", KEY_TEXT, name, "name in reports (default: the kind)")
#define KEY_LENGTH_AND_LIMITS KEY_FOR, KEY_N, KEY_SLOTS, KEY_NAME, KEY_PHASES
#define PROCESS_KEYS                                                                                                   \
	STAGE_KEY("process", "NAME", KEY_GAPS, process, "poisson (default), constant, gamma, weibull, uniform"),           \
		STAGE_KEY("cv", "NUMBER", KEY_NUMBER, cv, "coefficient of variation of the gaps, if process= needs it")
#define KEY_END                                                                                                        \
	{                                                                                                                  \
		.name = NULL                                                                                                   \
	}

/* ---- arrivals ---------------------------------------------------------------------------------------------------- */

enum stage_type {
	STAGE_OPEN,    /* open loop: every arrival has a time */
	STAGE_AT_ONCE, /* all arrivals at the beginning */
	STAGE_CLOSED,  /* closed loop: an arrival starts when a slot is free */
	STAGE_REST,    /* no arrivals */
};

/* The arrivals of a stage, one after another. Random numbers come from `rng`, which belongs to this stage alone. */
struct arrival_process {
	const struct stage *stage;
	const struct trace_index *trace; /* NULL without a trace */
	struct rng rng;
	uint64_t seed; /* for a kind drawing more than one thing: rng_init with another name */
	void *state;   /* the kind's own: kind->state_size bytes, zero before begin */

	/* A kind whose arrivals are those of the trace (replay) sets these in begin. */
	int64_t first_head;   /* the first head (trace_index.h) it takes; IPF_ABSENT: after the previous stage's */
	bool recorded;        /* each arrival sets the next members; followers keep their recorded times … */
	int64_t zero_ns;      /* … counted from this time of the trace (of the latest arrival) … */
	struct ratio speed;   /* … and divided by this, as are their waits */
	double recorded_rate; /* the rate changed to rate=; 0: unchanged */
	int64_t end_head;     /* one past its last head, after which it starts again; IPF_ABSENT: the trace's end */
	bool picks;           /* its heads are not consecutive: each arrival sets … */
	int64_t head, copy;   /* … the head, and which copy of it, 0 for the original; end_head is set */
	char note[240];       /* for the user: how the arrivals are made; "" */
	/* Where the stage ends after the last arrival. A kind setting it ends without for= or n=; IPF_ABSENT: the stage
	 * ends with its requests. */
	int64_t end_ns;
};

#define ARRIVAL_NONE  INT64_MIN
#define ARRIVAL_LIMIT RATIO_MOST /* 146 years: later times become this one */

struct stage_inputs;

struct stage_kind {
	const char *name;
	const char *summary; /* one line for --list */
	enum stage_type type;
	const struct stage_key *keys;
	enum gaps_kind gaps; /* for the kinds drawing independent gaps */
	/* The remaining members may be NULL; STAGE_OPEN needs begin and next. */

	/* Checks several keys together. IPF_USAGE; the text begins with the key: "rate: …" or "rate=RATE …". */
	int (*check)(const struct stage *stage, struct ipf_error *err);
	size_t state_size;
	int (*begin)(struct arrival_process *p, struct ipf_error *err);
	/* The time of the next arrival, in ns from the stage's beginning, never before the previous one; ARRIVAL_NONE:
	 * there are no more. The caller ends the stage at for= or n=. */
	int64_t (*next)(struct arrival_process *p);
	/* For STAGE_CLOSED: the think time in ns before the next head. Draws, as next does. NULL: no think time. */
	int64_t (*think)(struct arrival_process *p);
	double (*rate)(const struct stage *stage); /* the planned mean rate; NULL: stage->rate */
	/* Evaluates the results of earlier runs, or reads a file; called before expand. */
	int (*resolve)(struct stage *stage, struct stage_inputs *inputs, struct ipf_error *err);
	/* Is this stage shorthand for several stages? NULL: always, if `expand` is set. */
	bool (*is_short)(const struct stage *stage);
	/* Fills in the stage number `index`, from 0, of those that `of` is shorthand for. Every member of *stage is absent
	 * on entry; spec and name become its own. 1; 0: there is no such stage; -1. */
	int (*expand)(const struct stage *of, size_t index, struct stage *stage, struct ipf_error *err);
};

extern const struct stage_kind kind_constant, kind_poisson, kind_gamma, kind_weibull, kind_uniform, kind_ramp,
	kind_steps, kind_sine, kind_spike, kind_onoff, kind_rates, kind_replay, kind_closed, kind_burst, kind_rest,
	kind_sweep, kind_search, kind_alone;

enum { ALONE_TIMES_MOST = 1000 };

/* Every kind, in the order of --list; NULL ends it. */
extern const struct stage_kind *const stage_kinds[];
/* NULL: unknown. */
const struct stage_kind *stage_kind_find(const char *name);

/* The unit of a closed loop, or a search or sweep of them: " user", " users", " in flight". */
const char *closed_unit(const struct stage *stage, double count);
/* "time", "thin", "copies". */
const char *replay_by_name(enum replay_by by);

#endif

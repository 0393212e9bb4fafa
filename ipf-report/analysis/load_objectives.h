/* Up to which load a run met its objectives: the one verdict on them of a run whose stages differ in load.
 *
 *     struct load_objectives o;
 *     load_objectives_find(&o, &input, &saturation, &err);
 *     if (o.exists) … o.met, o.missed, o.between …
 *     load_objectives_release(&o);
 *
 * Each measured stage is a load, and so is each piece of a ramp: as many as have enough requests for the objectives, 20
 * at most. Repeats with their own numbers of users are a load each. attainment.h judges them; objectives of each
 * request are met by a load in which OBJECTIVE_EACH of its requests meet all of theirs. Loads left out of the
 * saturation are not judged.
 */
#ifndef REPORT_LOAD_OBJECTIVES_H
#define REPORT_LOAD_OBJECTIVES_H

#include "analysis/saturation.h"
#include "figures/figures.h"

enum load_kind { LOAD_OFFERED, LOAD_USERS, LOAD_ACHIEVED, LOAD_COMPLETED };
extern const char *const load_kind_names[]; /* "offered", …: members of the JSON report */

struct judged_load {
	int32_t stage;
	int part;                   /* for a repeat with its own users; -1: all parts */
	double load;                /* requests per second, or users; NAN: not known */
	double begin_s;             /* a piece of a ramp: when it begins in its stage; NAN */
	double completed;           /* per second; NAN: not known */
	enum objective_state state; /* the worst of its objectives */
	const char *left_out;       /* why it is not judged, other than by too few requests; NULL */
	int64_t requests;           /* too few of them … */
	int64_t needed;             /* … since this many are needed … */
	double percentile;          /* … for this percentile */
	int64_t judged, good;       /* requests with objectives of their own or of each request; those meeting all of
	                             * them */
	enum objective_state good_state;
	struct attainment objectives[OBJECTIVES_MOST]; /* on percentiles */
};

struct load_objectives {
	bool exists; /* the run has objectives and several loads */
	enum load_kind kind;
	struct judged_load *loads; /* by their load */
	size_t count;
	const struct judged_load *met;    /* the highest meeting them, below all missing them; NULL */
	const struct judged_load *missed; /* the lowest missing them; NULL */
	const struct judged_load *again;  /* the highest meeting them above one missing them; NULL */
	double between;                   /* where a straight line between both crosses the limit; NAN: not known */
	double headroom;                  /* for a server of known capacity: by how much of it `met` is below it; NAN */
	bool all_met;
};

struct load_objectives_input {
	const struct run_data *run;
	const struct run_figures *figures;
	const struct saturation *saturation;
	bool as_inf; /* failed requests are infinite in the values, too */
};

/* Fails only when memory runs out. */
int load_objectives_find(struct load_objectives *o, const struct load_objectives_input *in, struct ipf_error *err);
void load_objectives_release(struct load_objectives *o);

/* Has the run objectives judged by load? */
bool has_load_objectives(const struct run_data *run, const struct run_figures *figures);

#endif

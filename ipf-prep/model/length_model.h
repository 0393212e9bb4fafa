/* Lengths of a model: quantiles of prompts and answers for each class of turns, the joint distribution of their ranks,
 * and how far the rank of a session moves from turn to turn.
 *
 *     length_fit_add(&fit, turn, input_tokens, output_tokens);    // the turns of a session in a row, from turn 0
 *     length_fit_end(&fit, &turns, &model, &err);
 *
 *     struct length_draw draw;
 *     length_draw_init(&draw, &model, &turns, seed, index);
 *     length_draw_next(&draw, turn, &input_tokens, &output_tokens);
 *
 * Turns 0, 1, 2 to 3, 4 to 7, … 64 and later have classes of their own, so a session's change of lengths is in the
 * model. Within a class prompts grow from turn to turn, by ranks. A class without requests takes the lengths of the
 * nearest one before it.
 */
#ifndef PREP_LENGTH_MODEL_H
#define PREP_LENGTH_MODEL_H

#include "model/pairs.h"
#include "model/quantile_table.h"
#include "model/strata.h"

enum { LENGTH_CLASSES = 8, LENGTH_RANKS = 16, LENGTH_PLACES = 128, LENGTH_BALANCE = 64 };

struct length_class {
	struct quantile_table input, output;
	double growth; /* the growth of the input's rank, from the first turn of the class to the last */
	double joint[LENGTH_RANKS][LENGTH_RANKS]; /* shares: rows by the rank of the input; each row adds up to 1 */
};

struct length_model {
	struct length_class classes[LENGTH_CLASSES];
	struct quantile_table steps; /* how far the rank of a session moves from turn to turn; count 0: any */
};

/* Zero-initialise. */
struct length_fit {
	struct pairs classes[LENGTH_CLASSES];
	struct pairs places[LENGTH_CLASSES]; /* turn, and input */
	struct pairs turns, numbers;         /* inputs of successive turns; and the number of the second one */
	int64_t last_input;
};

void length_fit_add(struct length_fit *fit, int64_t turn, int64_t input_tokens, int64_t output_tokens);
/* `turns`: of sessions, by which some turns of a class are more frequent than others. -1: out of memory. */
int length_fit_end(struct length_fit *fit, const struct quantile_table *turns, struct length_model *model,
                   struct ipf_error *err);
void length_fit_release(struct length_fit *fit);

/* A new list, an object for each class; NULL: out of memory. */
json_t *length_model_json(const struct length_model *model);
int length_model_read(struct length_model *model, const json_t *list, struct ipf_error *err);

struct length_draw {
	const struct length_model *model;
	struct strata first, output[LENGTH_RANKS], columns[LENGTH_CLASSES][LENGTH_RANKS];
	struct rng rng;
	bool sessions; /* there are some whose lengths persist */
	double within; /* where in its place each turn of the session is */
	struct length_places {
		double before[LENGTH_PLACES], share[LENGTH_PLACES];
	} places;                     /* the turns' places in their classes */
	double drawn[LENGTH_BALANCE]; /* inputs of such ranks so far */
	double rank;                  /* the last input's */
};

void length_draw_init(struct length_draw *draw, const struct length_model *model, const struct quantile_table *turns,
                      uint64_t seed, uint64_t index);
void length_draw_next(struct length_draw *draw, int64_t turn, int64_t *input_tokens, int64_t *output_tokens);

#endif

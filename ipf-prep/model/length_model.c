#include "model/length_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MOST 1e8 /* tokens: a synthetic prompt has at most as many */
#define CANDIDATES  24  /* ranks to choose from */
#define STEADY      0.2 /* half of the steps are shorter where the lengths of sessions persist */

/* ---- fitting ---- */

static int class_of(int64_t turn)
{
	int octave = turn > 0 ? 64 - __builtin_clzll((unsigned long long)turn) : 0;
	return octave < LENGTH_CLASSES ? octave : LENGTH_CLASSES - 1;
}

void length_fit_add(struct length_fit *f, int64_t turn, int64_t input, int64_t output)
{
	pairs_add(&f->classes[class_of(turn)], (double)input, (double)output);
	if (turn > 1)
		pairs_add(&f->places[class_of(turn)], (double)turn, (double)input);
	if (turn > 0) {
		pairs_add(&f->turns, (double)f->last_input, (double)input); /* these two keep the same items */
		pairs_add(&f->numbers, (double)turn, 0);
	}
	f->last_input = input;
}

static int table_of(struct quantile_table *t, const struct pairs *p, int side)
{
	struct samples values = {0};
	for (size_t i = 0; i < p->count; i++)
		samples_add(&values, p->items[i][side]);
	bool failed = values.failed;
	if (!failed)
		quantile_table_of(t, &values);
	t->count = p->seen;
	samples_release(&values);
	return failed ? -1 : 0;
}

static int bin_of(double rank)
{
	int bin = (int)(rank * LENGTH_RANKS);
	return bin < LENGTH_RANKS ? bin : LENGTH_RANKS - 1;
}

/* For each item, the share of the numbers equal to it. */
static double *widths(const struct pairs *p, const double *ranks)
{
	double *width = calloc(p->count + 1, sizeof *width);
	size_t *order = calloc(p->count + 1, sizeof *order);
	/* The ranks of equal numbers are equal, so a count by rank is one by value. */
	for (size_t i = 0; width && order && i < p->count; i++)
		order[(size_t)(ranks[i] * (double)p->count)]++;
	for (size_t i = 0; width && order && i < p->count; i++)
		width[i] = (double)order[(size_t)(ranks[i] * (double)p->count)] / (double)p->count;
	if (!order) {
		free(width);
		width = NULL;
	}
	free(order);
	return width;
}

static int join_ranks(struct length_class *c, const struct pairs *p)
{
	double *x = pairs_ranks(p, 0), *y = pairs_ranks(p, 1);
	double *x_width = x ? widths(p, x) : NULL, *y_width = y ? widths(p, y) : NULL;
	bool failed = !x_width || !y_width;
	struct rng rng;
	rng_init(&rng, 1, "fit ranks", 0);
	for (size_t i = 0; !failed && i < p->count; i++) {
		/* Numbers equal are in the bins of all their ranks. */
		double row = x[i] + (rng_uniform(&rng) - 0.5) * x_width[i];
		double column = y[i] + (rng_uniform(&rng) - 0.5) * y_width[i];
		c->joint[bin_of(row)][bin_of(column)]++;
	}
	for (int i = 0; i < LENGTH_RANKS; i++) {
		double sum = 0;
		for (int j = 0; j < LENGTH_RANKS; j++)
			sum += c->joint[i][j];
		for (int j = 0; j < LENGTH_RANKS; j++)
			c->joint[i][j] = sum > 0 ? c->joint[i][j] / sum : 1.0 / LENGTH_RANKS;
	}
	free(x);
	free(y);
	free(x_width);
	free(y_width);
	return failed ? -1 : 0;
}

/* The rank among sums of a uniform rank and `growth` times a uniform place. */
static double rank_of_sum(double sum, double growth)
{
	double least = fmin(1, growth), most = fmax(1, growth);
	if (sum < least)
		return sum * sum / (2 * growth);
	return sum > most ? 1 - (1 + growth - sum) * (1 + growth - sum) / (2 * growth) : (sum - least / 2) / most;
}

/* The sum of this rank. */
static double sum_of_rank(double rank, double growth)
{
	double least = fmin(1, growth), most = fmax(1, growth);
	if (rank < least * least / (2 * growth))
		return sqrt(2 * growth * rank);
	return 1 - rank < least * least / (2 * growth) ? 1 + growth - sqrt(2 * growth * (1 - rank))
	                                               : rank * most + least / 2;
}

/* Shares of turns in their class, by how many sessions have them: then places are spread evenly. */
static void find_places(struct length_places *p, const struct quantile_table *turns)
{
	*p = (struct length_places){.share = {1}};
	for (int64_t first = 1; first < LENGTH_PLACES; first *= 2) {
		double sum = 0;
		for (int64_t turn = first; turn < 2 * first; turn++) {
			double longer = turns->count ? 1 - quantile_table_rank(turns, (double)turn + 0.5) : 0;
			sum += p->share[turn] = longer + 1e-9;
		}
		for (int64_t turn = first; turn < 2 * first; turn++) {
			p->share[turn] /= sum;
			p->before[turn] = turn > first ? p->before[turn - 1] + p->share[turn - 1] : 0;
		}
	}
}

static double place_of(const struct length_places *p, int64_t turn, double within)
{
	int64_t at = turn < LENGTH_PLACES ? turn : LENGTH_PLACES - 1;
	return p->before[at] + within * p->share[at];
}

/* The rank of a session with this prompt at this turn. */
static double session_rank(const struct length_class *c, double place, double input)
{
	double rank = quantile_table_rank(&c->input, input);
	if (c->growth <= 0)
		return rank;
	rank = sum_of_rank(rank, c->growth) - c->growth * place;
	return rank < 0 ? 0 : rank > 1 ? 1 : rank;
}

static int fit_steps(const struct length_fit *f, const struct quantile_table *turns, struct length_model *m)
{
	struct samples steps = {0};
	struct length_places places;
	find_places(&places, turns);
	for (size_t i = 0; i < f->turns.count; i++) {
		int64_t turn = (int64_t)f->numbers.items[i][0];
		const struct length_class *c = &m->classes[class_of(turn)], *last = &m->classes[class_of(turn - 1)];
		samples_add(&steps, fabs(session_rank(c, place_of(&places, turn, 0.5), f->turns.items[i][1]) -
		                         session_rank(last, place_of(&places, turn - 1, 0.5), f->turns.items[i][0])));
	}
	bool failed = steps.failed;
	if (!failed)
		quantile_table_of(&m->steps, &steps);
	samples_release(&steps);
	return failed ? -1 : 0;
}

int length_fit_end(struct length_fit *f, const struct quantile_table *turns, struct length_model *m,
                   struct ipf_error *err)
{
	bool failed = f->turns.failed || f->numbers.failed;
	*m = (struct length_model){.steps = {.count = 0}};
	for (int k = 0; k < LENGTH_CLASSES; k++) {
		struct length_class *c = &m->classes[k];
		const struct pairs *p = &f->classes[k];
		failed |= p->failed;
		if (f->places[k].count >= 100) {
			/* A sum of a uniform rank and `growth` times a uniform place has this correlation with the place. */
			double r = fmin(fmax(0, pairs_rank_correlation(&f->places[k])), 0.9);
			c->growth = r / sqrt(1 - r * r);
		}
		if (p->count && !failed)
			failed = table_of(&c->input, p, 0) < 0 || table_of(&c->output, p, 1) < 0 || join_ranks(c, p) < 0;
	}
	if (failed)
		return ipf_error_memory(err);
	return fit_steps(f, turns, m) < 0 ? ipf_error_memory(err) : 0;
}

void length_fit_release(struct length_fit *f)
{
	for (int k = 0; k < LENGTH_CLASSES; k++)
		pairs_release(&f->classes[k]);
	for (int k = 0; k < LENGTH_CLASSES; k++)
		pairs_release(&f->places[k]);
	pairs_release(&f->turns);
	pairs_release(&f->numbers);
}

/* ---- the file ---- */

json_t *length_model_json(const struct length_model *m)
{
	json_t *list = json_array();
	for (int k = 0; k < LENGTH_CLASSES; k++) {
		const struct length_class *c = &m->classes[k];
		if (c->input.count == 0)
			continue;
		json_t *joint = json_array();
		for (int i = 0; i < LENGTH_RANKS; i++) {
			double row[LENGTH_RANKS];
			for (int j = 0; j < LENGTH_RANKS; j++)
				row[j] = round(1000 * c->joint[i][j]);
			json_array_append_new(joint, model_numbers(row, LENGTH_RANKS));
		}
		json_t *map = json_pack("{s:i, s:I, s:o, s:o, s:o}", "from_turn", k ? 1 << (k - 1) : 0, "requests",
		                        (json_int_t)c->input.count, "input_tokens", quantile_table_json(&c->input),
		                        "output_tokens", quantile_table_json(&c->output), "joint_ranks", joint);
		if (!map) {
			json_decref(list);
			return NULL;
		}
		if (c->growth > 0)
			json_object_set_new(map, "growth", model_number(c->growth));
		json_array_append_new(list, map);
	}
	return list;
}

static int read_joint(struct length_class *c, const json_t *map, const char *name, struct ipf_error *err)
{
	const json_t *rows = json_object_get(map, "joint_ranks");
	char place[64];
	if (json_array_size(rows) != LENGTH_RANKS)
		return model_expected(rows, name, "joint_ranks", "16 lists of 16 numbers", err);
	for (size_t i = 0; i < LENGTH_RANKS; i++) {
		json_t *row = json_pack("{s:O}", "row", json_array_get(rows, i));
		struct model_place at = {row, place, 0, 1e15};
		size_t count = 0;
		double sum = 0;
		snprintf(place, sizeof place, "%s.joint_ranks[%zu]", name, i);
		int status = model_list(&at, "row", c->joint[i], LENGTH_RANKS, &count, err);
		json_decref(row);
		for (size_t j = 0; status == 0 && j < count; j++)
			sum += c->joint[i][j];
		if (status == 0 && (count != LENGTH_RANKS || sum <= 0))
			status = ipf_error_set(err, IPF_INPUT, "%s: expected 16 numbers, not all 0", place);
		if (status < 0)
			return -1;
		for (size_t j = 0; j < LENGTH_RANKS; j++)
			c->joint[i][j] /= sum;
	}
	return 0;
}

int length_model_read(struct length_model *m, const json_t *list, struct ipf_error *err)
{
	size_t i;
	json_t *map;
	char name[32];
	*m = (struct length_model){.steps = {.count = 0}};
	if (!json_is_array(list) || json_array_size(list) == 0)
		return model_expected(list, "lengths", "", "a list of at least one object", err);
	json_array_foreach(list, i, map)
	{
		double turn, requests;
		snprintf(name, sizeof name, "lengths[%zu]", i);
		struct model_place at = {map, name, 0, 1e15};
		if (model_need(&at, "from_turn", &turn, err) < 0)
			return -1;
		at.least = 1;
		if (model_need(&at, "requests", &requests, err) < 0)
			return -1;
		struct length_class *c = &m->classes[class_of((int64_t)turn)];
		at.least = 0;
		at.most = 10;
		if (model_optional(&at, "growth", &c->growth, err) < 0)
			return -1;
		at.most = LENGTH_MOST;
		if (quantile_table_read(&c->input, &at, "input_tokens", err) < 0 ||
		    quantile_table_read(&c->output, &at, "output_tokens", err) < 0 || read_joint(c, map, name, err) < 0)
			return -1;
		c->input.count = c->output.count = (int64_t)requests;
	}
	return 0;
}

/* ---- drawing ---- */

void length_draw_init(struct length_draw *d, const struct length_model *m, const struct quantile_table *turns,
                      uint64_t seed, uint64_t index)
{
	double later = 0;
	*d = (struct length_draw){.model = m};
	for (uint64_t k = 0; k < LENGTH_CLASSES; k++) {
		double requests = (double)m->classes[k].input.count;
		later += k ? requests : 0;
		for (uint64_t i = 0; i < LENGTH_RANKS; i++)
			strata_init(&d->columns[k][i], seed, "like joint lengths", (index * LENGTH_CLASSES + k) * LENGTH_RANKS + i,
			            requests / LENGTH_RANKS);
	}
	double first = (double)m->classes[0].input.count;
	strata_init(&d->first, seed, "like lengths", index, first);
	d->sessions = m->steps.count > 0 && quantile_table_at(&m->steps, 0.5) < STEADY;
	for (uint64_t i = 0; i < LENGTH_RANKS; i++)
		strata_init(&d->output[i], seed, "like answers", index * LENGTH_RANKS + i, (first + later) / LENGTH_RANKS);
	rng_init(&d->rng, seed, "like later lengths", index);
	find_places(&d->places, turns);
}

/* The class with lengths at or before this one; if there is none, the first one after it. */
static int class_with_lengths(const struct length_model *m, int k)
{
	int at = k;
	while (at > 0 && m->classes[at].input.count == 0)
		at--;
	while (at < LENGTH_CLASSES - 1 && m->classes[at].input.count == 0)
		at++;
	return at;
}

/* The rank at which a session begins. A few long sessions would decide the lengths, so it is the rarest so far of some
 * random ranks. */
static double first_rank(struct length_draw *d)
{
	if (!d->sessions)
		return strata_draw(&d->first);
	uint64_t best = rng_below(&d->rng, LENGTH_BALANCE);
	for (int i = 1; i < CANDIDATES; i++) {
		uint64_t other = rng_below(&d->rng, LENGTH_BALANCE);
		best = d->drawn[other] < d->drawn[best] ? other : best;
	}
	return ((double)best + strata_draw(&d->first)) / LENGTH_BALANCE;
}

/* A step to either side, reflected at both ends, which keeps ranks uniform. */
static double later_rank(struct length_draw *d)
{
	if (d->model->steps.count == 0)
		return rng_uniform(&d->rng);
	double step = quantile_table_at(&d->model->steps, rng_uniform(&d->rng));
	double rank = fabs(rng_below(&d->rng, 2) ? d->rank + step : d->rank - step);
	return rank >= 1 ? fmax(0, 2 - rank - 1e-9) : rank;
}

void length_draw_next(struct length_draw *d, int64_t turn, int64_t *input, int64_t *output)
{
	int k = class_with_lengths(d->model, class_of(turn)), column = 0;
	const struct length_class *c = &d->model->classes[k];
	d->rank = turn == 0 ? first_rank(d) : later_rank(d);
	d->drawn[(int)fmin(d->rank * LENGTH_BALANCE, LENGTH_BALANCE - 1)]++;
	d->within = turn == 0 ? rng_uniform(&d->rng) : d->within;
	double rank = d->rank;
	if (c->growth > 0)
		rank = rank_of_sum(rank + c->growth * place_of(&d->places, turn, d->within), c->growth);
	const double *row = c->joint[bin_of(rank)];
	double pick = strata_draw(&d->columns[k][bin_of(rank)]);
	while (column < LENGTH_RANKS - 1 && pick >= row[column])
		pick -= row[column++];
	*input = (int64_t)(quantile_table_at(&c->input, rank) + 0.5);
	*output = (int64_t)(quantile_table_at(&c->output, (column + strata_draw(&d->output[column])) / LENGTH_RANKS) + 0.5);
}

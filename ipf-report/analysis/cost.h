/* The cost of a run: currency by a price per hour, and energy of accelerators, per token and per request; and the same
 * for the good ones only.
 *
 *     struct price price;
 *     price_parse(&price, "EUR 2.5/gpu/h", &err);
 *     struct cost c;
 *     cost_find(&c, &run, &figures.total, &price);
 *     if (!c.no_price) … c.per_token, c.per_good_token …
 *     else puts(c.no_price);
 *
 * Currency is that of the time of the windows that rates refer to: the price of a second / completions in a second.
 * Energy is that of the accelerators from the first start to the last end of the requests of measured stages, over all
 * of their tokens. Good tokens are the output tokens of requests meeting every objective of theirs.
 */
#ifndef REPORT_COST_H
#define REPORT_COST_H

#include "figures/figures.h"
#include "results/run_data.h"

struct price {
	double per_hour;  /* NAN: none was given */
	bool per_gpu;     /* the price is for one accelerator; else for the whole endpoint */
	char currency[9]; /* "": none was given */
};

/* "2.5/h", "2.5/gpu/h", "EUR 2.5/h". IPF_USAGE. */
int price_parse(struct price *price, const char *text, struct ipf_error *err);

/* Absent figures are NAN. */
struct cost {
	int gpus;             /* sampled accelerators; 0: none */
	double per_hour;      /* for all of them, or the endpoint */
	const char *no_price; /* why the figures by price are not known; NULL: they are, or no price was given */
	double per_token, per_good_token, per_request, per_good_request;
	const char *no_good; /* why figures of good tokens and requests are not known; NULL: they are */
	char no_energy[160]; /* why the energy is not known; "": it is, or there are no accelerators */
	double energy_j, power_w, j_per_token, j_per_good_token, j_per_request;
};

void cost_find(struct cost *c, const struct run_data *run, const struct figures *total, const struct price *price);

#endif

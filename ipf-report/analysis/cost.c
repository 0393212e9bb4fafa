#include "analysis/cost.h"

#include "cli/units.h"
#include "figures/server_figures.h"
#include "series/energy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Above this share of the time, stages overlap too much for their energies to be added up. */
#define OVERLAP_MOST 0.01

int price_parse(struct price *price, const char *text, struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	const char *blank = strchr(text, ' '), *number = blank ? blank + 1 : text, *slash = strchr(number, '/');
	size_t currency = blank ? (size_t)(blank - text) : 0, digits = slash ? (size_t)(slash - number) : 0;
	char value[40];
	*price = (struct price){.per_hour = NAN};
	bool good = slash && digits < sizeof value && currency < sizeof price->currency && (!blank || currency > 0) &&
	            strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") >= currency;
	if (good) {
		memcpy(value, number, digits);
		value[digits] = 0;
		price->per_gpu = strcmp(slash, "/gpu/h") == 0;
		good = (price->per_gpu || strcmp(slash, "/h") == 0) && parse_number(value, &price->per_hour, &ignored) == 0 &&
		       price->per_hour >= 0;
	}
	if (!good)
		return ipf_error_set(err, IPF_USAGE,
		                     "expected a price per hour such as 2.5/h, 2.5/gpu/h or \"EUR 2.5/h\", got \"%s\"", text);
	memcpy(price->currency, text, currency);
	return 0;
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

/* A device that two sources report counts once: by the source of the first device of its host. */
static bool counts(const struct run_data *run, int device)
{
	const struct gpu_device *d = &run->accelerators.devices[device];
	for (int i = 0; i < device; i++) {
		const struct gpu_device *other = &run->accelerators.devices[i];
		if (strcmp(other->host, d->host) == 0 && strcmp(other->from, d->from) != 0)
			return false;
		if (strcmp(other->host, d->host) == 0 && strcmp(other->device, d->device) == 0)
			return false; /* two shards sampled it */
	}
	return true;
}

static const char *first_reason(json_t *entry)
{
	const char *reason = json_string_value(json_array_get(json_object_get(entry, "reasons"), 0));
	return reason ? reason : "no energy is recorded";
}

/* Adds the energy of one entry. False: it is not valid. */
static bool add_energy(struct cost *c, json_t *entry, double *from_ns, double *to_ns)
{
	json_t *energy = json_object_get(entry, "energy_j");
	if (!json_is_true(json_object_get(entry, "valid")) || !json_is_number(energy)) {
		char words[64];
		snprintf(c->no_energy, sizeof c->no_energy, "the energy is not valid: %s",
		         energy_reason_words(first_reason(entry), words));
		return false;
	}
	c->energy_j += json_number_value(energy);
	*from_ns = json_number_value(json_object_get(entry, "from_ns"));
	*to_ns = json_number_value(json_object_get(entry, "to_ns"));
	return true;
}

/* The energy of a device for the measured stages: of the whole run if all are measured, else of each of them. */
static bool add_device(struct cost *c, const struct run_data *run, int device, double *seconds)
{
	json_t *entry = accelerator_figures_of(run, device).energy, *stage;
	bool all_measured = true;
	double from, to, last_to = NAN, overlap = 0, sum = 0;
	size_t i;
	for (size_t s = 0; s < run->schedule.count; s++)
		all_measured &= run->schedule.stages[s].measured || run->schedule.stages[s].arrivals == 0;
	if (all_measured) {
		if (!add_energy(c, entry, &from, &to))
			return false;
		sum = to - from;
	}
	json_array_foreach(json_object_get(entry, "stages"), i, stage)
	{
		if (all_measured)
			break;
		if (!add_energy(c, stage, &from, &to))
			return false;
		overlap += !isnan(last_to) && last_to > from ? last_to - from : 0;
		sum += to - from;
		last_to = to;
	}
	*seconds = sum / 1e9;
	if (sum > 0 && overlap <= OVERLAP_MOST * sum)
		return true;
	snprintf(c->no_energy, sizeof c->no_energy, "%s",
	         sum > 0 ? "measured stages overlap in time, and others are not measured" : first_reason(entry));
	return false;
}

static void find_energy(struct cost *c, const struct run_data *run, const struct figures *total)
{
	double seconds = NAN;
	if (run->part_count > 1 && !run->shards)
		snprintf(c->no_energy, sizeof c->no_energy, "the results are repeats");
	for (int i = 0; i < run->accelerators.count && !c->no_energy[0]; i++)
		if (counts(run, i) && !add_device(c, run, i, &seconds))
			break;
	if (c->no_energy[0]) {
		c->energy_j = NAN;
		return;
	}
	c->power_w = ratio(c->energy_j, seconds);
	c->j_per_token = ratio(c->energy_j, total->output_total);
	c->j_per_request = ratio(c->energy_j, (double)total->ok);
	if (!c->no_good)
		c->j_per_good_token = ratio(c->energy_j, total->good_output_total);
}

void cost_find(struct cost *c, const struct run_data *run, const struct figures *total, const struct price *price)
{
	*c = (struct cost){.per_hour = NAN,
	                   .per_token = NAN,
	                   .per_good_token = NAN,
	                   .per_request = NAN,
	                   .per_good_request = NAN,
	                   .power_w = NAN,
	                   .j_per_token = NAN,
	                   .j_per_good_token = NAN,
	                   .j_per_request = NAN};
	for (int i = 0; i < run->accelerators.count; i++)
		c->gpus += counts(run, i);
	if (isnan(total->good_share)) /* an objective on a percentile is met by a run, not by a request */
		c->no_good = total->unmeasured > 0 ? "answers were not streamed"
		             : run->slo->count > 0 ? "no objective for each request is given (--slo ttft=500ms)"
		                                   : "no objectives are given (--slo)";
	else if (total->good == 0)
		c->no_good = "no request met its objectives";
	if (c->gpus > 0)
		find_energy(c, run, total);
	else
		c->energy_j = NAN;
	if (isnan(price->per_hour))
		return;
	if (price->per_gpu && c->gpus == 0) {
		c->no_price = "the number of GPUs is not known (ipf-collect --gpu)";
		return;
	}
	c->per_hour = price->per_hour * (price->per_gpu ? c->gpus : 1);
	c->no_price = total->no_throughput;
	if (c->no_price)
		return;
	double per_second = c->per_hour / 3600;
	c->per_token = ratio(per_second, total->output_per_s);
	c->per_request = ratio(per_second, total->completed);
	if (!c->no_good) {
		c->per_good_token = ratio(per_second, total->good_output_per_s);
		c->per_good_request = ratio(per_second, total->goodput);
	}
}

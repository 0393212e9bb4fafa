/* The energy of an accelerator over any span of a run, from samples of its power and of its energy counter, and whether
 * the figure can be trusted.
 *
 *     struct energy_series *series = energy_series_new();
 *     energy_series_add(series, t_ns, power_w, counter_j);    // a sample; NAN: the device does not report it
 *     struct energy e;
 *     energy_between(series, from_ns, to_ns, &e);
 *     if (!e.reasons) … e.energy_j / output_tokens …
 *
 * Energy is measured in two ways: as the difference of the device's counter between both ends of the span, and as the
 * integral of power (trapezoid rule). At the ends, between two samples, both are interpolated linearly. The counter is
 * the better figure, since it misses nothing between two samples; the integral checks it, and replaces it if there is
 * none or if it was reset or stood still.
 *
 * A counter that falls was reset, unless adding 2^32 mJ, 2^32 uJ or 2^32 units of 15.259 uJ (the counters of 32 bits in
 * use) agrees with the power within a factor of two: then it wrapped and is continued.
 *
 * Memory is bounded: from ENERGY_POINTS samples on, every second one is dropped, as often as needed. The dropped ones
 * stay in the sums, so only the ends of a span become less sharp.
 *
 * Everything is pure: no clock, no input or output. Times are nanoseconds on any one clock.
 */
#ifndef IPF_ENERGY_H
#define IPF_ENERGY_H

#include "json/jout.h"

#include <stdbool.h>
#include <stdint.h>

#define ENERGY_POINTS 8192

/* The limits of the checks. */
#define ENERGY_SAMPLES_LEAST  10   /* samples within the span */
#define ENERGY_COVERAGE_LEAST 0.99 /* share of the span between samples that are not too far apart */
#define ENERGY_GAP_SHARE      0.05 /* samples are too far apart beyond this share of the span or 10 s, … */
#define ENERGY_GAP_MOST_NS    INT64_C(10000000000)
#define ENERGY_GAP_INTERVALS  3    /* … whichever is less, but never within 3 usual (median) intervals */
#define ENERGY_TOLERANCE      0.10 /* counter against integral: twice the 5 % that NVIDIA states for power */

/* Why an energy is not valid: bits of energy.reasons. */
enum energy_reason {
	ENERGY_NO_SAMPLES,       /* no sample of the device at all */
	ENERGY_NOT_REPORTED,     /* samples, but neither power nor a counter in them */
	ENERGY_TOO_FEW_SAMPLES,  /* fewer than 10 within the span */
	ENERGY_BEGAN_LATE,       /* the first sample is long after the span's begin */
	ENERGY_VANISHED,         /* the last sample is long before the span's end: the device was lost */
	ENERGY_GAP,              /* samples within the span are too far apart */
	ENERGY_COVERAGE,         /* less than 99 % of the span is covered */
	ENERGY_COUNTER_RESET,    /* the counter began anew; energy is the integral */
	ENERGY_COUNTER_STALE,    /* the counter stood still for long, although power was drawn; energy is the integral */
	ENERGY_COUNTER_MISMATCH, /* counter and integral differ by more than 10 % */
	ENERGY_REASONS,
};
/* "no_samples", "not_reported", …: as in the results. */
extern const char *const energy_reason_names[ENERGY_REASONS];
/* "too few samples" of "too_few_samples", for people. An unknown name is shortened to fit, and NULL is "".
 */
const char *energy_reason_words(const char *name, char words[64]);

struct energy {
	double energy_j;              /* the one to use; NAN: unknown */
	double counter_j, integral_j; /* by each way; NAN: unknown */
	bool by_counter;              /* energy_j is counter_j */
	double coverage;              /* 0 … 1 */
	int64_t largest_gap_ns;       /* the longest time within the span without a sample */
	int64_t samples;              /* within the span, after the dropping of samples */
	int64_t wraps;                /* the counter's, in the whole series */
	unsigned reasons;             /* 1u << enum energy_reason; 0: valid */
};

struct energy_series;

struct energy_series *energy_series_new(void); /* NULL: out of memory */
void energy_series_free(struct energy_series *series);
/* Adds a sample. One that is not after the previous one is ignored, as is a value that is negative or not finite.
 * -1: out of memory, and the sample is missing. */
int energy_series_add(struct energy_series *series, int64_t t_ns, double power_w, double counter_j);

/* The energy from `from_ns` to `to_ns`. A NULL series has no samples. */
void energy_between(const struct energy_series *series, int64_t from_ns, int64_t to_ns, struct energy *energy);

/* The power while the device has nothing to do: the mean from the first sample to `before_ns` (the start of the first
 * request) if there are at least three samples before it; otherwise the 5 % quantile of the power between two samples,
 * if there are at least 20. Otherwise NAN. */
enum energy_idle { ENERGY_IDLE_UNKNOWN, ENERGY_IDLE_BEFORE, ENERGY_IDLE_LOWEST };
double energy_idle_power(const struct energy_series *series, int64_t before_ns, enum energy_idle *how);

/* Writes the members "energy_j", "energy_counter_j", "energy_integral_j", "coverage", "largest_gap_ns", "samples",
 * "wraps", "valid" and "reasons" into an open map; unknown ones are left out. */
void energy_write(const struct energy *energy, struct jout *to);

#endif

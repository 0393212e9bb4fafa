#include "fit/twin_make.h"

#include "fit/twin_balance.h"
#include "fit/twin_check.h"
#include "fit/twin_fit.h"

#include <math.h>

#define NEAR        0.05 /* a distance that no other fit can make much less */
#define SPANS_BELOW 0.5  /* as a share of the distance by steps, at most, for spans to be taken */

static int make_by(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps, bool by_spans,
                   double *distance, struct ipf_error *err)
{
	*distance = INFINITY;
	twin_init(twin);
	if (twin_fit(twin, data, steps, by_spans, err) < 0 || twin_check_servers(twin, data, steps, err) < 0 ||
	    twin_check_errors(twin, data, steps, distance, err) < 0) {
		*distance = INFINITY;
		twin_release(twin);
		return -1;
	}
	return 0;
}

/* Steps that cannot be told apart, by the time of whole answers. */
static int try_spans(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps, double distance,
                     struct ipf_error *err)
{
	struct twin other;
	struct ipf_error why = {0};
	double by_spans;
	if (make_by(&other, data, steps, true, &by_spans, &why) < 0) {
		if (why.kind == IPF_SYSTEM)
			*err = why;
		return err->kind ? -1 : 0;
	}
	if (by_spans >= SPANS_BELOW * distance) {
		twin_release(&other);
		return 0;
	}
	*err = (struct ipf_error){0};
	twin_release(twin);
	*twin = other;
	return 0;
}

int twin_make(struct twin *twin, const struct twin_data *data, struct ipf_error *err)
{
	struct twin_steps steps;
	double distance;
	if (twin_steps_find(&steps, data, err) < 0)
		return -1;
	int result = make_by(twin, data, &steps, false, &distance, err);
	if (result == 0 ? distance > NEAR : err->kind == IPF_INPUT)
		result = try_spans(twin, data, &steps, distance, err);
	if (result == 0 && ((result = twin_check_kind(twin, err)) < 0 || (result = twin_balance_fit(twin, data, err)) < 0))
		twin_release(twin);
	twin_steps_release(&steps);
	return result;
}

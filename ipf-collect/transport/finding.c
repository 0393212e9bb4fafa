#include "transport/finding.h"

#include <math.h>

json_t *finding_number(double value)
{
	return json_real(round(value * 1e6) / 1e6);
}

bool finding_add(json_t *list, const struct finding *f)
{
	double share = f->of > 0 ? (double)f->affected / (double)f->of : 0;
	json_t *one = f->evidence ? json_pack("{s:s, s:s, s:I, s:I, s:s, s:o, s:s, s:s, s:O}", "finding", f->kind, "detail",
	                                      f->detail, "affected", (json_int_t)f->affected, "of", (json_int_t)f->of,
	                                      "unit", f->unit, "share", finding_number(share), "can_be", f->can_be,
	                                      "advice", f->advice, "evidence", f->evidence)
	                          : NULL;
	json_decref(f->evidence);
	if (one && f->doubt && json_object_set_new(one, "doubt", json_true()) < 0) {
		json_decref(one);
		return false;
	}
	return one && json_array_append_new(list, one) == 0;
}

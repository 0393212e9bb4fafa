/* The checked requests of the trace one after another, with nothing else in flight: the answers with which those under
 * load are compared. */
#include "kinds/stage_kind.h"

#include "absent.h"

static const struct stage_key keys[] = {
	STAGE_KEY("n", "COUNT", KEY_COUNT, n, "only the first so many of them (default: all)"),
	STAGE_KEY("times", "COUNT", KEY_COUNT, times, "send all of them this many times (default: 1)"),
	KEY_NAME,
	KEY_END,
};

static int alone_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->times != IPF_ABSENT && stage->times > ALONE_TIMES_MOST)
		return ipf_error_set(err, IPF_USAGE, "times: expected at most %d, got %lld", ALONE_TIMES_MOST,
		                     (long long)stage->times);
	return 0;
}

const struct stage_kind kind_alone = {
	.name = "alone",
	.summary = "canaries and repeated requests of the trace one at a time, not measured",
	.type = STAGE_CLOSED,
	.keys = keys,
	.check = alone_check,
};

#include "kinds/stage_kind.h"

static const struct stage_key keys[] = {
	REQUIRED_KEY("for", "TIME", KEY_DURATION, for_ns, "length of the stage"),
	KEY_NAME,
	KEY_END,
};

const struct stage_kind kind_rest = {
	.name = "rest",
	.summary = "a pause: no arrivals, not measured",
	.type = STAGE_REST,
	.keys = keys,
};

#include "kinds/stage_kind.h"

static const struct stage_key keys[] = {KEY_N, KEY_FOR, KEY_SLOTS, KEY_NAME, KEY_PHASES, KEY_END};

const struct stage_kind kind_burst = {
	.name = "burst",
	.summary = "all arrivals at once; without for=, the stage ends with its last answer",
	.type = STAGE_AT_ONCE,
	.keys = keys,
};

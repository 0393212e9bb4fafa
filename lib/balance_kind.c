#include "balance_kind.h"

#include <stddef.h>

const char *const balance_names[] = {
	[BALANCE_ROUND_ROBIN] = "round-robin", [BALANCE_LEAST] = "least", [BALANCE_SESSION] = "session", NULL};

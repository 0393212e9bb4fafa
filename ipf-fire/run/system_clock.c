#include "run/system_clock.h"

#include "clock.h"

#include <stdbool.h>
#include <sys/timex.h>

json_t *system_clock_json(void)
{
	struct timex t = {.modes = 0};
	int state = adjtimex(&t);
	if (state < 0)
		return NULL;
	bool synchronised = state != TIME_ERROR && !(t.status & STA_UNSYNC);
	json_t *json = json_pack("{s:b}", "synchronised", synchronised);
	if (!json || !synchronised)
		return json;
	int64_t offset_ns = t.status & STA_NANO ? t.offset : t.offset * NS_PER_US;
	int bad = json_object_set_new(json, "offset_ns", json_integer(offset_ns)) |
	          json_object_set_new(json, "estimated_error_ns", json_integer(t.esterror * NS_PER_US)) |
	          json_object_set_new(json, "max_error_ns", json_integer(t.maxerror * NS_PER_US));
	if (!bad)
		return json;
	json_decref(json);
	return NULL;
}

#include "results/cache_condition.h"

#include "stream/provenance.h"
#include "verdict/declared_cache.h"

#include <string.h>

static const char *const states[] = {"cold", "warm", "as-is"};
enum { STATES = sizeof states / sizeof *states };

/* A bit for each state that a part declares. */
static unsigned states_of(const struct run_data *run)
{
	unsigned found = 0;
	json_t *from;
	size_t k;
	for (int i = 0; i < run->part_count; i++)
		json_array_foreach(
			json_object_get(run->parts[i].header, "from"), k,
			from) for (int s = 0; s < STATES;
		               s++) if (!strcmp(states[s], declared_cache_state(provenance_find(from, "records"))))
			found |= 1U << s;
	return found ? found : 1U << (STATES - 1);
}

bool cache_condition_mixed(const struct run_data *run)
{
	unsigned found = states_of(run);
	return (found & (found - 1)) != 0;
}

/* Stages before which the cache was emptied, the first one excepted: that is the state at the start. */
static int cold_stages(const struct run_data *run)
{
	int count = 0;
	for (size_t i = 1; i < run->schedule.count; i++)
		count += run->schedule.stages[i].cold;
	return count;
}

json_t *cache_condition_text(const struct run_data *run)
{
	struct buffer text = {0};
	unsigned found = states_of(run);
	int stages = cold_stages(run);
	for (int s = 0; s < STATES; s++)
		if (found & (1U << s))
			buffer_format(&text, "%s%s", text.len ? " or " : "", states[s]);
	if (stages)
		buffer_format(&text, ", %scold before %d later stage%s", strcmp(text.data, "cold") ? "" : "and again ", stages,
		              stages > 1 ? "s" : "");
	json_t *json = text.failed ? NULL : json_string(text.data);
	buffer_release(&text);
	return json;
}

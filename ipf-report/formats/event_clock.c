#include "formats/event_clock.h"

#include "cli/units.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The greatest of the clients; -1: none says it. */
static int64_t latest(json_t *run, const char *key)
{
	json_t *client;
	size_t i;
	int64_t most = -1;
	json_array_foreach(json_object_get(run, "clients"), i, client)
	{
		json_t *value = json_object_get(json_object_get(client, "delay_ns"), key);
		if (json_is_integer(value) && json_integer_value(value) > most)
			most = json_integer_value(value);
	}
	return most;
}

bool event_clock_say(json_t *run, struct event_clock *say)
{
	const char *stamps = json_string_value(json_object_get(run, "stamps"));
	int64_t p99 = latest(run, "p99"), most = latest(run, "max");
	char a[32], b[32];
	if (!stamps)
		return false;
	if (strcmp(stamps, "user") == 0)
		snprintf(say->text, sizeof say->text, "clock of ipf-fire, when it read the data");
	else if (strcmp(stamps, "kernel") != 0)
		return false;
	else if (p99 < 0)
		snprintf(say->text, sizeof say->text, "receive timestamps of the kernel");
	else
		snprintf(say->text, sizeof say->text,
		         "receive timestamps of the kernel; ipf-fire read the data %s later at p99, at most %s later",
		         format_duration(p99, a), format_duration(most, b));
	return true;
}

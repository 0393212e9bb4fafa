#include "verdict/capture_health.h"

#include "stream/observed.h"
#include "verdict/verdict_limits.h"

#include <math.h>
#include <string.h>

static int64_t count_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	const int64_t count = json_is_integer(value) ? (int64_t)json_integer_value(value) : 0;
	return verdict_valid_count(count) ? count : 0;
}

/* Requests at the edges of the capture are missing in part whatever its quality. */
static void judge_requests(const json_t *capture, int64_t requests, int64_t unseen, struct verdict_check *check)
{
	const json_t *damaged = json_object_get(capture, "damaged");
	const int64_t edges = count_of(damaged, OBSERVED_OPEN) + count_of(damaged, OBSERVED_BEGAN_BEFORE);
	const int64_t lost = unseen > edges ? unseen - edges : 0;
	char share[32];
	if (!requests)
		return;
	if (lost == 0)
		verdict_check_add(check, VERDICT_OK, "no request lacks packets");
	else
		verdict_check_add(
			check, verdict_above((double)lost / (double)requests, VERDICT_UNSEEN_DOUBTFUL, VERDICT_UNSEEN_INVALID),
			"%s of %s requests (%s) lack packets, and are in no latency", VERDICT_NUMBER(lost),
			VERDICT_NUMBER(requests), verdict_percent((double)lost / (double)requests, share));
	if (unseen - lost > 0)
		verdict_check_add(check, VERDICT_OK, "%s began before the capture or ended after it",
		                  VERDICT_NUMBER(unseen - lost));
}

static void judge_packets(const json_t *capture, struct verdict_check *check)
{
	const int64_t packets = count_of(capture, "packets"), dropped = count_of(capture, "dropped"),
				  cut = count_of(capture, "cut_packets"), gaps = count_of(capture, "lost_gaps"),
				  backwards_ns = count_of(capture, "backwards_ns");
	char text[32];
	if (dropped > 0)
		verdict_check_add(
			check, verdict_above((double)dropped / (double)(packets + dropped), VERDICT_DROPPED_DOUBTFUL, INFINITY),
			"the capture dropped %s packets: a larger buffer (tcpdump -B) keeps them", VERDICT_NUMBER(dropped));
	if (cut > 0)
		verdict_check_add(check, VERDICT_OK, "%s of %s packets are cut (tcpdump -s 0 keeps them whole)",
		                  VERDICT_NUMBER(cut), VERDICT_NUMBER(packets));
	if (gaps > 0)
		verdict_check_add(check, VERDICT_OK, "%s gap%s of %s bytes in connections", VERDICT_NUMBER(gaps),
		                  verdict_plural(gaps), VERDICT_NUMBER(count_of(capture, "lost_bytes")));
	if (backwards_ns > VERDICT_BACKWARDS_NS)
		verdict_check_add(check, VERDICT_DOUBTFUL, "the clock of the packets goes back by up to %s",
		                  verdict_duration((double)backwards_ns / 1e6, text));
}

/* Connections with bytes of which nothing could be read. */
static void judge_connections(const json_t *capture, struct verdict_check *check)
{
	const char *name, *most = NULL;
	json_t *value;
	int64_t all = 0, unread = 0, largest = 0;
	json_object_foreach(json_object_get(capture, "connections"), name, value)
	{
		const int64_t count = count_of(json_object_get(capture, "connections"), name);
		if (strcmp(name, OBSERVED_SILENT) == 0)
			continue;
		all += count;
		if (strcmp(name, OBSERVED_HTTP1) == 0 || strcmp(name, OBSERVED_HTTP2) == 0)
			continue;
		unread += count;
		if (count > largest) {
			largest = count;
			most = name;
		}
	}
	if (most)
		verdict_check_add(check, verdict_above((double)unread / (double)all, VERDICT_UNREAD_CONNECTIONS, INFINITY),
		                  "%s of %s connections were not understood, most of them %s", VERDICT_NUMBER(unread),
		                  VERDICT_NUMBER(all), most);
}

bool capture_health_judge(const json_t *capture, int64_t requests, int64_t unseen, struct verdict_check *check)
{
	static const char *const counts[] = {"packets", "dropped", "cut_packets", "lost_gaps", "lost_bytes"};
	if (!capture)
		verdict_check_add(check, VERDICT_UNKNOWN,
		                  "the end of the records is missing, which says what the capture lacked");
	judge_requests(capture, requests, unseen, check);
	judge_packets(capture, check);
	judge_connections(capture, check);
	bool ok = verdict_count(check->figures, "unseen", unseen);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		if (json_object_get(capture, counts[i]))
			ok = ok && verdict_count(check->figures, counts[i], count_of(capture, counts[i]));
	return ok;
}

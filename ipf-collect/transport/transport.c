#include "transport/transport.h"

#include "transport/connection_use.h"
#include "transport/event_pace.h"
#include "transport/replica_balance.h"

#include <stdlib.h>

struct transport {
	const struct schedule *schedule;
	struct event_pace pace;
	struct connection_use use;
	struct replica_balance balance;
	struct jdoc doc;
};

struct transport *transport_new(void)
{
	return calloc(1, sizeof(struct transport));
}

void transport_free(struct transport *t)
{
	if (!t)
		return;
	replica_balance_release(&t->balance);
	jdoc_release(&t->doc);
	free(t);
}

void transport_begin(struct transport *t, const json_t *header, const struct schedule *schedule)
{
	t->schedule = schedule;
	connection_use_begin(&t->use, json_string_value(json_object_get(header, "connections")));
	replica_balance_begin(&t->balance, json_object_get(header, "targets"));
}

/* Stages the schedule does not name count as measured, as they do for the verdict. */
static bool is_measured(const struct transport *t, int64_t stage)
{
	return stage < 0 || (uint64_t)stage >= t->schedule->count || t->schedule->stages[stage].measured;
}

void transport_add(struct transport *t, const struct observation *o)
{
	bool measured = is_measured(t, o->row->stage);
	connection_use_add(&t->use, o, measured);
	if (!measured)
		return;
	event_pace_add(&t->pace, o);
	replica_balance_add(&t->balance, o);
}

void transport_client(struct transport *t, struct slice client)
{
	struct ipf_error ignored = {0};
	int64_t in_flight;
	if (jdoc_parse(&t->doc, client.data, client.len, &ignored) == 0 &&
	    jdoc_to_int(&t->doc, jdoc_get(&t->doc, JDOC_ROOT, "in_flight"), &in_flight))
		connection_use_in_flight(&t->use, in_flight);
}

json_t *transport_findings(struct transport *t)
{
	json_t *list = json_array();
	if (list && event_pace_judge(&t->pace, list) && connection_use_judge(&t->use, list) &&
	    replica_balance_judge(&t->balance, list))
		return list;
	json_decref(list);
	return NULL;
}

#include "sections/objectives_line.h"

#include "document/shown_numbers.h"
#include "json_report/json_path.h"
#include "sections/sentence.h"

#include <math.h>
#include <string.h>

const char *objectives_load(struct document *d, json_t *load)
{
	const char *text = json_at(load, "users")      ? sentence(d, load, "{users#} user{s:users}")
	                   : json_at(load, "offered")  ? sentence(d, load, "{offered}/s")
	                   : json_at(load, "achieved") ? sentence(d, load, "{achieved}/s")
	                                               : sentence(d, load, "{completed}/s");
	return text ? text : "an unknown load";
}

/* " 39.5/s in sweep 40/s" */
static const char *place(struct document *d, json_t *load)
{
	const char *where = json_at(load, "users") ? "[, {completed}/s] in {stage!}[ of {run!}]"
	                                           : " in {stage!}[, {begin_s} s after its beginning]";
	return doc_say(d, "%s%s", objectives_load(d, load), phrase(d, load, where));
}

static double load_at(json_t *load)
{
	static const char *const kinds[] = {"users", "offered", "achieved", "completed"};
	double value = NAN;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && isnan(value); i++)
		value = figure_at(load, kinds[i]);
	return value;
}

static bool is_judged(json_t *load)
{
	const char *state = text_at(load, "state");
	return state && (strcmp(state, "met") == 0 || strcmp(state, "missed") == 0);
}

/* "3 rates not judged (sweep 10/s: 38 requests, and p99 needs 459)"; "": all were */
static const char *not_judged(struct document *d, json_t *loads, bool users)
{
	json_t *load, *first = NULL;
	size_t count = 0, i;
	json_array_foreach(loads, i, load)
	{
		if (is_judged(load))
			continue;
		first = first ? first : load;
		count++;
	}
	if (!first)
		return "";
	const char *why = text_at(first, "left_out");
	if (!why)
		why = sentence(d, first, "{requests#} request{s:requests}, and p{percentile#} needs {needed#}");
	return doc_say(d, "%zu %s%s not judged (%s: %s)", count, users ? "number" : "rate", plural((double)count),
	               words_at(first, "stage"), why ? why : "no request to compare");
}

static const char *met_part(struct document *d, json_t *o, bool users)
{
	json_t *met = json_at(o, "met"), *loads = json_at(o, "loads");
	json_t *last = json_array_get(loads, json_array_size(loads) - 1);
	const char *most = json_at(o, "missed") || load_at(met) < load_at(last) ? ""
	                   : users                                              ? ", the most users"
	                                                                        : ", the highest rate";
	return doc_say(d, "met up to %s%s%s", place(d, met), most,
	               figure_at(o, "headroom") >= 0 ? phrase(d, o, "[, {headroom%} below the capacity]") : "");
}

static const char *missed_part(struct document *d, json_t *o, bool users)
{
	json_t *missed = json_at(o, "missed"), *lowest = json_at(o, "loads/0");
	if (json_at(o, "met"))
		return doc_say(d, "; first missed at %s%s", place(d, missed),
		               phrase(d, o,
		                      users ? "[; on a straight line between them until {between} users]"
		                            : "[; on a straight line between them until {between}/s]"));
	if (load_at(missed) > load_at(lowest))
		return doc_say(d, "first missed at %s, the lowest judged one", place(d, missed));
	return doc_say(d, "missed at the lowest %s, %s", users ? "number of users" : "rate", place(d, missed));
}

const char *objectives_line(struct document *d, json_t *o)
{
	const char *by = text_at(o, "by");
	if (!by)
		return NULL;
	const bool users = strcmp(by, "users") == 0;
	const char *rest = not_judged(d, json_at(o, "loads"), users);
	const char *met = json_at(o, "met") ? met_part(d, o, users) : "";
	const char *missed = json_at(o, "missed") ? missed_part(d, o, users) : "";
	json_t *again = json_at(o, "met_above");
	const char *more = again ? doc_say(d, "; met again at %s", place(d, again)) : "";
	return doc_say(d, "%s%s%s%s%s", met, missed, more, *rest && (*met || *missed) ? "; " : "", rest);
}

/* How many answers are the requested JSON, and the faults of the others. */
#include "sections/groups.h"
#include "sections/sentence.h"

#include "document/shown_numbers.h"

#include <math.h>

enum { REASONS_BRIEF = 4, GROUPS_SHOWN = 12 };

/* "schema ×30: /age: below the minimum 0". The most frequent come first. */
static void tell_faults(const struct telling *t)
{
	json_t *faults = json_at(t->report, "invalid_outputs"), *fault;
	int64_t rest = 0;
	char a[40];
	size_t i;
	json_array_foreach(faults, i, fault)
	{
		const char *text = text_at(fault, "text");
		json_int_t count = json_integer_value(json_at(fault, "count"));
		if (t->brief && i >= REASONS_BRIEF && json_array_size(faults) > REASONS_BRIEF + 1)
			rest += count;
		else
			doc_fact(t->d, doc_say(t->d, "%s ×%s", words_at(fault, "kind"), show_count(count, a)), "%s",
			         text ? text : "for other reasons");
	}
	if (rest > 0)
		doc_fact(t->d, NULL, "%s more for other reasons", show_count(rest, a));
}

/* A fact for each stage or member of a grouping, if they are several. */
static void tell_block(const struct telling *t, const char *name, json_t *block)
{
	tell(
		t, name, block,
		"{output_check/share%} valid, {output_check/valid#} of {output_check/of#} (95 % interval {output_check/low%} to "
		"{output_check/high%})");
}

static void tell_stages(const struct telling *t)
{
	json_t *stages = json_at(t->report, "stages"), *stage;
	size_t i, measured = 0;
	json_array_foreach(stages, i, stage) measured += json_is_true(json_at(stage, "measured"));
	if (measured < 2)
		return;
	json_array_foreach(stages, i, stage) if (json_is_true(json_at(stage, "measured")))
		tell_block(t, doc_say(t->d, "stage %s", text_at(stage, "name")), stage);
}

static void tell_groups(const struct telling *t)
{
	struct group group;
	char name[200];
	for (void *at = group_first(t, &group); at; at = group_next(t, &group, at)) {
		const char *member;
		json_t *block;
		size_t shown = 0;
		json_object_foreach(group.members, member, block) if (shown++ < GROUPS_SHOWN)
			tell_block(t, doc_say(t->d, "%s %s", group.what, group_member(&group, member, name)), block);
	}
}

void section_output(const struct telling *t)
{
	json_t *check = json_at(t->total, "output_check");
	if (!check)
		return;
	struct doc_part *part = tell(
		t, NULL, check, "{share%} of the answers are valid, {valid#} of {of#} (95 % interval {low%} to {high%})");
	if (figure_at(check, "share") < 1)
		part->tone = TONE_BAD;
	tell(t, NULL, check, "{faults/undecided#} more undecided: the check reached a limit");
	tell_stages(t);
	tell_groups(t);
	tell_faults(t);
}

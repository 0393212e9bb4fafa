#include "verdict/answer_health.h"

#include "absent.h"
#include "stats/exact_shares.h"
#include "verdict/verdict_limits.h"

#include <stdlib.h>
#include <string.h>

const char *const answer_phase_names[ANSWER_PHASES] = {"before", "load", "after"};

/* ---- counting ---- */

static void forget_pairs(struct answer_health *a)
{
	seen_numbers_release(&a->alone);
	seen_numbers_release(&a->alone_wrong);
	seen_numbers_release(&a->load);
	seen_numbers_release(&a->load_wrong);
}

int answer_health_part(struct answer_health *a, const struct schedule *schedule)
{
	const size_t count = schedule ? schedule->count : 0;
	if (!schedule || !schedule->shards) /* a repeat of the run has pairs of its own */
		forget_pairs(a);
	unsigned char *phases = realloc(a->phase_of, count ? count : 1);
	if (!phases)
		return -1;
	bool load = false;
	for (size_t i = 0; i < count; i++) {
		const struct schedule_stage *s = &schedule->stages[i];
		const bool alone = s->kind && strcmp(s->kind, "alone") == 0;
		load = load || s->measured;
		phases[i] = alone && !load ? ANSWERS_BEFORE
		            : alone        ? ANSWERS_AFTER
		            : s->measured  ? ANSWERS_LOAD
		                           : ANSWER_PHASES;
	}
	a->phase_of = phases;
	a->stages = count;
	return 0;
}

static enum answer_phase phase_of(const struct answer_health *a, const struct result *row)
{
	return (uint64_t)row->stage < a->stages ? (enum answer_phase)a->phase_of[row->stage]
	       : a->stages                      ? ANSWER_PHASES
	                                        : ANSWERS_LOAD;
}

/* The first answer alone and the first under load make a pair, whichever comes first. */
static void note_pair(struct answer_health *a, bool load, bool wrong, int64_t number)
{
	struct seen_numbers *own = load ? &a->load : &a->alone, *own_wrong = load ? &a->load_wrong : &a->alone_wrong;
	const struct seen_numbers *other = load ? &a->alone : &a->load,
							  *other_wrong = load ? &a->alone_wrong : &a->load_wrong;
	if (number >= SEEN_NUMBERS_MOST || seen_numbers_add(own, number))
		return;
	if (wrong)
		seen_numbers_add(own_wrong, number);
	if (!seen_numbers_has(other, number))
		return;
	const bool was_wrong = seen_numbers_has(other_wrong, number);
	a->pairs++;
	if (wrong != was_wrong)
		*(wrong == load ? &a->worse : &a->better) += 1;
}

static void count_answer(struct answer_counts *n, const struct result *row)
{
	const enum result_judged judged = result_judged(row);
	const enum result_compared compared = result_compared(row);
	if (judged < RESULT_JUDGEMENTS)
		n->judged[judged]++;
	if (compared < RESULT_COMPARISONS && result_check(row) == RESULT_CHECK_REPEAT)
		n->compared[compared]++;
	n->finish_differs += row->other_finish.data != NULL;
	struct answer_lengths *lengths = result_check(row) == RESULT_CHECK_REPEAT ? &n->repeats : &n->canaries;
	lengths->cut += slice_is(row->finish, "\"length\"");
	lengths->empty += row->events == 0;
	if (verdict_valid_count(row->output_tokens)) {
		lengths->tokens += row->output_tokens;
		lengths->counted++;
	}
}

void answer_health_row(struct answer_health *a, const struct result *row, int64_t number)
{
	const enum answer_phase phase = phase_of(a, row);
	const enum result_check check = result_check(row);
	if (phase == ANSWER_PHASES)
		return;
	a->requests += phase == ANSWERS_LOAD;
	if (row->ok && row->other_mark.data) {
		a->other_marks++;
		a->other_marks_unchecked += check == RESULT_CHECKS;
	}
	a->loops += phase == ANSWERS_LOAD && row->ok && row->loop_bytes != IPF_ABSENT;
	if (check == RESULT_CHECKS)
		return;
	a->phases[phase].requests++;
	if (!row->ok)
		return;
	count_answer(&a->phases[phase], row);
	const enum result_judged judged = result_judged(row);
	if (number >= 0 && (judged == RESULT_RIGHT || judged == RESULT_WRONG))
		note_pair(a, phase == ANSWERS_LOAD, judged == RESULT_WRONG, number);
}

bool answer_health_any(const struct answer_health *a)
{
	bool any = a->other_marks > 0;
	for (int i = 0; i < ANSWER_PHASES; i++)
		any |= a->phases[i].requests > 0;
	return any;
}

bool answer_health_failed(const struct answer_health *a)
{
	return a->alone.failed || a->alone_wrong.failed || a->load.failed || a->load_wrong.failed;
}

/* ---- judging ---- */

double answer_health_p(const struct answer_health *a)
{
	return share_sign_p(a->worse, a->better);
}

int64_t answer_health_pairs(const struct answer_health *base, const struct answer_health *new, int64_t *worse,
                            int64_t *better)
{
	int64_t pairs = 0;
	*worse = *better = 0;
	for (int64_t n = 0; (uint64_t)n < 64 * base->load.words; n++) {
		if (!seen_numbers_has(&base->load, n) || !seen_numbers_has(&new->load, n))
			continue;
		const bool was_wrong = seen_numbers_has(&base->load_wrong, n), is_wrong = seen_numbers_has(&new->load_wrong, n);
		pairs++;
		*worse += is_wrong && !was_wrong;
		*better += was_wrong && !is_wrong;
	}
	return pairs;
}

/* Unrounded: it may be very small. */
static bool put_p(json_t *to, const char *name, const struct answer_health *a)
{
	return json_object_set_new(to, name, json_real(answer_health_p(a))) == 0;
}

static int64_t wrong_of(const struct answer_counts *n)
{
	return n->judged[RESULT_WRONG];
}

static int64_t judged_of(const struct answer_counts *n)
{
	return n->judged[RESULT_WRONG] + n->judged[RESULT_RIGHT];
}

/* Canaries alone, before and after. */
static struct answer_counts alone_of(const struct answer_health *a)
{
	struct answer_counts all = a->phases[ANSWERS_BEFORE];
	for (int i = 0; i < RESULT_JUDGEMENTS; i++)
		all.judged[i] += a->phases[ANSWERS_AFTER].judged[i];
	return all;
}

static void judge_wrong(const struct answer_health *a, struct verdict_check *check)
{
	const struct answer_counts *load = &a->phases[ANSWERS_LOAD], alone = alone_of(a);
	const double p = answer_health_p(a);
	char share[32];
	if (!judged_of(load))
		return;
	verdict_percent((double)wrong_of(load) / (double)judged_of(load), share);
	if (!judged_of(&alone))
		verdict_check_add(check, VERDICT_OK, "%s of %s canaries are wrong (%s); alone they were not sent (stage alone)",
		                  VERDICT_NUMBER(wrong_of(load)), VERDICT_NUMBER(judged_of(load)), share);
	else if (p < VERDICT_ANSWERS_P)
		verdict_check_add(check, VERDICT_DOUBTFUL,
		                  "%s of %s canaries are wrong under load (%s), %s of %s alone: beyond chance (p = %.2g)",
		                  VERDICT_NUMBER(wrong_of(load)), VERDICT_NUMBER(judged_of(load)), share,
		                  VERDICT_NUMBER(wrong_of(&alone)), VERDICT_NUMBER(judged_of(&alone)), p);
	else
		verdict_check_add(check, VERDICT_OK, "%s of %s canaries are wrong under load (%s), %s of %s alone",
		                  VERDICT_NUMBER(wrong_of(load)), VERDICT_NUMBER(judged_of(load)), share,
		                  VERDICT_NUMBER(wrong_of(&alone)), VERDICT_NUMBER(judged_of(&alone)));
}

bool answer_health_judge(const struct answer_health *a, struct verdict_check *check)
{
	if (!answer_health_any(a))
		return true;
	if (a->other_marks > 0)
		verdict_check_add(check, VERDICT_DOUBTFUL,
		                  "%s answer%s the code of another request's canary: answers are mixed up",
		                  VERDICT_NUMBER(a->other_marks), a->other_marks == 1 ? " has" : "s have");
	judge_wrong(a, check);
	json_t *f = check->figures;
	return verdict_count(f, "canaries", judged_of(&a->phases[ANSWERS_LOAD])) &&
	       verdict_count(f, "wrong_canaries", wrong_of(&a->phases[ANSWERS_LOAD])) &&
	       (!a->pairs || put_p(f, "wrong_p", a)) && (!a->other_marks || verdict_count(f, "mixed_up", a->other_marks));
}

/* ---- the report's member ---- */

static bool lengths_json(const struct answer_lengths *l, const char *of, json_t *to)
{
	json_t *json = l->counted + l->cut + l->empty ? json_object() : NULL;
	if (l->counted + l->cut + l->empty == 0)
		return true;
	bool ok = json && verdict_count(json, "cut", l->cut) && verdict_count(json, "empty", l->empty);
	if (l->counted)
		ok = ok && verdict_figure(json, "output_tokens", (double)l->tokens / (double)l->counted);
	return json_object_set_new(to, of, json) == 0 && ok;
}

static bool counts_json(const struct answer_counts *n, json_t *to)
{
	const int64_t canaries = judged_of(n), wrong = wrong_of(n);
	const struct exact_interval i = share_exact_interval(wrong, canaries);
	bool ok = verdict_count(to, "requests", n->requests) && verdict_count(to, "canaries", canaries);
	if (canaries)
		ok = ok && verdict_count(to, "wrong", wrong) &&
		     verdict_figure(to, "wrong_share", (double)wrong / (double)canaries) &&
		     verdict_figure(to, "wrong_low", i.low) && verdict_figure(to, "wrong_high", i.high);
	if (n->judged[RESULT_UNDECIDED])
		ok = ok && verdict_count(to, "undecided", n->judged[RESULT_UNDECIDED]);
	const int64_t differ = n->compared[RESULT_DIFFERS] + n->compared[RESULT_NEAR_TIE],
				  compared = differ + n->compared[RESULT_SAME];
	const struct exact_interval d = share_exact_interval(differ, compared);
	if (compared)
		ok = ok && verdict_count(to, "compared", compared) && verdict_count(to, "different", differ) &&
		     verdict_count(to, "near_ties", n->compared[RESULT_NEAR_TIE]) &&
		     verdict_figure(to, "different_low", d.low) && verdict_figure(to, "different_high", d.high);
	return ok && verdict_count(to, "finish_differs", n->finish_differs) && lengths_json(&n->canaries, "canary", to) &&
	       lengths_json(&n->repeats, "repeat", to);
}

json_t *answer_health_json(const struct answer_health *a)
{
	json_t *json = json_object();
	bool ok = json != NULL;
	for (int i = 0; ok && i < ANSWER_PHASES; i++) {
		json_t *phase = a->phases[i].requests ? json_object() : NULL;
		if (a->phases[i].requests)
			ok = phase && counts_json(&a->phases[i], phase) && json_object_set(json, answer_phase_names[i], phase) == 0;
		json_decref(phase);
	}
	ok = ok && verdict_count(json, "requests", a->requests) && verdict_count(json, "other_marks", a->other_marks) &&
	     verdict_count(json, "other_marks_unchecked", a->other_marks_unchecked) &&
	     verdict_count(json, "loops", a->loops) && verdict_count(json, "pairs", a->pairs);
	if (a->pairs)
		ok = ok && verdict_count(json, "only_alone_right", a->worse) &&
		     verdict_count(json, "only_under_load_right", a->better) && put_p(json, "p", a);
	if (ok)
		return json;
	json_decref(json);
	return NULL;
}

void answer_health_release(struct answer_health *a)
{
	free(a->phase_of);
	forget_pairs(a);
}

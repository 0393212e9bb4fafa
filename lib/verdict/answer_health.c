#include "verdict/answer_health.h"

#include "absent.h"
#include "hash_index.h"
#include "stats/exact_shares.h"
#include "text_hash.h"
#include "verdict/verdict_limits.h"

#include <stdlib.h>
#include <string.h>

const char *const answer_phase_names[ANSWER_PHASES] = {"before", "load", "after"};

/* ---- counting ---- */

int answer_health_part(struct answer_health *a, const struct schedule *schedule)
{
	const size_t count = schedule ? schedule->count : 0;
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
	a->part++;
	a->trace = schedule ? text_hash_mixed(slice_of(schedule->trace_sha256)) : 0;
	return 0;
}

static enum answer_phase phase_of(const struct answer_health *a, const struct result *row)
{
	return (uint64_t)row->stage < a->stages ? (enum answer_phase)a->phase_of[row->stage]
	       : a->stages                      ? ANSWER_PHASES
	                                        : ANSWERS_LOAD;
}

/* The first answer of each run, alone and under load. */
static void note_answer(struct answer_health *a, bool load, bool wrong, int64_t req)
{
	const uint64_t key = hash_index_key(a->trace ^ hash_index_key((uint64_t)req));
	if (!hash_index_room(a->canaries, a->canaries_room, a->canaries_count + 1)) {
		a->failed = true;
		return;
	}
	struct canary_answers *c = hash_index_find(a->canaries, a->canaries_room, key);
	a->canaries_count += !c->key;
	c->key = key;
	int32_t *part = load ? &c->load_part : &c->alone_part;
	if (*part == a->part)
		return;
	*part = a->part;
	*(load ? &c->load : &c->alone) += 1;
	*(load ? &c->load_wrong : &c->alone_wrong) += wrong;
}

static struct mark_count *mark_of(struct answer_health *a, struct slice mark)
{
	if (!hash_index_room(a->marks, a->marks_room, a->marks_count + 1)) {
		a->failed = true;
		return NULL;
	}
	const uint64_t key = text_hash_mixed(mark);
	struct mark_count *found = hash_index_find(a->marks, a->marks_room, key ? key : 1);
	a->marks_count += !found->key;
	found->key = key ? key : 1;
	return found;
}

/* The marks that a canary expects. */
static void note_own_marks(struct answer_health *a, const struct result *row)
{
	struct ipf_error ignored = {0};
	struct slice mark;
	if (!row->tags.data || jdoc_parse(&a->doc, row->tags.data, row->tags.len, &ignored) < 0 ||
	    !canary_tag_read(&a->doc, JDOC_ROOT, &a->expected)) {
		ipf_error_clear(&ignored);
		return;
	}
	for (size_t at = 0; (mark = canary_mark_find(buffer_all(&a->expected.answer), &at)).data;) {
		struct mark_count *found = mark_of(a, mark);
		if (found)
			found->own = true;
	}
}

static void note_other_mark(struct answer_health *a, const struct result *row, enum result_check check)
{
	if (!row->ok || row->other_mark.len < 2)
		return;
	struct mark_count *found = mark_of(a, (struct slice){row->other_mark.data + 1, row->other_mark.len - 2});
	if (!found)
		return;
	found->answers++;
	found->unchecked += check == RESULT_CHECKS;
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

void answer_health_row(struct answer_health *a, const struct result *row)
{
	const enum answer_phase phase = phase_of(a, row);
	const enum result_check check = result_check(row);
	if (check < RESULT_CHECK_REPEAT)
		note_own_marks(a, row);
	note_other_mark(a, row, check);
	if (phase == ANSWER_PHASES)
		return;
	a->requests += phase == ANSWERS_LOAD;
	a->loops += phase == ANSWERS_LOAD && row->ok && row->loop_bytes != IPF_ABSENT;
	if (check == RESULT_CHECKS)
		return;
	a->phases[phase].requests++;
	if (!row->ok)
		return;
	count_answer(&a->phases[phase], row);
	const enum result_judged judged = result_judged(row);
	if (row->req != IPF_ABSENT && (judged == RESULT_RIGHT || judged == RESULT_WRONG))
		note_answer(a, phase == ANSWERS_LOAD, judged == RESULT_WRONG, row->req);
}

struct mark_count answer_health_mixed(const struct answer_health *a)
{
	struct mark_count all = {0};
	for (size_t i = 0; i < a->marks_room; i++)
		if (a->marks[i].key && a->marks[i].own) {
			all.answers += a->marks[i].answers;
			all.unchecked += a->marks[i].unchecked;
		}
	return all;
}

bool answer_health_any(const struct answer_health *a)
{
	bool any = false;
	for (int i = 0; i < ANSWER_PHASES; i++)
		any |= a->phases[i].requests > 0;
	return any;
}

bool answer_health_failed(const struct answer_health *a)
{
	return a->failed || a->expected.answer.failed;
}

/* ---- judging ---- */

/* Compares two shares of wrong answers. */
static void add_pair(struct answer_pairs *p, int64_t wrong1, int64_t all1, int64_t wrong2, int64_t all2)
{
	if (!all1 || !all2)
		return;
	p->pairs++;
	p->worse += wrong2 * all1 > wrong1 * all2;
	p->better += wrong2 * all1 < wrong1 * all2;
}

struct answer_pairs answer_health_pairs(const struct answer_health *a)
{
	struct answer_pairs p = {0};
	for (size_t i = 0; i < a->canaries_room; i++) {
		const struct canary_answers *c = &a->canaries[i];
		if (c->key)
			add_pair(&p, c->alone_wrong, c->alone, c->load_wrong, c->load);
	}
	return p;
}

struct answer_pairs answer_health_between(const struct answer_health *base, const struct answer_health *new)
{
	struct answer_pairs p = {0};
	for (size_t i = 0; i < base->canaries_room && new->canaries_room; i++) {
		const struct canary_answers *b = &base->canaries[i];
		const struct canary_answers *n = b->key ? hash_index_find(new->canaries, new->canaries_room, b->key) : NULL;
		if (n && n->key)
			add_pair(&p, b->load_wrong, b->load, n->load_wrong, n->load);
	}
	return p;
}

double answer_health_p(const struct answer_health *a)
{
	const struct answer_pairs p = answer_health_pairs(a);
	return share_sign_p(p.worse, p.better);
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

/* Canaries that the model fails anyway show no harm of the load. */
static void judge_alone(const struct answer_health *a, struct verdict_check *check)
{
	const struct answer_counts alone = alone_of(a);
	if (judged_of(&alone) && 2 * wrong_of(&alone) > judged_of(&alone))
		verdict_check_add(check, VERDICT_OK, "the model fails %s of %s canaries alone: they say little about the load",
		                  VERDICT_NUMBER(wrong_of(&alone)), VERDICT_NUMBER(judged_of(&alone)));
}

bool answer_health_judge(const struct answer_health *a, struct verdict_check *check)
{
	if (!answer_health_any(a))
		return true;
	const int64_t mixed = answer_health_mixed(a).answers, pairs = answer_health_pairs(a).pairs;
	if (mixed > 0)
		verdict_check_add(check, VERDICT_DOUBTFUL,
		                  "%s answer%s the code of another request's canary: answers are mixed up",
		                  VERDICT_NUMBER(mixed), mixed == 1 ? " has" : "s have");
	judge_wrong(a, check);
	judge_alone(a, check);
	json_t *f = check->figures;
	return verdict_count(f, "canaries", judged_of(&a->phases[ANSWERS_LOAD])) &&
	       verdict_count(f, "wrong_canaries", wrong_of(&a->phases[ANSWERS_LOAD])) &&
	       (!pairs || put_p(f, "wrong_p", a)) && (!mixed || verdict_count(f, "mixed_up", mixed));
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
	const int64_t differ = n->compared[RESULT_DIFFERS] + n->compared[RESULT_NEAR_TIE] + n->compared[RESULT_CLEAR],
				  compared = differ + n->compared[RESULT_SAME];
	const struct exact_interval d = share_exact_interval(differ, compared);
	if (compared)
		ok = ok && verdict_count(to, "compared", compared) && verdict_count(to, "different", differ) &&
		     verdict_figure(to, "different_low", d.low) && verdict_figure(to, "different_high", d.high);
	if (n->compared[RESULT_NEAR_TIE] + n->compared[RESULT_CLEAR])
		ok = ok && verdict_count(to, "near_ties", n->compared[RESULT_NEAR_TIE]) &&
		     verdict_count(to, "clear", n->compared[RESULT_CLEAR]);
	return ok && verdict_count(to, "finish_differs", n->finish_differs) && lengths_json(&n->canaries, "canary", to) &&
	       lengths_json(&n->repeats, "repeat", to);
}

json_t *answer_health_json(const struct answer_health *a)
{
	const struct answer_pairs p = answer_health_pairs(a);
	const struct mark_count mixed = answer_health_mixed(a);
	json_t *json = json_object();
	bool ok = json != NULL;
	for (int i = 0; ok && i < ANSWER_PHASES; i++) {
		json_t *phase = a->phases[i].requests ? json_object() : NULL;
		if (a->phases[i].requests)
			ok = phase && counts_json(&a->phases[i], phase) && json_object_set(json, answer_phase_names[i], phase) == 0;
		json_decref(phase);
	}
	ok = ok && verdict_count(json, "requests", a->requests) && verdict_count(json, "other_marks", mixed.answers) &&
	     verdict_count(json, "other_marks_unchecked", mixed.unchecked) && verdict_count(json, "loops", a->loops) &&
	     verdict_count(json, "pairs", p.pairs);
	if (p.pairs)
		ok = ok && verdict_count(json, "only_alone_right", p.worse) &&
		     verdict_count(json, "only_under_load_right", p.better) && put_p(json, "p", a);
	if (ok)
		return json;
	json_decref(json);
	return NULL;
}

void answer_health_release(struct answer_health *a)
{
	free(a->phase_of);
	free(a->canaries);
	free(a->marks);
	jdoc_release(&a->doc);
	canary_expected_release(&a->expected);
}

#include "compare/fail_if.h"

#include "absent.h"
#include "cli/units.h"
#include "compare/compare_words.h"
#include "document/shown_numbers.h"
#include "safe_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = {[FAIL_IF_SIGNIFICANT] = "",
                                    [FAIL_IF_ESTIMATE] = "estimate",
                                    [FAIL_IF_CERTAIN] = "certain",
                                    [FAIL_IF_POSSIBLE] = "possible"};

/* Takes the next word, up to a blank or an operator, into `word`. */
static const char *next_word(const char *at, char word[32])
{
	size_t len;
	at += strspn(at, " ");
	len = *at == '<' || *at == '>' ? 1 : strcspn(at, " <>");
	snprintf(word, 32, "%.*s", (int)(len < 31 ? len : 31), at);
	return at + len;
}

static int find_figure(struct fail_if *condition, const char *name, struct ipf_error *err)
{
	for (size_t i = 0; i < COMPARED_FIGURES; i++)
		if (strcmp(compared_figures[i].name, name) == 0) {
			condition->figure = &compared_figures[i];
			return 0;
		}
	return ipf_error_set(
		err, IPF_USAGE,
		"expected a figure such as ttft.p99, e2e.mean, requests, output_tokens, inputs, goodput, failures, "
		"refused, valid or cached, got \"%s\"",
		name);
}

static int parse_limit(struct fail_if *condition, const char *text, struct ipf_error *err)
{
	const bool sign = *text == '+' || *text == '-', share = strchr(text, '%') != NULL;
	const bool of_share = figure_is_share(condition->figure), time = strcmp(condition->figure->unit, "ms") == 0;
	const double direction = *text == '-' ? -1 : 1;
	const char *number = text + sign;
	int64_t ns;
	condition->form = !sign ? FAIL_IF_VALUE : share && !of_share ? FAIL_IF_CHANGE : FAIL_IF_DIFFERENCE;
	if (share && !sign && !of_share)
		return ipf_error_set(err, IPF_USAGE, "a change needs a sign: +%s or -%s", text, text);
	if (of_share && !share)
		return ipf_error_set(err, IPF_USAGE, "expected a share such as 1%% or +1%%, got \"%s\"", text);
	if (share) {
		/* a change may exceed its base */
		char plain[32];
		snprintf(plain, sizeof plain, "%.*s", (int)strcspn(number, "%"), number);
		if (number[strcspn(number, "%") + 1] != '\0' || parse_rate(plain, &condition->limit, err) < 0)
			return ipf_error_set(err, IPF_USAGE, "expected a change such as +5%%, got \"%s\"", text);
		condition->limit /= 100;
	} else if (time) {
		if (parse_duration(number, &ns, err) < 0)
			return -1;
		condition->limit = (double)ns / 1e6;
	} else if (parse_rate(number, &condition->limit, err) < 0) {
		return -1;
	}
	condition->limit *= direction;
	return 0;
}

int fail_if_parse(struct fail_if *condition, const char *text, struct ipf_error *err)
{
	char word[32];
	*condition = (struct fail_if){.text = text};
	const char *at = next_word(text, word);
	if (find_figure(condition, word, err) < 0)
		return -1;
	at = next_word(at, word);
	if (strcmp(word, "<") != 0 && strcmp(word, ">") != 0)
		return ipf_error_set(err, IPF_USAGE, "expected < or > after %s, as in \"%s > +5%%\"", condition->figure->name,
		                     condition->figure->name);
	condition->above = *word == '>';
	at = next_word(at, word);
	if (parse_limit(condition, word, err) < 0)
		return -1;
	at = next_word(at, word);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], word) == 0 && at[strspn(at, " ")] == '\0') {
			condition->word = (enum fail_if_word)i;
			if (condition->form == FAIL_IF_VALUE && *word)
				return ipf_error_set(err, IPF_USAGE, "\"%s\" requires a change, with a sign", word);
			return 0;
		}
	return ipf_error_set(err, IPF_USAGE, "expected estimate, certain, possible or nothing after the limit, got \"%s\"",
	                     word);
}

static bool beyond(const struct fail_if *condition, double value)
{
	return condition->above ? value > condition->limit : value < condition->limit;
}

/* From the unit of the change to the limit's. */
static double in_unit(const struct fail_if *condition, const struct difference *d, double change)
{
	return condition->form == FAIL_IF_DIFFERENCE && d->relative ? change * d->base : change;
}

/* Why the figures do not answer the condition; NULL: they do. */
static const char *open_question(const struct fail_if *condition, const struct difference *d, double change, double p)
{
	const bool ends = condition->above ? difference_has_high(d) : difference_has_low(d);
	if (condition->word == FAIL_IF_SIGNIFICANT && d->missing == NOISE_FEW)
		return "too few independent requests to know the noise";
	if (condition->word == FAIL_IF_SIGNIFICANT && d->missing == NOISE_BURSTY)
		return "too short for the bursts of this load to know the noise";
	if (condition->word == FAIL_IF_CERTAIN)
		return isnan(d->low) || isnan(d->high) ? "the change has no interval" : NULL;
	if (condition->word != FAIL_IF_SIGNIFICANT || isnan(p))
		return NULL;
	if (beyond(condition, change))
		return p < DIFFERENCE_ALPHA ? NULL : "the change is beyond the limit, but noise alone can explain it";
	return !ends ? "too few requests or runs to say how large the change can be" : NULL;
}

static bool is_failed(const struct fail_if *condition, const struct difference *d, double change, double p)
{
	const double low = in_unit(condition, d, d->low), high = in_unit(condition, d, d->high);
	const bool known = !isnan(low) && !isnan(high);
	switch (condition->word) {
	case FAIL_IF_ESTIMATE:
		return beyond(condition, change);
	case FAIL_IF_CERTAIN:
		return known && beyond(condition, low) && beyond(condition, high);
	case FAIL_IF_POSSIBLE:
		return !known || beyond(condition, low) || beyond(condition, high);
	case FAIL_IF_SIGNIFICANT:
		break;
	}
	return beyond(condition, change) && (isnan(p) ? d->missing == NOISE_STATED : p < DIFFERENCE_ALPHA);
}

/* The change in words, with the interval and p of the table: "+5 %, 95 % interval +2 to +8 %, p = 0.010 (10 to 10.5
 * ms)". `p` is adjusted for the conditions: said if it decides otherwise. */
static void tell_change(const struct difference *d, const char *unit, double p, char *text, size_t size)
{
	char significance[120] = "", change[40], interval[64], own[40], adjusted[40], base[40], value[40];
	if (!isnan(p)) {
		compare_p(d->p, own);
		snprintf(significance, sizeof significance, ", p %c %s", *own == '<' ? '<' : '=', own + (*own == '<'));
		if (d->p < DIFFERENCE_ALPHA && p >= DIFFERENCE_ALPHA)
			snprintf(significance + strlen(significance), 60, ", %s for all conditions", compare_p(p, adjusted));
	}
	compare_change(d, change);
	if (isnan(d->low))
		snprintf(text, size, "%s, noise not known", change);
	else
		snprintf(text, size, "%s, 95 %% interval %s%s", change,
		         strcmp(compare_interval(d, interval), "-") == 0 ? "without bounds" : interval, significance);
	if (d->relative)
		snprintf(text + strlen(text), size - strlen(text), " (%s to %s %s)", show_number(d->base, base),
		         show_number(d->value, value), unit);
}

/* "; +5% needs 12 runs of each side": how many runs like these show a change of the limit. */
static void tell_needed(const struct fail_if *condition, const struct difference *d, size_t family, char *text,
                        size_t size)
{
	char number[40], limit[32];
	const char *sign = strpbrk(condition->text, "<>");
	next_word(sign + 1, limit);
	const double effect = fabs(condition->form == FAIL_IF_DIFFERENCE && d->relative ? condition->limit / d->base
	                                                                                : condition->limit);
	int64_t runs = difference_runs_for(d, effect, family);
	const int have = d->runs[SIDE_BASE] < d->runs[SIDE_NEW] ? d->runs[SIDE_BASE] : d->runs[SIDE_NEW];
	if (isnan(d->p))
		snprintf(text, size, "; how many runs %s needs is known from 3 of each side", limit);
	else if (runs == IPF_ABSENT)
		snprintf(text, size, "; %s needs more than %s runs of each side", limit, show_count(RUNS_MOST, number));
	else
		snprintf(text, size, "; %s needs %s runs of each side", limit,
		         show_count(runs > have ? runs : have + 1, number));
}

void fail_if_judge(struct fail_if *condition, const struct difference *d, double p, size_t family)
{
	const char *unit = *condition->figure->unit ? condition->figure->unit : "%";
	char text[320], number[40], needed[120] = "";
	if (!d || isnan(d->value) || (condition->form != FAIL_IF_VALUE && isnan(d->change))) {
		condition->failed = true;
		snprintf(condition->detail, sizeof condition->detail, "not known: a side does not have the figure");
		return;
	}
	if (condition->form == FAIL_IF_VALUE) {
		condition->failed = beyond(condition, d->value);
		snprintf(condition->detail, sizeof condition->detail, "new is %s %s",
		         show_number(d->relative ? d->value : 100 * d->value, number), unit);
		return;
	}
	const double change = condition->form == FAIL_IF_DIFFERENCE ? d->value - d->base : d->change;
	const char *why = open_question(condition, d, change, p);
	condition->failed = is_failed(condition, d, change, p);
	condition->undecided = why != NULL;
	tell_change(d, unit, p, text, sizeof text);
	if (why)
		tell_needed(condition, d, family, needed, sizeof needed);
	snprintf(condition->detail, sizeof condition->detail, "%s%s%s%s", why ? why : "", why ? ": " : "", text, needed);
}

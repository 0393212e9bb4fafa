/* A set is written as items if that is possible: \p{L} stays \p{L}, followed by the characters that Unicode assigned
 * since. If it is not possible (intersections, nested classes, \P{…} beside other items, a category that lost a
 * character), the set is computed and written as ranges.
 */
#include "tokenizer/character_set.h"

#include "tokenizer/code_point.h"
#include "tokenizer/regex_additions.h"
#include "tokenizer/unicode.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* ---- ranges ---- */

void character_set_write_range(uint32_t first, uint32_t last, struct buffer *out)
{
	buffer_format(out, "\\x{%x}", first);
	if (last != first)
		buffer_format(out, "-\\x{%x}", last);
}

static bool bit(const uint64_t *bits, uint32_t c)
{
	return bits[c / 64] >> (c % 64) & 1;
}

void character_set_write_bits(const uint64_t *bits, struct buffer *out)
{
	bool any = false;
	buffer_byte(out, '[');
	for (uint32_t c = 0; c < 0x110000; c++) {
		if (!bit(bits, c) || (c >= 0xd800 && c < 0xe000))
			continue;
		uint32_t last = c;
		while (last + 1 < 0x110000 && bit(bits, last + 1) && !(last + 1 >= 0xd800 && last + 1 < 0xe000))
			last++;
		character_set_write_range(c, last, out);
		any = true;
		c = last;
	}
	if (!any) /* a class cannot be empty */
		buffer_text(out, "^\\x{0}-\\x{10ffff}");
	buffer_byte(out, ']');
}

/* Asks PCRE2 which characters a class matches. */
static int match_all(const struct translator *t, const struct buffer *class, uint64_t *bits)
{
	struct buffer text = {0};
	size_t offset = 0;
	int number, status = -1;
	PCRE2_SIZE where;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR) class->data, class->len, PCRE2_UTF | PCRE2_UCP, &number, &where,
	                                 NULL);
	pcre2_match_data *data = code ? pcre2_match_data_create(1, NULL) : NULL;

	if (!code) {
		translator_refuse(t, t->at, "unknown property");
		goto out;
	}
	pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	for (uint32_t c = 0; c < 0x110000; c++)
		if (c < 0xd800 || c >= 0xe000) {
			char *to = buffer_reserve(&text, 4);
			if (to)
				text.len += utf8_put(to, c);
		}
	if (!data || text.failed)
		goto out;
	while (pcre2_match(code, (PCRE2_SPTR)text.data, text.len, offset, PCRE2_NO_UTF_CHECK, data, NULL) > 0) {
		const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
		for (const char *at = text.data + ends[0]; at < text.data + ends[1];) {
			uint32_t c = utf8_next(&at);
			bits[c / 64] |= UINT64_C(1) << (c % 64);
		}
		offset = ends[1];
	}
	status = 0;
out:
	pcre2_match_data_free(data);
	pcre2_code_free(code);
	buffer_release(&text);
	return status;
}

int character_set_fill(const struct translator *t, const struct character_set *set, uint64_t *bits)
{
	struct buffer class = {0};
	uint64_t *own = calloc(SET_WORDS, sizeof *own);
	buffer_byte(&class, '[');
	buffer_slice(&class, buffer_all(&set->items));
	buffer_text(&class, "]+");
	int status = own && !class.failed ? match_all(t, &class, own) : -1;
	if (status == 0) {
		const struct unicode_pin *pins;
		size_t n = unicode_pins(&pins);
		for (size_t i = 0; set->inexact && i < n; i++)
			for (uint32_t c = pins[i].first; c <= pins[i].last; c++)
				if (!CATEGORY_IN(pins[i].category, set->categories))
					own[c / 64] &= ~(UINT64_C(1) << (c % 64));
		for (size_t i = 0; i < SET_WORDS; i++)
			bits[i] |= set->negated ? ~own[i] : own[i];
	}
	free(own);
	buffer_release(&class);
	return status;
}

/* ---- named sets ---- */

static void add_pins(struct character_set *set, uint32_t categories, unsigned flags)
{
	const struct unicode_pin *pins;
	size_t n = unicode_pins(&pins);
	for (size_t i = 0; i < n; i++)
		if (CATEGORY_IN(pins[i].category, categories) || pins[i].flags & flags)
			character_set_write_range(pins[i].first, pins[i].last, &set->items);
}

/* Adds categories as PCRE2 has them, and the newer characters. Only one of the characters of Unicode 14 has changed its
 * category since, from Mn to Mc; all others in the pins were Cn. */
static void add_categories(struct character_set *set, uint32_t categories)
{
	static const char names[][3] = {
		[UTF8PROC_CATEGORY_LU] = "Lu", [UTF8PROC_CATEGORY_LL] = "Ll", [UTF8PROC_CATEGORY_LT] = "Lt",
		[UTF8PROC_CATEGORY_LM] = "Lm", [UTF8PROC_CATEGORY_LO] = "Lo", [UTF8PROC_CATEGORY_MN] = "Mn",
		[UTF8PROC_CATEGORY_MC] = "Mc", [UTF8PROC_CATEGORY_ME] = "Me", [UTF8PROC_CATEGORY_ND] = "Nd",
		[UTF8PROC_CATEGORY_NL] = "Nl", [UTF8PROC_CATEGORY_NO] = "No", [UTF8PROC_CATEGORY_PC] = "Pc",
		[UTF8PROC_CATEGORY_PD] = "Pd", [UTF8PROC_CATEGORY_PS] = "Ps", [UTF8PROC_CATEGORY_PE] = "Pe",
		[UTF8PROC_CATEGORY_PI] = "Pi", [UTF8PROC_CATEGORY_PF] = "Pf", [UTF8PROC_CATEGORY_PO] = "Po",
		[UTF8PROC_CATEGORY_SM] = "Sm", [UTF8PROC_CATEGORY_SC] = "Sc", [UTF8PROC_CATEGORY_SK] = "Sk",
		[UTF8PROC_CATEGORY_SO] = "So", [UTF8PROC_CATEGORY_ZS] = "Zs", [UTF8PROC_CATEGORY_ZL] = "Zl",
		[UTF8PROC_CATEGORY_ZP] = "Zp", [UTF8PROC_CATEGORY_CC] = "Cc", [UTF8PROC_CATEGORY_CF] = "Cf",
		[UTF8PROC_CATEGORY_CS] = "Cs", [UTF8PROC_CATEGORY_CO] = "Co", [UTF8PROC_CATEGORY_CN] = "Cn",
	};
	static const struct {
		uint32_t all;
		char name;
	} groups[] = {{CATEGORIES_L, 'L'}, {CATEGORIES_M, 'M'}, {CATEGORIES_N, 'N'},
	              {CATEGORIES_P, 'P'}, {CATEGORIES_S, 'S'}, {CATEGORIES_Z, 'Z'}};
	const uint32_t cases = CATEGORIES_CASED;
	uint32_t left = categories;

	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		if ((left & groups[i].all) == groups[i].all) {
			buffer_format(&set->items, "\\p{%c}", groups[i].name);
			left &= ~groups[i].all;
		}
	for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
		if (left >> k & 1)
			buffer_format(&set->items, "\\p{%s}", names[k]);
	set->inexact = (left & (CATEGORY_BIT(CN) | CATEGORY_BIT(MN))) != 0;
	set->categories = categories;
	set->cased = (categories & cases) && (categories & cases) != cases;
	add_pins(set, categories, 0);
}

static const struct {
	const char *name, *longer;
	uint32_t categories;
} category_names[] = {
	{"l", "letter", CATEGORIES_L},
	{"lu", "uppercaseletter", CATEGORY_BIT(LU)},
	{"ll", "lowercaseletter", CATEGORY_BIT(LL)},
	{"lt", "titlecaseletter", CATEGORY_BIT(LT)},
	{"lm", "modifierletter", CATEGORY_BIT(LM)},
	{"lo", "otherletter", CATEGORY_BIT(LO)},
	{"lc", "casedletter", CATEGORIES_CASED},
	{"m", "mark", CATEGORIES_M},
	{"mn", "nonspacingmark", CATEGORY_BIT(MN)},
	{"mc", "spacingmark", CATEGORY_BIT(MC)},
	{"me", "enclosingmark", CATEGORY_BIT(ME)},
	{"n", "number", CATEGORIES_N},
	{"nd", "decimalnumber", CATEGORY_BIT(ND)},
	{"nl", "letternumber", CATEGORY_BIT(NL)},
	{"no", "othernumber", CATEGORY_BIT(NO)},
	{"p", "punctuation", CATEGORIES_P},
	{"pc", "connectorpunctuation", CATEGORY_BIT(PC)},
	{"pd", "dashpunctuation", CATEGORY_BIT(PD)},
	{"ps", "openpunctuation", CATEGORY_BIT(PS)},
	{"pe", "closepunctuation", CATEGORY_BIT(PE)},
	{"pi", "initialpunctuation", CATEGORY_BIT(PI)},
	{"pf", "finalpunctuation", CATEGORY_BIT(PF)},
	{"po", "otherpunctuation", CATEGORY_BIT(PO)},
	{"s", "symbol", CATEGORIES_S},
	{"sm", "mathsymbol", CATEGORY_BIT(SM)},
	{"sc", "currencysymbol", CATEGORY_BIT(SC)},
	{"sk", "modifiersymbol", CATEGORY_BIT(SK)},
	{"so", "othersymbol", CATEGORY_BIT(SO)},
	{"z", "separator", CATEGORIES_Z},
	{"zs", "spaceseparator", CATEGORY_BIT(ZS)},
	{"zl", "lineseparator", CATEGORY_BIT(ZL)},
	{"zp", "paragraphseparator", CATEGORY_BIT(ZP)},
	{"punct", "punct", CATEGORIES_P},
	{"c", "other", CATEGORIES_C},
	{"cc", "control", CATEGORY_BIT(CC)},
	{"cf", "format", CATEGORY_BIT(CF)},
	{"cn", "unassigned", CATEGORY_BIT(CN)},
	{"co", "privateuse", CATEGORY_BIT(CO)},
	{"cs", "surrogate", CATEGORY_BIT(CS)},
};

#define SPACES  "\\t-\\r \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define CIRCLED "\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}"
#define SUPERSCRIPTS                                                                                                   \
	"\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}" /* in \w and \p{Word}, not in [\w], [\p{Word}] and [[:word:]] */
#define CATEGORIES_SEEN                                                                                                \
	(CATEGORIES_L | CATEGORIES_M | CATEGORIES_N | CATEGORIES_P | CATEGORIES_S | CATEGORY_BIT(CF) | CATEGORY_BIT(CO))

/* Names that both brackets and \p{…} have; if they differ, the meaning in brackets. */
static const struct named_set {
	const char *name, *longer, *items;
	uint32_t categories;
	unsigned pins;
} named_sets[] = {
	{"alpha", "alphabetic", "\\p{Alphabetic}" NEW_ALPHABETIC, 0, PIN_ALPHABETIC},
	{"upper", "uppercase", "\\p{Uppercase}", 0, PIN_UPPERCASE},
	{"lower", "lowercase", "\\p{Lowercase}" NEW_LOWERCASE, 0, PIN_LOWERCASE},
	{"alnum", "alnum", "\\p{Alphabetic}" NEW_ALPHABETIC, CATEGORY_BIT(ND), PIN_ALPHABETIC},
	{"digit", "digit", "", CATEGORY_BIT(ND), 0},
	{"space", "whitespace", SPACES, 0, 0},
	{"punct", "punct", "", CATEGORIES_P | CATEGORIES_S, 0},
	{"blank", "blank", "\\t", CATEGORY_BIT(ZS), 0},
	{"cntrl", "cntrl", "", CATEGORY_BIT(CC), 0},
	{"xdigit", "xdigit", "0-9A-Fa-f", 0, 0},
	{"word", "word", CIRCLED, CATEGORIES_WORD, 0},
	{"graph", "graph", "", CATEGORIES_SEEN, 0},
	{"print", "print", "", CATEGORIES_SEEN | CATEGORY_BIT(ZS), 0},
	{"any", "any", "\\x{0}-\\x{10ffff}", 0, 0},
	{"ascii", "ascii", "\\x{0}-\\x{7f}", 0, 0},
};

static int add_named(struct character_set *set, const char *name)
{
	for (size_t i = 0; i < sizeof named_sets / sizeof *named_sets; i++) {
		const struct named_set *n = &named_sets[i];
		if (strcmp(name, n->name) != 0 && strcmp(name, n->longer) != 0)
			continue;
		buffer_text(&set->items, n->items);
		if (n->categories)
			add_categories(set, n->categories);
		add_pins(set, 0, n->pins);
		set->cased = n->pins & (PIN_UPPERCASE | PIN_LOWERCASE);
		return 0;
	}
	return -1;
}

int character_set_escape(struct character_set *set, char letter, bool in_brackets)
{
	set->negated = isupper((unsigned char)letter);
	switch (letter | 32) {
	case 'd':
		return add_named(set, "digit");
	case 'w':
		if (!in_brackets)
			buffer_text(&set->items, SUPERSCRIPTS);
		return add_named(set, "word");
	case 's':
		return add_named(set, "space");
	case 'h':
		return add_named(set, "xdigit");
	default:
		return -1;
	}
}

static void add_script(struct character_set *set, const char *name)
{
	buffer_format(&set->items, "\\p{sc:%s}", name);
	for (size_t i = 0; i < sizeof script_additions / sizeof *script_additions; i++)
		if (strcmp(script_additions[i].script, name) == 0)
			character_set_write_range(script_additions[i].first, script_additions[i].last, &set->items);
}

int character_set_property(struct translator *t, struct character_set *set, bool negated, bool in_brackets)
{
	const char *at = t->at;
	char name[40];
	size_t n = 0;

	if (t->at == t->end || *t->at != '{')
		return translator_refuse(t, at, "expected a property name in braces");
	t->at++;
	set->negated = negated;
	if (t->at < t->end && *t->at == '^') {
		set->negated = !negated;
		t->at++;
	}
	for (; t->at < t->end && *t->at != '}'; t->at++) {
		unsigned char c = (unsigned char)*t->at;
		if (c == ' ' || c == '_' || c == '-')
			continue;
		if (!isalnum(c) || n + 1 == sizeof name)
			return translator_refuse(t, at, "unknown property");
		name[n++] = (char)tolower(c);
	}
	name[n] = '\0';
	if (t->at == t->end || !n)
		return translator_refuse(t, at, "expected a property name in braces");
	t->at++;
	for (size_t i = 0; i < sizeof category_names / sizeof *category_names; i++)
		if (strcmp(name, category_names[i].name) == 0 || strcmp(name, category_names[i].longer) == 0) {
			add_categories(set, category_names[i].categories);
			return 0;
		}
	if (strcmp(name, "word") == 0 && !in_brackets)
		buffer_text(&set->items, SUPERSCRIPTS);
	if (add_named(set, name) < 0)
		add_script(set, name);
	return 0;
}

int character_set_bracket(struct translator *t, struct character_set *set)
{
	const char *at = t->at;
	char name[12];
	size_t n = 0;

	if (t->at < t->end && *t->at == '^')
		t->at++;
	while (t->at < t->end && islower((unsigned char)*t->at) && n + 1 < sizeof name)
		name[n++] = *t->at++;
	name[n] = '\0';
	if (t->end - t->at < 2 || t->at[0] != ':' || t->at[1] != ']' || add_named(set, name) < 0) {
		t->at = at;
		return -1;
	}
	set->negated = *at == '^';
	t->at += 2;
	return 0;
}

int character_set_write(struct translator *t, const char *at, const struct character_set *set, struct buffer *out)
{
	if (set->cased && t->ignore_case)
		return translator_refuse(t, at, "ignoring case is not supported for letters of one case");
	if (set->inexact) {
		uint64_t *bits = calloc(SET_WORDS, sizeof *bits);
		int status = bits ? character_set_fill(t, set, bits) : -1;
		if (status == 0)
			character_set_write_bits(bits, out);
		free(bits);
		return status;
	}
	buffer_text(out, set->negated ? "[^" : "[");
	buffer_slice(out, buffer_all(&set->items));
	buffer_byte(out, ']');
	return 0;
}

#include "plots/plot_check.h"

#include <ctype.h>
#include <string.h>

/* Words of our plots; none of them names a file, a command or a system call. */
static const char words[] =
	" set unset plot for screen at lt label left right center with using data from to arrow graph nohead index lw lc rgb "
	"ytics xtics yrange xrange tmargin bmargin lmargin rmargin first second points lines linespoints offset pt ps rotate by "
	"xlabel ylabel logscale dt x y solid rectangle object noborder fs fc log exp sqrt floor ceil int abs variable boxxyerror "
	"histeps fsteps filledcurves behind front multiplot vectors strcol sprintf samples labels eq ne boxes border NaN tc "
	"n i key tics grid above below mirror nomirror noenhanced textcolor glyphs point place shade ";
/* Those allowed after set and unset. */
static const char settings[] =
	" arrow bmargin border grid key label lmargin logscale multiplot object rmargin samples tics tmargin "
	"xlabel xrange xtics ylabel yrange ytics ";
/* Functions of plots. */
static const char functions[] = " place shade ";
/* Words whose value is or may be a text: where a plot names its data, a text is a file or a command. */
static const char texts[] = " strcol sprintf glyphs ";

enum command { NO_COMMAND, SETTING, PLOT, DEFINITION };

struct scan {
	const char *at, *end;
	int parens, brackets;
	enum command command; /* the current one; NO_COMMAND: it has no word yet */
	bool named;           /* SETTING: its name has been read; DEFINITION: its "=" has been seen */
	bool used;            /* PLOT: behind "using", where an expression in parentheses may be a text */
	bool colour;          /* rgb was just before: a string is a colour */
};

static bool is_listed(const char *list, const char *word, size_t len)
{
	for (const char *at = list; (at = strstr(at, " ")) && at[1]; at++)
		if (strncmp(at + 1, word, len) == 0 && at[1 + len] == ' ')
			return true;
	return false;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The character `ahead` of the current one; NUL: behind the end. */
static char next(const struct scan *s, size_t ahead)
{
	return (size_t)(s->end - s->at) > ahead ? s->at[ahead] : 0;
}

static int refuse(const char *what, size_t len, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_INPUT, "a plot has \"%.*s\", which is not a part of our plots",
	                     (int)(len < 40 ? len : 40), what);
}

/* glyphs('61 20ac'): on other terminals a function running a program with the list. */
static bool is_glyph_list(const struct scan *s, size_t len)
{
	static const char open[] = "('", close[] = "')";
	const char *at = s->at + len;
	if ((size_t)(s->end - at) < sizeof open - 1 || memcmp(at, open, sizeof open - 1) != 0)
		return false;
	for (at += sizeof open - 1; at < s->end && (isxdigit((unsigned char)*at) || *at == ' ');)
		at++;
	return (size_t)(s->end - at) >= sizeof close - 1 && memcmp(at, close, sizeof close - 1) == 0;
}

/* Whether a command may begin with this word, and which it is. */
static bool begin_command(struct scan *s, struct slice word)
{
	if (slice_is(word, "plot"))
		s->command = PLOT;
	else if (slice_is(word, "set") || slice_is(word, "unset"))
		s->command = SETTING;
	else if (is_listed(functions, word.data, word.len) && next(s, word.len) == '(')
		s->command = DEFINITION;
	return s->command != NO_COMMAND;
}

/* Whether the word may stand here in its command. */
static bool may_follow(struct scan *s, struct slice word)
{
	const bool text = is_listed(texts, word.data, word.len);
	if (slice_is(word, "glyphs") && !is_glyph_list(s, word.len))
		return false;
	switch (s->command) {
	case SETTING:
		if (s->named || s->brackets > 0 || slice_is(word, "for"))
			return true;
		s->named = true;
		return is_listed(settings, word.data, word.len);
	case PLOT:
		s->used |= s->parens == 0 && slice_is(word, "using");
		return s->used || !text;
	default:
		return !text && !slice_is(word, "data");
	}
}

static int word(struct scan *s, struct ipf_error *err)
{
	size_t len = 0;
	while (is_word(next(s, len)))
		len++;
	const struct slice word = {s->at, len};
	if (!is_listed(words, s->at, len) || !(s->command == NO_COMMAND ? begin_command(s, word) : may_follow(s, word)))
		return refuse(s->at, len, err);
	s->at += len;
	s->colour = slice_is(word, "rgb");
	return 0;
}

static bool is_text_place(const struct scan *s)
{
	return s->command == SETTING ? s->named : s->command == PLOT && (s->colour || (s->used && s->parens > 0));
}

/* A text; where a command for a plot would take it for a file, there is none. */
static int string(struct scan *s, struct ipf_error *err)
{
	const char *begin = s->at++;
	while ((unsigned char)next(s, 0) >= ' ' && next(s, 0) != 0x7f && !(*s->at == '\'' && next(s, 1) != '\''))
		s->at += *s->at == '\'' ? 2 : 1;
	if (next(s, 0) != '\'' || !is_text_place(s))
		return refuse(begin, (size_t)(s->at - begin), err);
	s->at++;
	s->colour = false;
	return 0;
}

/* 12, 0.5, 1e-05, 0x0072b2: nothing that gnuplot takes for a word may follow at once. */
static int number(struct scan *s, struct ipf_error *err)
{
	const char *begin = s->at;
	if (*s->at == '0' && next(s, 1) == 'x')
		for (s->at += 2; isxdigit((unsigned char)next(s, 0));)
			s->at++;
	while (isdigit((unsigned char)next(s, 0)))
		s->at++;
	if (next(s, 0) == '.')
		for (s->at++; isdigit((unsigned char)next(s, 0));)
			s->at++;
	if (next(s, 0) == 'e' && (isdigit((unsigned char)next(s, 1)) ||
	                          (next(s, 1) && strchr("+-", next(s, 1)) && isdigit((unsigned char)next(s, 2)))))
		for (s->at += 2; isdigit((unsigned char)next(s, 0));)
			s->at++;
	if (s->command == NO_COMMAND || is_word(next(s, 0)) || next(s, 0) == '.')
		return refuse(begin, (size_t)(s->at - begin) + 1, err);
	s->colour = false;
	return 0;
}

/* "==", "<=", ">=", the "=" of a definition, and the one of "[i=0:2]"; none giving a value to a variable. */
static bool is_equals(struct scan *s)
{
	const char before = s->at[-1];
	if (next(s, 1) == '=' || strchr("<>=", before))
		return true;
	if (s->command == DEFINITION && !s->named && s->parens == 0) {
		s->named = true;
		return true;
	}
	return s->brackets == 1 && s->parens == 0 && before == 'i' && s->at[-2] == '[';
}

static int sign(struct scan *s, struct ipf_error *err)
{
	const char c = *s->at;
	s->parens += c == '(' ? 1 : c == ')' ? -1 : 0;
	s->brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
	if (!c || !strchr("()[],:+-*/?<>=$\\", c) || s->parens < 0 || s->brackets < 0 ||
	    (c == '$' && !isdigit((unsigned char)next(s, 1))) || (c == '\\' && next(s, 1) != '\n') ||
	    (c == '=' && !is_equals(s)) || (s->command == SETTING && !s->named && !s->brackets && c != ']'))
		return refuse(s->at, 1, err);
	if (c == ',' && s->parens == 0 && s->brackets == 0)
		s->used = false; /* the next one of the plot */
	s->colour = false;
	s->at += c == '\\' ? 2 : 1;
	return 0;
}

/* The end of a command. */
static int end(struct scan *s, struct ipf_error *err)
{
	if (s->parens || s->brackets)
		return refuse(s->parens ? "(" : "[", 1, err);
	if ((s->command == SETTING || s->command == DEFINITION) && !s->named)
		return refuse("an unfinished command", 21, err);
	*s = (struct scan){.at = s->at < s->end ? s->at + 1 : s->end, .end = s->end};
	return 0;
}

int plot_commands_check(struct slice commands, struct ipf_error *err)
{
	struct scan s = {.at = commands.data, .end = commands.data + commands.len};
	while (s.at < s.end) {
		int bad = 0;
		if (*s.at == '\n')
			bad = end(&s, err);
		else if (*s.at == ' ')
			s.at++;
		else if (isdigit((unsigned char)*s.at))
			bad = number(&s, err);
		else if (isalpha((unsigned char)*s.at))
			bad = word(&s, err);
		else if (s.command == NO_COMMAND)
			bad = refuse(s.at, 1, err);
		else
			bad = *s.at == '\'' ? string(&s, err) : sign(&s, err);
		if (bad < 0)
			return -1;
	}
	return end(&s, err);
}

#include "plots/plot_check.h"

#include <ctype.h>
#include <string.h>

/* Words that our plots use; none of them names a file, a command or a system call. */
static const char words[] =
	" set unset plot for screen at lt label left right center with using data from to arrow graph nohead index lw lc rgb "
	"ytics xtics yrange xrange tmargin bmargin lmargin rmargin first second points lines linespoints offset pt ps rotate by "
	"xlabel ylabel logscale dt x y solid rectangle object noborder fs fc log exp sqrt floor ceil int abs variable boxxyerror "
	"histeps fsteps filledcurves behind front multiplot vectors strcol sprintf strlen samples labels eq ne boxes border NaN tc "
	"n i k list key tics grid above below mirror nomirror noenhanced textcolor glyphs needed point place shape shade title "
	"notitle layout size axes x1y1 cb cbrange palette ";
/* Functions that plots define. */
static const char functions[] = " needed point place shape shade ";

struct scan {
	const char *at, *end;
	int parens, brackets;
	bool plot, definition; /* of the current command */
	bool empty;            /* the command has no word yet */
	bool colour;           /* the last word was rgb: a string is a colour */
};

static bool is_listed(const char *list, const char *word, size_t len)
{
	for (const char *at = list; (at = strstr(at, " ")) && at[1]; at++)
		if (strncmp(at + 1, word, len) == 0 && at[1 + len] == ' ')
			return true;
	return false;
}

static int refuse(const char *what, size_t len, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_INPUT, "a plot has \"%.*s\", which is not a part of our plots",
	                     (int)(len < 40 ? len : 40), what);
}

static int word(struct scan *s, struct ipf_error *err)
{
	const char *begin = s->at;
	while (s->at < s->end && (isalnum((unsigned char)*s->at) || *s->at == '_'))
		s->at++;
	size_t len = (size_t)(s->at - begin);
	if (!is_listed(words, begin, len))
		return refuse(begin, len, err);
	if (s->empty) {
		s->plot = slice_is((struct slice){begin, len}, "plot");
		s->definition = is_listed(functions, begin, len);
		if (!s->plot && !s->definition && !is_listed(" set unset ", begin, len))
			return refuse(begin, len, err);
	}
	s->empty = false;
	s->colour = slice_is((struct slice){begin, len}, "rgb");
	return 0;
}

/* A text; where a command for a plot would take it for a file, there is none. */
static int string(struct scan *s, struct ipf_error *err)
{
	const char *begin = s->at++;
	while (s->at < s->end && *s->at != '\n' && !(*s->at == '\'' && !(s->at + 1 < s->end && s->at[1] == '\'')))
		s->at += *s->at == '\'' ? 2 : 1;
	if (s->at >= s->end || *s->at != '\'' || s->empty || (s->plot && s->parens == 0 && !s->colour))
		return refuse(begin, (size_t)(s->at - begin), err);
	s->at++;
	s->colour = false;
	return 0;
}

static int sign(struct scan *s, struct ipf_error *err)
{
	const char c = *s->at, next = s->at + 1 < s->end ? s->at[1] : 0, before = s->at[-1];
	s->parens += c == '(' ? 1 : c == ')' ? -1 : 0;
	s->brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
	const bool compares = next == '=' || (before && strchr("<>=", before));
	if (!strchr("()[]{},:+-*/?<>=.$%\\", c) || s->parens < 0 || s->brackets < 0 ||
	    (c == '$' && !isdigit((unsigned char)next)) || (c == '\\' && next != '\n') ||
	    (c == '=' && !compares && s->brackets == 0 && !s->definition))
		return refuse(s->at, 1, err);
	s->at += c == '\\' ? 2 : 1;
	return 0;
}

int plot_commands_check(struct slice commands, struct ipf_error *err)
{
	struct scan s = {.at = commands.data, .end = commands.data + commands.len, .empty = true};
	while (s.at < s.end) {
		int bad = 0;
		if (*s.at == '\n') {
			s = (struct scan){.at = s.at + 1, .end = s.end, .empty = true};
		} else if (*s.at == ' ' || *s.at == '\t') {
			s.at++;
		} else if (isdigit((unsigned char)*s.at)) {
			while (s.at < s.end && (isalnum((unsigned char)*s.at) || *s.at == '.'))
				s.at++;
			bad = s.empty ? refuse("a number", 8, err) : 0;
		} else if (isalpha((unsigned char)*s.at)) {
			bad = word(&s, err);
		} else {
			bad = s.empty ? refuse(s.at, 1, err) : *s.at == '\'' ? string(&s, err) : sign(&s, err);
		}
		if (bad < 0)
			return -1;
	}
	return 0;
}

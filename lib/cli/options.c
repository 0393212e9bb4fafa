#include "cli/options.h"

#include "cli/allocators.h"
#include "cli/completion.h"
#include "cli/help.h"
#include "cli/nearest.h"
#include "cli/units.h"
#include "memory.h"
#include "safe_text.h"
#include "stream/stream.h"
#include "utf8.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <strings.h>
#include <unistd.h>

/* ---- walking along the command line ------------------------------------------------------------------------------ */

struct argument_walk {
	const struct program *program;
	char **argv;
	int argc, at;
	const char *cluster; /* the rest of "-vqn5" */
	bool operands_only;  /* "--" was seen */
	struct options_memory **memory;
	struct named_paths *paths; /* named by the arguments stored */
};

struct argument {
	const struct option_spec *spec; /* NULL: an operand */
	const char *value;              /* the value of the option (NULL: none), or the operand */
	const char *word;               /* long options: the word as typed */
	bool attached;                  /* the value is in the same word */
	char shown[80];                 /* "--trace" or "-t", for messages */
};

/* The option the text names in full: "--trace" or "-t". */
static const struct option_spec *find_exact(const struct program *program, const char *text)
{
	for (size_t i = 0; text[0] == '-' && i < program->count; i++) {
		const struct option_spec *spec = &program->specs[i];
		if (spec->kind == OPTION_HEADING)
			continue;
		if (text[1] == '-' ? strcmp(text + 2, spec->name) == 0 : spec->letter && text[1] == spec->letter && !text[2])
			return spec;
	}
	return NULL;
}

/* Is it one of the values of an option, as in --html for -f html? */
static bool is_choice(const char *const *choices, const char *name, size_t len)
{
	for (size_t i = 0; choices && choices[i]; i++)
		if (strncmp(choices[i], name, len) == 0 && !choices[i][len])
			return true;
	return false;
}

/* Options users look for in the wrong program, and where the setting is. */
static const struct {
	const char *name, *program, *where;
} elsewhere[] = {
	{"rate", "ipf-sched", "the schedule has the load, as ipf-sched poisson:rate=5,for=60s"},
	{"qps", "ipf-sched", "the schedule has the load, as ipf-sched poisson:rate=5,for=60s"},
	{"request-rate", "ipf-sched", "the schedule has the load, as ipf-sched poisson:rate=5,for=60s"},
	{"concurrency", "ipf-sched", "the schedule has the load, as ipf-sched closed:users=8,for=60s"},
	{"users", "ipf-sched", "the schedule has the load, as ipf-sched closed:users=8,for=60s"},
	{"duration", "ipf-sched", "the schedule has the length, as ipf-sched poisson:rate=5,for=60s"},
	{"num-prompts", "ipf-sched", "the schedule has the number, as ipf-sched poisson:rate=5,n=100"},
	{"url", "ipf-fire", "ipf-fire -u names the server"},
	{"slo", "ipf-report", "ipf-report --slo judges objectives"},
};

static const char *find_elsewhere(const struct program *program, const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (strlen(elsewhere[i].name) == len && memcmp(elsewhere[i].name, name, len) == 0 &&
		    strncmp(program->name, elsewhere[i].program, strlen(elsewhere[i].program)) != 0)
			return elsewhere[i].where;
	return NULL;
}

static int unknown_option(const struct program *program, const char *name, size_t len, struct ipf_error *err)
{
	struct nearest near = {0};
	const char *where = find_elsewhere(program, name, len);

	if (where)
		return ipf_error_set(err, IPF_USAGE, "unknown option --%.*s: %s", (int)len, name, where);

	for (size_t i = 0; i < program->count; i++)
		if (program->specs[i].kind != OPTION_HEADING)
			nearest_try(&near, name, len, program->specs[i].name);
	for (size_t i = 0; i < program->count; i++)
		if (is_choice(program->specs[i].choices, name, len))
			return ipf_error_set(err, IPF_USAGE, "unknown option --%.*s (did you mean %s%s %.*s?)", (int)len, name,
			                     program->specs[i].letter ? "-" : "--",
			                     program->specs[i].letter ? (char[]){program->specs[i].letter, 0}
			                                              : program->specs[i].name,
			                     (int)len, name);
	if (near.name)
		return ipf_error_set(err, IPF_USAGE, "unknown option --%.*s (did you mean --%s?)", (int)len, name, near.name);
	return ipf_error_set(err, IPF_USAGE, "unknown option --%.*s", (int)(len < 100 ? len : 100), name);
}

/* The option with this long name, or the only one whose name begins with it. */
static const struct option_spec *find_long(const struct program *program, const char *name, size_t len,
                                           struct ipf_error *err)
{
	const struct option_spec *found = NULL, *other = NULL;

	for (size_t i = 0; i < program->count; i++) {
		const struct option_spec *spec = &program->specs[i];
		if (spec->kind == OPTION_HEADING || strncmp(spec->name, name, len) != 0)
			continue;
		if (spec->name[len] == '\0')
			return spec;
		if (spec->kind == OPTION_COMPLETION) /* rarely typed: it makes no other name ambiguous */
			continue;
		if (found)
			other = spec;
		else
			found = spec;
	}
	if (other && len > 0)
		ipf_error_set(err, IPF_USAGE, "--%.*s is ambiguous: --%s or --%s", (int)len, name, found->name, other->name);
	else if (!found || len == 0)
		unknown_option(program, name, len, err);
	return err->kind ? NULL : found;
}

/* Takes the next word as the option's value. A word that is itself an option is refused: the value was forgotten. */
static int next_value(struct argument_walk *w, struct argument *a, struct ipf_error *err)
{
	const char *value;

	if (w->at == w->argc)
		return ipf_error_set(err, IPF_USAGE, "%s: %s is missing", a->shown, a->spec->argument);
	value = w->argv[w->at++];
	if (strlen(value) > 1 && find_exact(w->program, value))
		return ipf_error_set(err, IPF_USAGE, "%s: expected %s, got the option %s", a->shown, a->spec->argument, value);
	a->value = value;
	return 1;
}

/* The shell after --completion may be left out. */
static int optional_value(struct argument_walk *w, struct argument *a)
{
	if (w->at < w->argc && w->argv[w->at][0] != '-')
		a->value = w->argv[w->at++];
	return 1;
}

static int next_long(struct argument_walk *w, struct argument *a, const char *word, struct ipf_error *err)
{
	size_t len = strcspn(word + 2, "=");

	a->word = word;
	a->spec = find_long(w->program, word + 2, len, err);
	if (!a->spec)
		return -1;
	snprintf(a->shown, sizeof a->shown, "--%s", a->spec->name);
	if (word[2 + len] == '=') {
		if (!option_takes_value(a->spec) && a->spec->kind != OPTION_COMPLETION)
			return ipf_error_set(err, IPF_USAGE, "%s takes no value, got \"%s\"", a->shown, shown(word + 3 + len).text);
		a->value = word + 3 + len;
		a->attached = true;
		return 1;
	}
	if (a->spec->kind == OPTION_COMPLETION)
		return optional_value(w, a);
	return option_takes_value(a->spec) ? next_value(w, a, err) : 1;
}

static int next_letter(struct argument_walk *w, struct argument *a, struct ipf_error *err)
{
	char letter = *w->cluster++;

	snprintf(a->shown, sizeof a->shown, "-%c", letter);
	a->spec = find_exact(w->program, a->shown);
	if (!a->spec)
		return ipf_error_set(err, IPF_USAGE, "unknown option -%c", letter);
	if (!option_takes_value(a->spec))
		return 1;
	if (*w->cluster == '\0')
		return next_value(w, a, err);
	a->value = w->cluster;
	a->attached = true;
	w->cluster = NULL;
	return 1;
}

/* 1: the next option or operand; 0: the end; -1. */
static int next_argument(struct argument_walk *w, struct argument *a, struct ipf_error *err)
{
	const char *word;

	*a = (struct argument){0};
	if (w->cluster && *w->cluster)
		return next_letter(w, a, err);
	while (w->at < w->argc) {
		word = w->argv[w->at++];
		if (w->operands_only || word[0] != '-' || word[1] == '\0') {
			a->value = word;
			return 1;
		}
		if (word[1] != '-') {
			w->cluster = word + 1;
			return next_letter(w, a, err);
		}
		if (word[2] != '\0')
			return next_long(w, a, word, err);
		w->operands_only = true;
	}
	return 0;
}

/* ---- storing ----------------------------------------------------------------------------------------------------- */

struct options_memory {
	struct options_memory *next;
	const char *items[];
};
/* Memory and files of a program: the lists keep them reachable for leak checkers. */
static struct options_memory *kept;
static struct named_paths kept_paths;

static const char **keep_items(struct options_memory **memory, int count, struct ipf_error *err)
{
	struct options_memory *k = malloc(sizeof *k + (size_t)count * sizeof *k->items);

	if (!k) {
		ipf_error_memory(err);
		return NULL;
	}
	k->next = *memory;
	*memory = k;
	return k->items;
}

/* The first occurrence replaces the default list. */
static int store_item(const struct argument_walk *w, struct string_list *list, const struct argument *a, bool first,
                      int most, struct ipf_error *err)
{
	if (first) {
		list->items = keep_items(w->memory, most, err);
		list->count = 0;
		if (!list->items)
			return -1;
	}
	list->items[list->count++] = a->value;
	return 0;
}

static int parse_seed(const char *text, struct common_options *common, struct ipf_error *err)
{
	bool hex = text[0] == '0' && text[1] == 'x';
	const char *digits = hex ? text + 2 : text;
	uint64_t value;

	errno = 0;
	value = strtoull(digits, NULL, hex ? 16 : 10);
	if (errno || !*digits || digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")])
		return ipf_error_set(err, IPF_USAGE, "expected a seed such as 7 or 0x2a, below 2^64, got \"%.200s\"", text);
	common->seed = value;
	common->seed_given = true;
	return 0;
}

/* Fails with `expected a, b or c, got "x"`. */
static int parse_choice(const char *text, const char *const *choices, int *index, struct ipf_error *err)
{
	char expected[480] = "";
	size_t used = 0, count = 0;

	for (; choices[count]; count++)
		if (!strcmp(choices[count], text)) {
			*index = (int)count;
			return 0;
		}
	for (size_t i = 0; i < count && used < sizeof expected; i++)
		used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s",
		                         i == 0          ? ""
		                         : i + 1 < count ? ", "
		                                         : " or ",
		                         choices[i]);
	struct nearest near = {0};
	for (size_t i = 0; i < count; i++)
		nearest_try_short(&near, text, strlen(text), choices[i]);
	return ipf_error_set(err, IPF_USAGE, "expected %s, got \"%.200s\"%s%s%s", expected, text,
	                     near.name ? " (did you mean " : "", near.name ? near.name : "", near.name ? "?)" : "");
}

static int parse_limit(const char *text, int64_t least, int64_t most, int64_t *bytes, struct ipf_error *err)
{
	if (parse_size(text, bytes, err) < 0)
		return -1;
	if (*bytes < least || *bytes > most)
		return ipf_error_set(err, IPF_USAGE, "expected a size from %lldKiB to %lldMiB, got \"%s\"",
		                     (long long)least >> 10, (long long)most >> 20, shown(text).text);
	return 0;
}

int options_max_line(const char *text, void *variable, struct ipf_error *err)
{
	int64_t *bytes = variable;
	if (parse_limit(text, 64 << 10, (int64_t)STREAM_LINE_LARGEST, bytes, err) < 0)
		return -1;
	stream_limit_lines((size_t)*bytes);
	return 0;
}

int options_max_window(const char *text, void *variable, struct ipf_error *err)
{
	int64_t *bytes = variable;
	if (parse_limit(text, 1 << 10, INT64_C(2) << 30, bytes, err) < 0)
		return -1;
	stream_limit_windows((size_t)*bytes);
	return 0;
}

static int store_value(const struct argument *a, void *variable, struct ipf_error *err)
{
	switch (a->spec->kind) {
	case OPTION_FLAG:
		*(bool *)variable = true;
		return 0;
	case OPTION_COUNTER:
		++*(int *)variable;
		return 0;
	case OPTION_FILE:
	case OPTION_OUTPUT:
	case OPTION_TEXT:
		*(const char **)variable = a->value;
		return 0;
	case OPTION_CHOICE:
		return parse_choice(a->value, a->spec->choices, variable, err);
	case OPTION_PARSED:
		return a->spec->parse(a->value, variable, err);
	case OPTION_COUNT:
		return parse_count(a->value, variable, err);
	case OPTION_DURATION:
		return parse_duration(a->value, variable, err);
	case OPTION_SIZE:
		return parse_size(a->value, variable, err);
	case OPTION_RATE:
		return parse_rate(a->value, variable, err);
	case OPTION_SHARE:
		return parse_share(a->value, variable, err);
	case OPTION_NUMBER:
		return parse_number(a->value, variable, err);
	case OPTION_SEED:
		return parse_seed(a->value, variable, err);
	default:
		return 0;
	}
}

static int name_option_path(const struct argument_walk *w, const struct argument *a, struct ipf_error *err)
{
	const struct option_spec *spec = a->spec;
	struct named_path named = {.option = spec->name, .text = a->value};
	/* headers of streams name files, and are JSON */
	if (option_takes_file(spec) && !utf8_valid(a->value, strlen(a->value), NULL))
		return ipf_error_set(err, IPF_USAGE, "%s: expected a name in UTF-8, got \"%s\"", a->shown,
		                     shown(a->value).text);
	if (spec->kind != OPTION_LIST)
		named_paths_remove(w->paths, spec->name);
	if (option_is_path(spec))
		named.role = spec->kind == OPTION_OUTPUT ? PATH_WRITTEN : PATH_READ;
	else if (option_takes_file(spec))
		named.role = PATH_READ_WITHIN;
	else if (spec->kind == OPTION_PARSED)
		named.role = PATH_READ_BEHIND;
	else
		return 0;
	return named_paths_add(w->paths, &named, err);
}

/* Stages and sources are words, which may contain paths. */
static int name_operand_paths(const struct argument_walk *w, const char *operand, struct ipf_error *err)
{
	struct named_path named = {.text = operand, .role = PATH_READ_WITHIN};
	if (!utf8_valid(operand, strlen(operand), NULL))
		return ipf_error_set(err, IPF_USAGE, "expected an operand in UTF-8, got \"%s\"", shown(operand).text);
	if (named_paths_add(w->paths, &named, err) < 0)
		return -1;
	named.role = PATH_READ;
	return w->program->plain_operands ? 0 : named_paths_add(w->paths, &named, err);
}

/* `most`: how often it can occur. */
static int store(const struct argument_walk *w, const struct argument *a, void *options, bool first, int most,
                 struct ipf_error *err)
{
	void *variable = (char *)options + a->spec->offset;
	struct ipf_error wrong = {0};

	bool plain = a->spec->kind == OPTION_TEXT || a->spec->kind == OPTION_LIST || a->spec->kind == OPTION_PARSED ||
	             option_is_path(a->spec);
	/* an empty value would be ignored, or fail later with an unrelated message */
	if (plain && !*a->value)
		return ipf_error_set(err, IPF_USAGE, "%s: expected %s, got \"\"", a->shown, a->spec->argument);
	/* a name goes into headers, file names, reports and messages */
	bool name = plain && strncmp(a->spec->argument, "NAME", 4) == 0 && !strchr(a->spec->argument, ':');
	if (name && !safe_text_is_safe(slice_of(a->value)))
		return ipf_error_set(err, IPF_USAGE, "%s: expected %s in UTF-8, without control characters, got \"%s\"",
		                     a->shown, a->spec->argument, shown(a->value).text);
	if (plain && name_option_path(w, a, err) < 0)
		return -1;
	if (a->spec->kind == OPTION_LIST)
		return store_item(w, variable, a, first, most, err);
	if (store_value(a, variable, &wrong) < 0)
		return ipf_error_set(err, wrong.kind, "%s: %s", a->shown, wrong.text);
	return 0;
}

/* ---- the command line as a whole --------------------------------------------------------------------------------- */

static int check_operands(const struct program *program, const struct operands *operands, struct ipf_error *err)
{
	if (operands->count < program->min_operands)
		return ipf_error_set(err, IPF_USAGE, "expected %s, got %s", program->operands,
		                     operands->count ? "too few operands" : "nothing");
	if (program->max_operands >= 0 && operands->count > program->max_operands)
		return ipf_error_set(err, IPF_USAGE, "unexpected operand \"%.200s\"", operands->items[program->max_operands]);
	return 0;
}

static bool only_prints(const struct option_spec *spec)
{
	return spec->kind == OPTION_HELP || spec->kind == OPTION_VERSION || spec->kind == OPTION_COMPLETION;
}

/* Is the operand the rest of a header written without quotes (-H Authorization: Bearer KEY)? It is then not shown. */
static bool is_rest_of_header(const struct argument *before, const char *operand)
{
	if (!before->spec || strcmp(before->spec->name, "header") != 0 || access(operand, F_OK) == 0)
		return false;
	const char *colon = strchr(before->value, ':');
	const char *value = colon ? colon + 1 + strspn(colon + 1, " \t") : "";
	/* nothing, or a scheme such as Bearer */
	return colon && strlen(value) <= 10 && !strpbrk(value, "0123456789") && strcmp(operand, "-") != 0;
}

/* Printed instead of running. */
struct printing {
	enum option_kind what; /* help, version or completion */
	int shell;             /* the completion's: an enum completion_shell */
};

static int printing_of(const struct argument *a, struct printing *prints, struct ipf_error *err)
{
	struct ipf_error wrong = {0};

	*prints = (struct printing){.what = a->spec->kind, .shell = COMPLETION_BASH};
	if (a->value && parse_choice(a->value, completion_shells, &prints->shell, &wrong) < 0)
		return ipf_error_set(err, wrong.kind, "%s: %s", a->shown, wrong.text);
	return 0;
}

/* The variable setting an option: IPF_FIRE_WAIT_READY. */
static const char *environment(const struct program *program, const struct option_spec *spec, char name[80])
{
	if (spec->kind == OPTION_HEADING || only_prints(spec))
		return NULL;
	snprintf(name, 80, "%s_%s", program->variables ? program->variables : program->name, spec->name);
	for (char *c = name; *c; c++)
		*c = *c == '-' || *c == ' ' ? '_' : (char)toupper((unsigned char)*c);
	const char *value = program->no_environment ? NULL : getenv(name);
	return value && *value ? value : NULL;
}

/* A flag's value: 1, 0 or -1. */
static int truth(const char *value)
{
	static const char *const words[] = {"0", "1", "no", "yes", "false", "true", "off", "on"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasecmp(words[i], value) == 0)
			return i % 2;
	return -1;
}

/* Options that variables of the environment set; the command line comes after them and wins. */
static int parse_environment(const struct argument_walk *w, void *options, struct ipf_error *err)
{
	const struct program *program = w->program;
	for (size_t i = 0; i < program->count; i++) {
		struct argument a = {.spec = &program->specs[i]};
		a.value = environment(program, a.spec, a.shown);
		if (!a.value)
			continue;
		bool flag = !option_takes_value(a.spec);
		if (flag && truth(a.value) < 0)
			return ipf_error_set(err, IPF_USAGE, "%s: expected 1 or 0, got \"%s\"", a.shown, shown(a.value).text);
		if ((!flag || truth(a.value)) && store(w, &a, options, true, 1, err) < 0)
			return -1;
	}
	return 0;
}

/* 1: run; 0: print *prints instead; -1. */
static int parse(struct argument_walk *w, void *options, struct operands *operands, struct printing *prints,
                 struct ipf_error *err)
{
	const char **items = keep_items(w->memory, w->argc + 1, err);
	bool *seen = calloc(w->program->count + 1, sizeof *seen);
	struct argument a, before = {0};
	int got = -1;

	*operands = (struct operands){.items = (char **)items, .before_mark = -1};
	if (!items || !seen) {
		ipf_error_memory(err);
		goto out;
	}
	if (parse_environment(w, options, err) < 0)
		goto out;
	for (; (got = next_argument(w, &a, err)) == 1; before = a) {
		if (!a.spec && is_rest_of_header(&before, a.value)) {
			got = ipf_error_set(err, IPF_USAGE,
			                    "%s: \"%.*s:\" and the next word: write name and value in quotes, as one word",
			                    before.shown, (int)strcspn(before.value, ":"), before.value);
			goto out;
		}
		if (!a.spec) {
			if (w->operands_only && operands->before_mark < 0)
				operands->before_mark = operands->count;
			items[operands->count++] = a.value;
			if ((got = name_operand_paths(w, a.value, err)) < 0)
				goto out;
			continue;
		}
		if (only_prints(a.spec)) {
			got = printing_of(&a, prints, err);
			goto out;
		}
		got = store(w, &a, options, !seen[a.spec - w->program->specs], w->argc, err);
		if (got < 0)
			goto out;
		seen[a.spec - w->program->specs] = true;
	}
	items[operands->count] = NULL;
	if (w->operands_only && operands->before_mark < 0)
		operands->before_mark = operands->count;
	if (got == 0)
		got = check_operands(w->program, operands, err) < 0 || named_paths_add_standard_input(w->paths, err) < 0 ||
		              named_paths_check(w->paths, err) < 0
		          ? -1
		          : 1;
out:
	free(seen);
	return got;
}

/* The next file opened would get the number of a closed standard descriptor, and then our messages. Occupy it with one
 * that fails like a closed one: standard input cannot be read, standard output cannot be written. */
static void fill_descriptors(void)
{
	static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};

	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", modes[fd]); /* gets the lowest free descriptor: fd */
}

/* ---- help, version, completion ----------------------------------------------------------------------------------- */

static int print(struct buffer *out, struct ipf_error *err)
{
	size_t done = 0;
	ssize_t n;

	if (out->failed)
		ipf_error_memory(err);
	while (!err->kind && done < out->len) {
		n = write(STDOUT_FILENO, out->data + done, out->len - done);
		if (n < 0 && errno != EINTR)
			ipf_error_errno(err, errno, "standard output", "cannot write");
		else if (n > 0)
			done += (size_t)n;
	}
	buffer_release(out);
	return err->kind ? -1 : 0;
}

static int print_instead(const struct program *program, const struct printing *prints, struct ipf_error *err)
{
	struct buffer out = {0};

	if (prints->what == OPTION_HELP)
		help_format(program, &out);
	else if (prints->what == OPTION_VERSION)
		version_format(program, &out);
	else
		completion_format(program, (enum completion_shell)prints->shell, &out);
	return print(&out, err);
}

/* A program started by a loader (packaging/bundle) would have the loader's name in lists of processes. */
static void name_process(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	if (path)
		prctl(PR_SET_NAME, slash ? slash + 1 : path);
}

bool program_start(const struct program *program, int argc, char **argv, void *options, struct operands *operands,
                   int *status)
{
	struct argument_walk w = {
		.program = program, .argv = argv, .argc = argc, .at = 1, .memory = &kept, .paths = &kept_paths};
	struct printing prints;
	struct ipf_error err = {0};
	int got;

	allocators_set();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	fill_descriptors();
	name_process(argc > 0 ? argv[0] : NULL);
	got = parse(&w, options, operands, &prints, &err);
	if (got == 1)
		return true;
	if (got == 0)
		print_instead(program, &prints, &err);
	*status = ipf_error_report(&err, stderr, program->name);
	return false;
}

int options_parse(const struct program *program, struct arguments *a, void *options, struct operands *operands,
                  struct ipf_error *err)
{
	struct named_paths paths = {0};
	struct argument_walk w = {
		.program = program, .argv = a->argv, .argc = a->argc, .at = 1, .memory = &a->memory, .paths = &paths};
	struct printing prints;
	int got = parse(&w, options, operands, &prints, err);
	if (got == 0)
		ipf_error_set(err, IPF_USAGE, "expected options of a run, got one that prints");
	named_paths_release(&paths);
	return got == 1 ? 0 : -1;
}

const struct named_paths *program_paths(void)
{
	return &kept_paths;
}

void options_memory_free(struct options_memory *memory)
{
	while (memory) {
		struct options_memory *next = memory->next;
		free(memory);
		memory = next;
	}
}

int program_misuse(const struct program *program, const struct ipf_error *err)
{
	return ipf_error_report(err, stderr, program->name) == 1 ? 1 : 2; /* 1: memory ran out meanwhile */
}

/* ---- the header's argv ------------------------------------------------------------------------------------------- */

static const char *last_part(const char *path, size_t *len)
{
	const char *slash;

	*len = strlen(path);
	while (*len > 1 && path[*len - 1] == '/')
		--*len;
	slash = memrchr(path, '/', *len);
	if (slash && *len > 1) {
		*len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	return path;
}

/* Appends before + value; `shorten`: only the last part of the value. */
static void append(json_t *list, const char *before, size_t before_len, const char *value, bool shorten)
{
	size_t len = value ? strlen(value) : 0;
	char *text;

	if (value && shorten)
		value = last_part(value, &len);
	text = malloc(before_len + len + 1);
	if (!text)
		return;
	memcpy(text, before, before_len);
	if (len)
		memcpy(text + before_len, value, len);
	text[before_len + len] = '\0';
	/* JSON cannot hold bytes that are not UTF-8 */
	if (json_array_append_new(list, json_string(text)) < 0)
		json_array_append_new(list, json_string("(not UTF-8)"));
	free(text);
}

static void append_argument(json_t *list, const struct argument *a, bool reproducible)
{
	bool shorten = reproducible && option_is_path(a->spec);
	const char *name = a->word ? a->word : a->shown;
	size_t len = a->word ? strcspn(a->word, "=") : strlen(a->shown);

	if (a->value && a->attached) {
		append(list, name, a->word ? len + 1 : len, a->value, shorten);
		return;
	}
	append(list, name, len, NULL, false);
	if (a->value)
		append(list, "", 0, a->value, shorten);
}

/* Is the option given on the command line? */
static bool is_given(const struct program *program, int argc, char **argv, const struct option_spec *spec)
{
	struct argument_walk w = {.program = program, .argv = argv, .argc = argc, .at = 1};
	struct ipf_error err = {0};
	struct argument a;

	while (next_argument(&w, &a, &err) == 1)
		if (a.spec == spec)
			return true;
	return false;
}

/* The value the environment gives an option; NULL: none. `variable` becomes the name of the variable. */
static const char *given_by_environment(const struct program *program, const struct option_spec *spec,
                                        char variable[80])
{
	const char *value = environment(program, spec, variable);
	return value && (option_takes_value(spec) || truth(value) == 1) ? value : NULL;
}

bool options_given(const struct program *program, int argc, char **argv, const struct option_spec *spec)
{
	char variable[80];
	return is_given(program, argc, argv, spec) || given_by_environment(program, spec, variable);
}

/* Options of the environment, as if they were given first. */
static void append_environment(json_t *list, const struct program *program, int argc, char **argv, bool reproducible)
{
	char variable[80], name[80];

	for (size_t i = 0; i < program->count; i++) {
		const struct option_spec *spec = &program->specs[i];
		const char *value = spec->unshaping ? NULL : given_by_environment(program, spec, variable);
		bool flag = !option_takes_value(spec);
		if (!value || is_given(program, argc, argv, spec))
			continue;
		int len = snprintf(name, sizeof name, flag ? "--%s" : "--%s=", spec->name);
		append(list, name, (size_t)len, flag ? NULL : value, reproducible && option_is_path(spec));
	}
}

json_t *options_argv(const struct program *program, int argc, char **argv, bool keep_operands, bool reproducible)
{
	struct argument_walk w = {.program = program, .argv = argv, .argc = argc, .at = 1};
	json_t *list = json_array();
	struct ipf_error err = {0};
	bool marked = false;
	struct argument a;

	if (list)
		append_environment(list, program, argc, argv, reproducible);
	while (list && next_argument(&w, &a, &err) == 1) {
		if (a.spec) {
			if (!a.spec->unshaping)
				append_argument(list, &a, reproducible);
			continue;
		}
		if (!keep_operands)
			continue;
		if (w.operands_only && !marked) {
			append(list, "--", 2, NULL, false);
			marked = true;
		}
		append(list, "", 0, a.value, reproducible && !program->plain_operands);
	}
	return list;
}

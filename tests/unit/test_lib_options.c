#include "cli/options.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX_WORDS 30

struct test_options {
	struct common_options common;
	const char *trace, *model;
	struct string_list headers;
	int64_t n, timeout, buffer;
	double rate, share, ratio;
	bool insecure;
	enum { HISTORY_RECORDED, HISTORY_LIVE, HISTORY_NONE } history;
	struct {
		int64_t low, high;
	} range;
};

static const char *const histories[] = {"recorded", "live", "none", NULL};

static int parse_range(const char *value, void *variable, struct ipf_error *err)
{
	int64_t *range = variable;
	long long low, high;
	char rest;

	if (sscanf(value, "%lld-%lld%c", &low, &high, &rest) != 2)
		return ipf_error_set(err, IPF_USAGE, "expected a range such as 1-9, got \"%s\"", value);
	range[0] = low;
	range[1] = high;
	return 0;
}

static const struct option_spec specs[] = {
	OPTION_HEADING("What to send"),
	OPTION(OPTION_FILE, 't', "trace", "FILE", struct test_options, trace, "the request trace"),
	OPTION(OPTION_TEXT, 'm', "model", "NAME", struct test_options, model, "the model that is asked for"),
	OPTION(OPTION_LIST, 'H', "header", "TEXT", struct test_options, headers,
           "a header for every request, as in 'X-Team: 7'; may stand several times, and then all of them are sent"),
	OPTION(OPTION_COUNT, 'n', "count", "N", struct test_options, n, "how many"),
	OPTION(OPTION_DURATION, 0, "timeout", "TIME", struct test_options, timeout,
           "longest time of a request (default: 10m)"),
	OPTION(OPTION_SIZE, 0, "buffer", "SIZE", struct test_options, buffer,
           "one two three four five six seven eight nine ten xy z"),
	OPTION(OPTION_RATE, 0, "rate", "RATE", struct test_options, rate,
           "one two three four five six seven eight nine ten xyz"),
	OPTION(OPTION_SHARE, 0, "share", "SHARE", struct test_options, share, "a share"),
	OPTION(OPTION_NUMBER, 0, "ratio", "X", struct test_options, ratio, "a number"),
	OPTION_HEADING("How to send it"),
	OPTION_CHOICE_OF(0, "history", "recorded|live|none", struct test_options, history, histories, "whose answers"),
	OPTION_PARSED_BY('S', "span", "L-H", struct test_options, range, parse_range, "a range"),
	OPTION(OPTION_FLAG, 'k', "insecure", NULL, struct test_options, insecure, "trust every certificate"),
	OPTION(OPTION_TEXT, 0, "a-name-that-is-far-too-long-for-a-column", "NAME|FILE", struct test_options, model,
           "also the model"),
	SEED_OPTION(struct test_options, common),
	COMMON_OPTIONS(struct test_options, common),
};

static const char *libraries(void)
{
	return "libother 1.5.4";
}

static const struct program program = {
	.name = "ipf-test",
	.operands = "STAGE… [FILE]",
	.summary = "try the options",
	.details = "Stages:\n  rest:for=TIME   nothing\n",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 1,
	.max_operands = 3,
	.libraries = libraries,
};

/* ---- parsing in this process ------------------------------------------------------------------------------------- */

struct words {
	char *argv[MAX_WORDS + 2];
	int argc;
};

/* "a b c" as a command line; a word "''" is empty. */
static struct words words_of(char *line)
{
	struct words w = {.argv = {(char *)"ipf-test"}, .argc = 1};

	for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
		assert_true(w.argc <= MAX_WORDS);
		w.argv[w.argc++] = strcmp(word, "''") == 0 ? (char *)"" : word;
	}
	return w;
}

static struct test_options parse(char *line, struct operands *operands)
{
	struct test_options o = {.common = COMMON_DEFAULTS, .timeout = 600 * NS_PER_S};
	struct words w = words_of(line);
	int status = -1;

	if (!program_start(&program, w.argc, w.argv, &o, operands, &status))
		fail_msg("refused with status %d", status);
	return o;
}

static void every_kind(void **state)
{
	char line[] =
		"--trace=a.zst --model m -H X:1 --header Y:2 -HZ:3 --count 1.5k --timeout 90s --buffer 64KiB --rate 300/m "
		"--share 5% --ratio -0.5 -k stage";
	struct operands operands;
	struct test_options o = parse(line, &operands);

	(void)state;
	assert_int_equal(o.n, 1500);
	assert_int_equal(o.timeout, 90 * NS_PER_S);
	assert_int_equal(o.buffer, 65536);
	assert_true(o.rate > 4.999 && o.rate < 5.001);
	assert_true(o.share > 0.0499 && o.share < 0.0501);
	assert_string_equal(o.trace, "a.zst");
	assert_string_equal(o.model, "m");
	assert_int_equal(o.headers.count, 3);
	assert_string_equal(o.headers.items[0], "X:1");
	assert_string_equal(o.headers.items[1], "Y:2");
	assert_string_equal(o.headers.items[2], "Z:3");
	assert_true(o.ratio < -0.49 && o.ratio > -0.51);
	assert_true(o.insecure);
	assert_int_equal(o.common.seed, 1);
	assert_false(o.common.seed_given);
	assert_int_equal(operands.count, 1);
	assert_int_equal(operands.before_mark, -1);
	assert_string_equal(operands.items[0], "stage");
	assert_null(operands.items[1]);
}

static void choices_and_own_parsers(void **state)
{
	char none[] = "x", each[] = "--history live -S 3-17 x", last_wins[] = "--history=live --history none --span=0-1 x";
	struct operands operands;
	struct test_options o = parse(none, &operands);

	(void)state;
	assert_int_equal(o.history, HISTORY_RECORDED);
	o = parse(each, &operands);
	assert_int_equal(o.history, HISTORY_LIVE);
	assert_int_equal(o.range.low, 3);
	assert_int_equal(o.range.high, 17);
	o = parse(last_wins, &operands);
	assert_int_equal(o.history, HISTORY_NONE);
	assert_int_equal(o.range.low, 0);
	assert_int_equal(o.range.high, 1);
}

static void options_may_be_written_in_all_ways(void **state)
{
	char mixed[] = "one -vvk --verb two -n7 -- -v";
	char dash[] = "- -t - -m -";
	char last_wins[] = "-n 1 -n 2 --co=3 x";
	char value_like_option[] = "-t --unknown -m -5 -H=x x";
	struct operands operands;
	struct test_options o;

	(void)state;
	o = parse(mixed, &operands);
	assert_int_equal(operands.before_mark, 2);
	assert_int_equal(o.common.verbose, 3);
	assert_true(o.insecure);
	assert_int_equal(o.n, 7);
	assert_int_equal(operands.count, 3);
	assert_string_equal(operands.items[0], "one");
	assert_string_equal(operands.items[1], "two");
	assert_string_equal(operands.items[2], "-v");
	o = parse(dash, &operands);
	assert_string_equal(operands.items[0], "-");
	assert_string_equal(o.trace, "-");
	assert_string_equal(o.model, "-");
	o = parse(last_wins, &operands);
	assert_int_equal(o.n, 3);
	o = parse(value_like_option, &operands);
	assert_string_equal(o.trace, "--unknown");
	assert_string_equal(o.model, "-5");
	assert_string_equal(o.headers.items[0], "=x");
}

static void seeds(void **state)
{
	static const struct {
		const char *text;
		uint64_t seed;
	} cases[] = {
		{"0", 0},
		{"7", 7},
		{"007", 7},
		{"0x2a", 42},
		{"0xFFFFFFFFFFFFFFFF", UINT64_MAX},
		{"18446744073709551615", UINT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct operands operands;
		char line[80];
		snprintf(line, sizeof line, "--seed %s x", cases[i].text);
		struct test_options o = parse(line, &operands);
		assert_true(o.common.seed == cases[i].seed);
		assert_true(o.common.seed_given);
	}
}

static void list_defaults_are_replaced(void **state)
{
	const char *standard[] = {"a", "b"};
	struct test_options o = {.headers = {standard, 2}};
	struct operands operands;
	char with[] = "-H c x", without[] = "x";
	struct words w = words_of(without);
	int status;

	(void)state;
	assert_true(program_start(&program, w.argc, w.argv, &o, &operands, &status));
	assert_int_equal(o.headers.count, 2);
	w = words_of(with);
	assert_true(program_start(&program, w.argc, w.argv, &o, &operands, &status));
	assert_int_equal(o.headers.count, 1);
	assert_string_equal(o.headers.items[0], "c");
}

/* ---- parsing in a child process ---------------------------------------------------------------------------------- */

struct ran {
	int status;
	char out[8192], err[2048];
};

static void read_back(FILE *file, char *text, size_t size)
{
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

/* `prepare` runs in the child, before anything else. A parse that succeeds ends with status 100. */
static struct ran run(const struct program *p, const char *arguments, void (*prepare)(void))
{
	struct test_options o = {.common = COMMON_DEFAULTS};
	FILE *out = tmpfile(), *err = tmpfile();
	struct operands operands;
	struct ran r = {0};
	char line[512];
	pid_t child;

	assert_true(out && err);
	snprintf(line, sizeof line, "%s", arguments);
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct words w = words_of(line);
		int status = 100;
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		if (prepare)
			prepare();
		_exit(program_start(p, w.argc, w.argv, &o, &operands, &status) ? 100 : status);
	}
	assert_int_equal(waitpid(child, &r.status, 0), child);
	assert_true(WIFEXITED(r.status));
	r.status = WEXITSTATUS(r.status);
	read_back(out, r.out, sizeof r.out);
	read_back(err, r.err, sizeof r.err);
	return r;
}

/* One line on standard error names the fault, nothing is on standard output, the status is 2. */
static void misuse(void **state)
{
	static const char *const cases[][2] = {
		{"--modle m x", "unknown option --modle (did you mean --model?)"},
		{"--tarce=f x", "unknown option --tarce (did you mean --trace?)"},
		{"--timeotu 5s x", "unknown option --timeotu (did you mean --timeout?)"},
		{"--zzzzzz x", "unknown option --zzzzzz"},
		{"--zz\n\033[2Jzz x", "unknown option --zz\\n\\x1b[2Jzz"},
		{"--=5 x", "unknown option --"},
		{"-z x", "unknown option -z"},
		{"-vz x", "unknown option -z"},
		{"--ra 5 x", "--ra is ambiguous: --rate or --ratio"},
		{"--ver x", "--ver is ambiguous: --verbose or --version"},
		{"x --timeout", "--timeout: TIME is missing"},
		{"x -t", "-t: FILE is missing"},
		{"x -vt", "-t: FILE is missing"},
		{"--trace --seed 3 x", "--trace: expected FILE, got the option --seed"},
		{"-t -v x", "-t: expected FILE, got the option -v"},
		{"--insecure=yes x", "--insecure takes no value, got \"yes\""},
		{"--help=yes x", "--help takes no value, got \"yes\""},
		{"--timeout 10 x", "--timeout: expected a duration such as 250ms or 2m, got \"10\""},
		{"--timeout= x", "--timeout: expected a duration such as 250ms or 2m, got \"\""},
		{"-n 1.5 x", "-n: expected a whole number such as 1000 or 1.5k, got \"1.5\""},
		{"--buffer 1kb x", "--buffer: expected a size such as 4096, 64KiB or 10MB, got \"1kb\""},
		{"--rate 5s x", "--rate: expected a rate such as 5, 1.5k or 300/m, got \"5s\""},
		{"--share 101% x", "--share: expected a share such as 5% or 0.05, at most 100%, got \"101%\""},
		{"--ratio nan x", "--ratio: expected a number such as 2 or -0.5, got \"nan\""},
		{"--seed -1 x", "--seed: expected a seed such as 7 or 0x2a, below 2^64, got \"-1\""},
		{"--seed 0x x", "--seed: expected a seed such as 7 or 0x2a, below 2^64, got \"0x\""},
		{"--seed 18446744073709551616 x",
	     "--seed: expected a seed such as 7 or 0x2a, below 2^64, got \"18446744073709551616\""},
		{"--seed 1.5 x", "--seed: expected a seed such as 7 or 0x2a, below 2^64, got \"1.5\""},
		{"--history liv x", "--history: expected recorded, live or none, got \"liv\" (did you mean live?)"},
		{"--history= x", "--history: expected recorded, live or none, got \"\""},
		{"x --history", "--history: recorded|live|none is missing"},
		{"--history --span 1-2 x", "--history: expected recorded|live|none, got the option --span"},
		{"--span 1 x", "--span: expected a range such as 1-9, got \"1\""},
		{"-S1-2-3 x", "-S: expected a range such as 1-9, got \"1-2-3\""},
		{"--span= x", "--span: expected L-H, got \"\""},
		{"--what x", "unknown option --what"},
		{"--trace= x", "--trace: expected FILE, got \"\""},
		{"-t '' x", "-t: expected FILE, got \"\""},
		{"-m '' x", "-m: expected NAME, got \"\""},
		{"--model= x", "--model: expected NAME, got \"\""},
		{"-H X:1 --header '' x", "--header: expected TEXT, got \"\""},
		{"", "expected STAGE… [FILE], got nothing"},
		{"-v --", "expected STAGE… [FILE], got nothing"},
		{"a b c d", "unexpected operand \"d\""},
		{"a b -- c -d", "unexpected operand \"-d\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ran r = run(&program, cases[i][0], NULL);
		char wanted[512];
		snprintf(wanted, sizeof wanted, "ipf-test: %s\n", cases[i][1]);
		if (r.status != 2 || strcmp(r.err, wanted) != 0 || r.out[0])
			fail_msg("%s: status %d, said: %s%s", cases[i][0], r.status, r.err, r.out);
	}
}

static void help(void **state)
{
	static const char wanted[] =
		"usage: ipf-test [OPTION…] STAGE… [FILE]\n"
		"try the options\n"
		"\n"
		"What to send:\n"
		"  -t, --trace FILE          the request trace\n"
		"  -m, --model NAME          the model that is asked for\n"
		"  -H, --header TEXT         a header for every request, as in 'X-Team: 7'; may\n"
		"                            stand several times, and then all of them are sent\n"
		"  -n, --count N             how many\n"
		"      --timeout TIME        longest time of a request (default: 10m)\n"
		"      --buffer SIZE         one two three four five six seven eight nine ten xy\n" /* 79 columns: just fits
	                                                                                         */
		"                            z\n"
		"      --rate RATE           one two three four five six seven eight nine ten\n" /* would be 80 */
		"                            xyz\n"
		"      --share SHARE         a share\n"
		"      --ratio X             a number\n"
		"\n"
		"How to send it:\n"
		"      --history recorded|live|none\n"
		"                            whose answers\n"
		"  -S, --span L-H            a range\n"
		"  -k, --insecure            trust every certificate\n"
		"      --a-name-that-is-far-too-long-for-a-column NAME|FILE\n"
		"                            also the model\n"
		"      --seed N              random seed (default: 1)\n"
		"\n"
		"Common options:\n"
		"  -o, --output FILE         write to FILE, compressed if its name ends in .zst\n"
		"                            (default: standard output)\n";
	struct ran r = run(&program, "--no-such --help", NULL);

	(void)state;
	assert_int_equal(r.status, 2); /* an error before --help counts */
	r = run(&program, "-vh --no-such", NULL);
	assert_int_equal(r.status, 0);
	assert_string_equal(r.err, "");
	if (strncmp(r.out, wanted, strlen(wanted)) != 0)
		fail_msg("%s", r.out);
	assert_non_null(strstr(r.out, "\n\nStages:\n  rest:for=TIME   nothing\n\nExit status: 0 success"));
	for (char *line = strtok(r.out, "\n"); line; line = strtok(NULL, "\n")) {
		size_t columns = 0;
		for (char *c = line; *c; c++)
			columns += ((unsigned char)*c & 0xc0) != 0x80;
		if (columns > 79)
			fail_msg("wider than 79: %s", line);
	}
}

static void version(void **state)
{
	struct ran r = run(&program, "--version", NULL);

	(void)state;
	assert_int_equal(r.status, 0);
	assert_int_equal(strncmp(r.out, "ipf-test 0.1.0\njansson 2.", 25), 0);
	assert_non_null(strstr(r.out, ", zstd 1."));
	assert_non_null(strstr(r.out, ", OpenSSL 3."));
	assert_non_null(strstr(r.out, ", libother 1.5.4\n"));
	assert_string_equal(r.err, "");
}

static void onto_full_disk(void)
{
	dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
}

static void onto_closed_pipe(void)
{
	int ends[2];

	if (pipe(ends) < 0)
		_exit(99);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
}

static void close_standard(void)
{
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
}

static void unwritable_help(void **state)
{
	static const char *const printing[] = {"--help", "--version", "--completion"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct ran r = run(&program, printing[i], onto_full_disk);
		assert_int_equal(r.status, 1);
		assert_string_equal(r.err, "ipf-test: standard output: cannot write: No space left on device\n");
		r = run(&program, printing[i], onto_closed_pipe);
		assert_int_equal(r.status, 0);
		assert_string_equal(r.err, "");
		r = run(&program, printing[i], close_standard);
		assert_int_equal(r.status, 1);
		assert_string_equal(r.err, "ipf-test: standard output: cannot write: Bad file descriptor\n");
	}
}

/* Runs in a child, whose descriptors can be closed. 0: everything is as expected. */
static int look_at_descriptors(void)
{
	char line[] = "x";
	struct words w = words_of(line);
	struct test_options o = {.common = COMMON_DEFAULTS};
	struct operands operands;
	int status;
	char c;

	close_range(0, ~0U, 0); /* and those the caller left open */
	if (!program_start(&program, w.argc, w.argv, &o, &operands, &status))
		return 1;
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			return 2;
	if (open("/dev/null", O_RDONLY) != 3)
		return 3;
	if (read(0, &c, 1) >= 0 || errno != EBADF || write(1, "x", 1) >= 0 || errno != EBADF || write(2, "x", 1) != 1)
		return 4;
	return signal(SIGPIPE, SIG_DFL) == SIG_IGN ? 0 : 5;
}

static void descriptors(void **state)
{
	int status = 0;
	pid_t child;

	(void)state;
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(look_at_descriptors());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void misuse_found_later(void **state)
{
	struct ipf_error err = {0};
	char text[256];
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO), status;

	(void)state;
	assert_non_null(file);
	ipf_error_set(&err, IPF_USAGE, "unknown stage \"foo\"");
	dup2(fileno(file), STDERR_FILENO);
	status = program_misuse(&program, &err);
	dup2(saved, STDERR_FILENO);
	close(saved);
	read_back(file, text, sizeof text);
	assert_int_equal(status, 2);
	assert_string_equal(text, "ipf-test: unknown stage \"foo\"\n");
}

/* ---- completion -------------------------------------------------------------------------------------------------- */

/* bash's completions of `words`, for the last of them, in a folder with the files "a file.zst" and "b.csv". */
static void completes(const char *words, const char *wanted)
{
	struct ran r = run(&program, "--completion", NULL);
	char script[12000], folder[] = "/tmp/ipf-completion.XXXXXX", got[4096];
	FILE *bash;

	assert_int_equal(r.status, 0);
	assert_non_null(mkdtemp(folder));
	snprintf(
		script, sizeof script,
		"cd %s && : >'a file.zst' && : >b.csv\ncompopt() { :; }\n%s\nCOMP_WORDS=(ipf-test %s)\n"
		"COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\nset -u\n_ipf_test ipf-test\nprintf '%%s\\n' \"${COMPREPLY[@]}\" | sort\n"
		"complete -p ipf-test\nrm -r %s\n",
		folder, r.out, words, folder);
	assert_int_equal(setenv("IPF_TEST_SCRIPT", script, 1), 0);
	bash = popen("exec bash -c \"$IPF_TEST_SCRIPT\" 2>&1", "r");
	assert_non_null(bash);
	got[fread(got, 1, sizeof got - 1, bash)] = '\0';
	assert_int_equal(pclose(bash), 0);
	char expected[4096];
	snprintf(expected, sizeof expected, "%s\ncomplete -F _ipf_test ipf-test\n", wanted);
	if (strcmp(got, expected) != 0)
		fail_msg("%s: %s", words, got);
}

static void completion(void **state)
{
	(void)state;
	if (system("command -v bash >/dev/null") != 0) {
		print_message("# no bash here\n");
		skip();
	}
	completes("--tr", "--trace");
	completes("x --ver", "--verbose\n--version");
	completes("--trace a", "a file.zst");
	completes("-t a", "a file.zst");
	completes("--trace = b", "b.csv");
	completes("--trace =", "a file.zst\nb.csv");
	completes("--a-name-that-is-far-too-long-for-a-column b", "b.csv");
	completes("--model a", "");
	completes("-v b", "b.csv");
	completes("-k ''", "a file.zst\nb.csv");
	completes("--h", "--header\n--help\n--history");
	completes("--history ''", "live\nnone\nrecorded");
	completes("--history l", "live");
	completes("--history = r", "recorded");
	completes("--span b", "");
	completes("-S b", "");
}

/* ---- the header's argv ------------------------------------------------------------------------------------------- */

static void check_argv(const struct program *p, const char *arguments, bool operands, bool reproducible,
                       const char *wanted)
{
	char line[512], *text;
	struct words w;
	json_t *json;

	snprintf(line, sizeof line, "%s", arguments);
	w = words_of(line);
	json = options_argv(p, w.argc, w.argv, operands, reproducible);
	assert_non_null(json);
	text = json_dumps(json, JSON_COMPACT);
	assert_string_equal(text, wanted);
	free(text);
	json_decref(json);
}

static void header_argv(void **state)
{
	struct program plain = program;

	(void)state;
	check_argv(&program, "", true, false, "[]");
	check_argv(&program, "-o out.zst --output=x -q --progress --reproducible -v x", true, false, "[\"x\"]");
	check_argv(&program, "a -t /d/t.zst -n5 --count=6 --count 7 -kv b", true, false,
	           "[\"a\",\"-t\",\"/d/t.zst\",\"-n5\",\"--count=6\",\"--count\",\"7\",\"-k\",\"b\"]");
	check_argv(&program, "a/b/ -t /d/t.zst --trace=e/f -tg/h -m x/y / t/u -- -v w/x", true, true,
	           "[\"b\",\"-t\",\"t.zst\",\"--trace=f\",\"-th\",\"-m\",\"x/y\",\"/\",\"u\",\"--\",\"-v\",\"x\"]");
	check_argv(&program, "--history live -S1-2 x", true, true, "[\"--history\",\"live\",\"-S1-2\",\"x\"]");
	check_argv(&program, "a -n 5 -- -b", false, false, "[\"-n\",\"5\"]");
	check_argv(&program, "--seed 0x1F --cou 3 -m \xff x", true, false,
	           "[\"--seed\",\"0x1F\",\"--cou\",\"3\",\"-m\",\"(not UTF-8)\",\"x\"]");
	check_argv(&program, "poisson:rate=300/m,for=1s", true, true, "[\"m,for=1s\"]");
	plain.plain_operands = true;
	check_argv(&plain, "poisson:rate=300/m,for=1s -t a/b", true, true, "[\"poisson:rate=300/m,for=1s\",\"-t\",\"b\"]");
}

static bool is_given(const char *arguments, const char *name)
{
	char line[64];
	struct words w;
	size_t i = 0;
	snprintf(line, sizeof line, "%s", arguments);
	w = words_of(line);
	while (!program.specs[i].name || strcmp(program.specs[i].name, name) != 0)
		i++;
	return options_given(&program, w.argc, w.argv, &program.specs[i]);
}

static void given_options_are_known(void **state)
{
	char variable[64];
	(void)state;
	assert_false(is_given("a b", "count"));
	assert_true(is_given("a -n 5", "count"));
	assert_true(is_given("--cou=5", "count"));
	assert_false(is_given("-- --count=5", "count"));
	assert_false(is_given("-t --count", "count"));
	snprintf(variable, sizeof variable, "%s_COUNT", program.variables ? program.variables : program.name);
	for (char *c = variable; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	setenv(variable, "5", 1);
	assert_true(is_given("a b", "count"));
	setenv(variable, "", 1);
	assert_false(is_given("a b", "count"));
	unsetenv(variable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind),
		cmocka_unit_test(choices_and_own_parsers),
		cmocka_unit_test(options_may_be_written_in_all_ways),
		cmocka_unit_test(seeds),
		cmocka_unit_test(list_defaults_are_replaced),
		cmocka_unit_test(misuse),
		cmocka_unit_test(help),
		cmocka_unit_test(version),
		cmocka_unit_test(unwritable_help),
		cmocka_unit_test(descriptors),
		cmocka_unit_test(misuse_found_later),
		cmocka_unit_test(completion),
		cmocka_unit_test(header_argv),
		cmocka_unit_test(given_options_are_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

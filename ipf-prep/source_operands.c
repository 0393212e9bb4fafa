#include "source_operands.h"

#include "input/archive_members.h"
#include "input/remote.h"
#include "sources/detect_format.h"
#include "stream/stream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool source_operands_is_source(const char *name)
{
	struct ipf_error err = {0};
	/* a wrong description is one, too, as is an unreadable one */
	return strcmp(name, "auto") == 0 || source_find(name, &err) || err.kind == IPF_INPUT || err.kind == IPF_SYSTEM;
}

/* Does it begin as a trace of ours? Errors are for the reader coming after. */
static bool is_trace(const char *path)
{
	struct stream_reader *reader = NULL;
	struct slice text = {0};
	struct ipf_error ignored = {0};
	static const char mark[] = "{\"ipf\":\"trace\"";
	bool is = strcmp(path, "-") != 0 && !is_remote(path) && stream_reader_open_input(&reader, path, &ignored) == 0 &&
	          stream_reader_peek(reader, sizeof mark, &text, &ignored) == 0 && text.len >= sizeof mark - 1 &&
	          memcmp(text.data, mark, sizeof mark - 1) == 0;
	stream_reader_close(reader);
	return is;
}

const char *source_operands_trace(const struct operands *operands)
{
	const int count = operands->count;
	const char *first = count ? operands->items[0] : "-", *file = count > 1 ? operands->items[1] : "-";
	if (strcmp(first, "-") == 0)
		return count < 2 ? first : NULL;
	if (strcmp(first, "trace") == 0)
		return count < 3 && !is_remote(file) ? file : NULL;
	if (strcmp(first, "auto") == 0)
		return count == 2 && is_trace(file) ? file : NULL;
	return count == 1 && is_trace(first) ? first : NULL;
}

/* Is it a file rather than a misspelt format? Formats have neither dots nor slashes in their names. */
static bool is_file(const char *name)
{
	return strcmp(name, "-") == 0 || strpbrk(name, "./") || access(name, F_OK) == 0 || archive_member_split(name);
}

/* The source is the first operand. A file in its place is the most frequent mistake. */
static int check_source(const struct operands *operands, const char *command, struct ipf_error *err)
{
	const char *first = operands->items[0], *source = "auto";
	bool remote = is_remote(first); /* an address may have secrets */
	const char *shown = remote ? "ADDRESS" : first, *quote = remote ? "" : "\"";
	if (source_operands_is_source(first))
		return 0;
	for (int i = 1; i < operands->count && is_file(first); i++)
		if (source_operands_is_source(operands->items[i]))
			source = operands->items[i];
	if (is_file(first))
		return ipf_error_set(err, IPF_USAGE, "%s%.200s%s is not a source: the source comes first; try %s: %s %s %.200s",
		                     quote, shown, quote, source, command, source, shown);
	return source_find(first, err) ? 0 : -1;
}

/* Reports an unknown format and missing files before the output is opened. */
static int check_operands(const struct operands *operands, const char *command, struct ipf_error *err)
{
	if (operands->count == 0)
		return ipf_error_set(err, IPF_USAGE, "expected a SOURCE, the format of the input: auto, or one of --list");
	if (check_source(operands, command, err) < 0)
		return -1;
	struct ipf_error ignored = {0};
	const struct source_format *format = source_find(operands->items[0], &ignored);
	if (format && format->unit == UNIT_NONE)
		return operands->count == 1 ? 0
		                            : ipf_error_set(err, IPF_USAGE, "%s: reads no file, got \"%.200s\"", format->name,
		                                            operands->items[1]);
	for (int i = 1; i < operands->count; i++) {
		if (strcmp(operands->items[i], "-") != 0 && !is_remote(operands->items[i]) &&
		    access(operands->items[i], R_OK) < 0 && archive_member_split(operands->items[i]) == 0)
			return ipf_error_errno(err, errno, operands->items[i], "cannot open");
	}
	if (operands->count == 1 && isatty(STDIN_FILENO))
		return ipf_error_set(err, IPF_USAGE, "expected a FILE, or data on standard input");
	return 0;
}

const struct source_format *source_operands_open(const struct prep_config *c, const char *command,
                                                 const struct operands *operands, struct input_paths *paths,
                                                 struct input **first, struct ipf_error *err)
{
	if (check_operands(operands, command, err) < 0)
		return NULL;
	progress_init(&paths->progress, c->common.progress,
	              c->common.quiet || progress_is_left(c->common.output, false, c->common.progress));
	paths->quiet = c->common.quiet;
	struct ipf_error is_auto = {0};
	const struct source_format *named = source_find(operands->items[0], &is_auto);
	paths->ending = named ? named->ending : NULL;
	if (input_paths_expand(paths, operands->items + 1, (size_t)operands->count - 1, err) < 0)
		return NULL;
	if (strcmp(operands->items[0], "auto") != 0)
		return source_find(operands->items[0], err);
	return input_open(first, paths->count ? paths->items[0] : "-", err) == 0
	           ? detect_format(*first, c->fields.count > 0, err)
	           : NULL;
}

/* Files of ipf-prep, from their bytes on: compressed, in archives, in each format or one that is recognised. The first
 * byte picks the format, the second the end of the file's name, which says whether it is an archive. Reading twice
 * gives the same drafts. */
#include "fuzz_input.h"

#include "absent.h"
#include "input/archive_members.h"
#include "sources/detect_format.h"
#include "sources/source_reader.h"
#include "utf8.h"

#include <sys/stat.h>

static const char *const endings[] = {"", ".gz", ".tar", ".zip", ".tar.gz", ".7z", ".csv", ".parquet"};
enum { ENDINGS = sizeof endings / sizeof *endings };

static char folder[32];
static struct memory_file file;

static void remove_folder(void)
{
	char path[64];
	for (int i = 0; i < ENDINGS; i++) {
		snprintf(path, sizeof path, "%s/f%s", folder, endings[i]);
		unlink(path);
	}
	rmdir(folder);
}

/* Names that end as a file's would, of one file in memory. */
static void make_names(void)
{
	char path[64];
	strcpy(folder, "/tmp/ipf-fuzz-XXXXXX");
	must(mkdtemp(folder) != NULL);
	atexit(remove_folder);
	for (int i = 0; i < ENDINGS; i++) {
		snprintf(path, sizeof path, "%s/f%s", folder, endings[i]);
		must(symlink(file.path, path) == 0);
	}
}

/* The drafts taken, as far as they are compared. */
static struct buffer *taken;
static int64_t drafts;

static int take(struct sink *sink, struct draft *d, struct ipf_error *err)
{
	(void)err;
	for (size_t i = 0; i < d->message_count; i++) {
		struct slice text = d->messages[i].text;
		must(!text.data || utf8_valid(text.data, text.len, NULL));
		buffer_slice(taken, text);
	}
	for (size_t i = 0; i < d->count; i++)
		buffer_format(taken, "|%lld %lld", (long long)d->requests[i].input_tokens,
		              (long long)d->requests[i].output_tokens);
	if (++drafts >= 200)
		sink->full = true;
	return 0;
}

static void unusable(struct sink *sink, const char *why)
{
	(void)sink;
	must(*why);
}

static void read_with(const struct source_format *format, char *path, struct buffer *out)
{
	static const struct distribution as_recorded = {.kind = DISTRIBUTION_DATASET};
	static struct token_counter *tokens;
	static const struct capture_settings capture;
	struct source_settings settings = {.n = IPF_ABSENT,
	                                   .sessions = IPF_ABSENT,
	                                   .from_ns = IPF_ABSENT,
	                                   .to_ns = IPF_ABSENT,
	                                   .input = &as_recorded,
	                                   .capture = &capture};
	struct ipf_error err = {0};
	if (!tokens)
		must(token_counter_open(&tokens, "approx", &err) == 0);
	settings.tokens = tokens;
	void *state = NULL;
	must(source_open(format, &settings, &state, &err) == 0);
	struct sink sink = {.take = take, .unusable = unusable, .no_request = unusable, .inexact = unusable};
	struct source_reader reader = {.format = format, .state = state, .sink = &sink, .quiet = true};
	progress_init(&reader.progress, false, true);
	taken = out;
	drafts = 0;
	if (source_reader_run(&reader, &path, 1, &err) < 0)
		must(err.kind != IPF_OK && err.text[0]);
	buffer_format(out, "|%lld %lld %s", (long long)reader.records, (long long)reader.bad, reader.why);
	source_reader_release(&reader);
	draft_release(&sink.draft);
	source_close(format, state);
}

static int found(void *data, const char *path, struct ipf_error *err)
{
	(void)err;
	char *copy = strdup(path);
	int *left = data;
	must(copy != NULL);
	if (--*left >= 0 && archive_member_split(copy)) {
		struct buffer out = {0};
		read_with(source_find("text", err), copy, &out);
		buffer_release(&out);
	}
	free(copy);
	return 0;
}

static void detect(const char *path)
{
	struct input *input;
	struct ipf_error err = {0};
	if (input_open(&input, path, &err) == 0) {
		must(detect_format(input, false, &err) || err.text[0]);
		input_close(input);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t formats = 0;
	char path[64];
	struct buffer once = {0}, twice = {0};
	struct ipf_error err = {0};
	if (size < 2)
		return 0;
	memory_file_set(&file, (struct slice){(const char *)data + 2, size - 2});
	if (!folder[0])
		make_names();
	snprintf(path, sizeof path, "%s/f%s", folder, endings[data[1] % ENDINGS]);
	detect(path);
	while (source_at(formats))
		formats++;
	const struct source_format *format = source_at(data[0] % formats);
	if (is_archive(path)) {
		int left = 4;
		if (archive_members_list(path, found, &left, &err) < 0)
			must(err.text[0]);
	} else if (format->unit != UNIT_NONE) {
		read_with(format, path, &once);
		read_with(format, path, &twice);
		must(slice_equal(buffer_all(&once), buffer_all(&twice)));
	}
	buffer_release(&once);
	buffer_release(&twice);
	return 0;
}

#include "stream/provenance.h"
#include "stream/stream.h"
#include "unit.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/ipf-stream-XXXXXX";
static struct ipf_error err;

static char *path_of(const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static json_t *header(const char *kind)
{
	struct provenance p = {.tool = "ipf-test", .has_seed = true, .seed = 7, .reproducible = true};
	return stream_header(kind, &p);
}

/* Writes `lines` lines of different lengths, and the trailer if `whole`. */
static void write_stream(const char *path, int lines, int whole)
{
	struct stream_writer *w = NULL;
	struct buffer line = {0};
	json_t *head = header("trace");
	assert_int_equal(stream_writer_open(&w, path, head, &err), 0);
	for (int i = 0; i < lines; i++) {
		buffer_clear(&line);
		buffer_format(&line, "{\"i\":%d,\"x\":\"%.*s\"}", i, i % 50,
		              "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
		assert_int_equal(stream_writer_line(w, &line, &err), 0);
		if (i % 7 == 0)
			assert_int_equal(stream_writer_flush(w, &err), 0);
	}
	if (whole)
		assert_int_equal(stream_writer_close(w, json_pack("{s:s}", "note", "hi"), &err), 0);
	else
		stream_writer_abandon(w);
	json_decref(head);
	buffer_release(&line);
}

/* Returns the number of lines before the end; *end is 0 for a whole stream, otherwise the kind of the error. */
static int read_stream(const char *path, enum ipf_error_kind *end)
{
	struct stream_reader *r = NULL;
	struct slice line;
	int lines = 0, got = -1;
	ipf_error_clear(&err);
	if (stream_reader_open(&r, path, "trace", &err) == 0)
		while ((got = stream_reader_next(r, &line, &err)) == 1) {
			char begin[32];
			int len = snprintf(begin, sizeof begin, "{\"i\":%d,", lines++);
			assert_memory_equal(line.data, begin, (size_t)len);
		}
	*end = got == 0 ? IPF_OK : err.kind;
	if (r && got < 0) {
		struct ipf_error again = {0};
		assert_int_equal(stream_reader_next(r, &line, &again), -1);
		assert_string_equal(again.text, err.text);
	}
	stream_reader_close(r);
	return lines;
}

static void comes_back_whole(void **state)
{
	(void)state;
	static const char *const names[] = {"a.trace", "a.trace.zst"};
	static const int sizes[] = {0, 1, 500, 20000};
	for (size_t n = 0; n < 2; n++)
		for (size_t s = 0; s < 4; s++) {
			enum ipf_error_kind end;
			write_stream(path_of(names[n]), sizes[s], 1);
			assert_int_equal(read_stream(path_of(names[n]), &end), sizes[s]);
			assert_int_equal(end, IPF_OK);
		}
}

static void rewinds(void **state)
{
	(void)state;
	struct stream_reader *r = NULL;
	struct slice line;
	write_stream(path_of("r.zst"), 100, 1);
	assert_int_equal(stream_reader_open(&r, path_of("r.zst"), "trace", &err), 0);
	for (int round = 0; round < 3; round++) {
		int lines = 0;
		while (stream_reader_next(r, &line, &err) == 1)
			lines++;
		assert_int_equal(lines, 100);
		assert_string_equal(json_string_value(json_object_get(stream_reader_trailer(r), "note")), "hi");
		assert_int_equal(stream_reader_rewind(r, &err), 0);
	}
	stream_reader_close(r);
}

static void copy_bytes(const char *from, const char *to, long len)
{
	char *bytes = malloc((size_t)len + 1);
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	assert_true(bytes && in && out);
	assert_int_equal(fread(bytes, 1, (size_t)len, in), len);
	assert_int_equal(fwrite(bytes, 1, (size_t)len, out), len);
	fclose(in);
	fclose(out);
	free(bytes);
}

/* Cut at every byte: the stream never counts as whole, and an incomplete line is never returned. */
static void cuts_are_noticed_at_every_byte(void **state)
{
	(void)state;
	static const char *const names[] = {"c.trace", "c.trace.zst"};
	for (size_t n = 0; n < 2; n++) {
		char whole[256], cut[256];
		struct stat st;
		snprintf(whole, sizeof whole, "%s", path_of(names[n]));
		snprintf(cut, sizeof cut, "%s", path_of("cut"));
		write_stream(whole, 30, 1);
		assert_int_equal(stat(whole, &st), 0);
		int before = 0;
		for (long len = 0; len < st.st_size; len++) {
			enum ipf_error_kind end;
			copy_bytes(whole, cut, len);
			int lines = read_stream(cut, &end);
			assert_int_equal(end, IPF_CUT);
			assert_true(lines >= before);
			before = lines;
		}
		assert_int_equal(before, 30);
	}
}

static void every_flipped_byte_is_noticed_or_harmless(void **state)
{
	(void)state;
	char path[256];
	struct stat st;
	snprintf(path, sizeof path, "%s", path_of("f.trace"));
	write_stream(path, 10, 1);
	assert_int_equal(stat(path, &st), 0);
	FILE *f = fopen(path, "r+b");
	assert_non_null(f);
	int header_end = 0, c;
	while ((c = getc(f)) != '\n' && c != EOF)
		header_end++;
	for (long at = header_end + 1; at < st.st_size; at++) {
		struct stream_reader *r = NULL;
		struct slice line;
		int got;
		fseek(f, at, SEEK_SET);
		int old = getc(f);
		fseek(f, at, SEEK_SET);
		putc(old ^ 1, f);
		fflush(f);
		ipf_error_clear(&err);
		assert_int_equal(stream_reader_open(&r, path, "trace", &err), 0);
		while ((got = stream_reader_next(r, &line, &err)) == 1)
			;
		/* in the trailer, only the part after the digest may change undetected */
		if (got == 0)
			assert_true(at > st.st_size - 20);
		stream_reader_close(r);
		fseek(f, at, SEEK_SET);
		putc(old, f);
		fflush(f);
	}
	fclose(f);
}

static void flushed_lines_are_there_without_a_trailer(void **state)
{
	(void)state;
	struct stream_writer *w = NULL;
	struct buffer line = {0};
	enum ipf_error_kind end;
	json_t *head = header("trace");
	assert_int_equal(stream_writer_open(&w, path_of("k.zst"), head, &err), 0);
	for (int i = 0; i < 10; i++) {
		buffer_clear(&line);
		buffer_format(&line, "{\"i\":%d,}", i);
		assert_int_equal(stream_writer_line(w, &line, &err), 0);
	}
	assert_int_equal(stream_writer_flush(w, &err), 0);
	assert_int_equal(read_stream(path_of("k.zst"), &end), 10);
	assert_int_equal(end, IPF_CUT);
	assert_string_equal(strstr(err.text, "cut after"), "cut after 10 good lines: the trailer is missing");
	stream_writer_abandon(w);
	json_decref(head);
	buffer_release(&line);
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void says_what_is_wrong_with_a_stream(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum ipf_error_kind kind;
		const char *says;
	} cases[] = {
		{"", IPF_CUT, "empty: expected an ipf trace stream"},
		{"{\"ipf\":\"tra", IPF_CUT, "cut in the header"},
		{"hello\n", IPF_INPUT, "not an ipf stream"},
		{"hello", IPF_INPUT, "not an ipf stream"},
		{"{\"a\":1}\n", IPF_INPUT, "not an ipf stream"},
		{"{\"ipf\":\"schedule\",\"version\":1}\n", IPF_INPUT, "expected an ipf trace stream, got \"schedule\""},
		{"{\"ipf\":\"trace\",\"version\":2}\n", IPF_INPUT, "version: expected at most 1, got 2: a newer ipf"},
		{"{\"ipf\":\"trace\",\"version\":\"1\"}\n", IPF_INPUT, "version: expected an integer"},
		{"{\"ipf\":\"trace\"}\n", IPF_INPUT, "version: expected an integer"},
		{"{\"ipf\":\"trace\",\"version\":1}\n{\"end\":{\"lines\":1,\"sha256\":\"x\"}}\n", IPF_INPUT,
	     "the trailer counts 1 lines, the stream has 0"},
		{"{\"ipf\":\"trace\",\"version\":1}\n{\"end\":{\"lines\":0,\"sha256\":\"x\"}}\n", IPF_INPUT,
	     "the SHA-256 of the 0 lines differs"},
		{"{\"ipf\":\"trace\",\"version\":1}\n{\"end\":{}}\n", IPF_INPUT, "expected \"lines\" and \"sha256\""},
		{"{\"ipf\":\"trace\",\"version\":1}\n{\"end\":{\"lines\":0,\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}}\nmore\n",
	     IPF_INPUT, "data after the trailer"},
		{"{\"ipf\":\"trace\",\"version\":1}\n{\"end\":{\"lines\":0,\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}}\n",
	     IPF_OK, ""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		enum ipf_error_kind end;
		put_file(path_of("bad"), cases[i].text);
		read_stream(path_of("bad"), &end);
		assert_int_equal(end, cases[i].kind);
		if (!strstr(err.text, cases[i].says))
			fail_msg("case %zu: %s", i, err.text);
	}
	struct stream_reader *r = NULL;
	ipf_error_clear(&err);
	assert_int_equal(stream_reader_open(&r, path_of("nowhere"), "trace", &err), -1);
	assert_int_equal(err.kind, IPF_SYSTEM);
	assert_string_equal(err.text, "cannot open: No such file or directory");
}

static void a_full_disk_is_an_error(void **state)
{
	(void)state;
	struct stream_writer *w = NULL;
	json_t *head = header("trace");
	ipf_error_clear(&err);
	assert_int_equal(stream_writer_open(&w, "/dev/full", head, &err), 0);
	assert_int_equal(stream_writer_close(w, NULL, &err), -1);
	assert_int_equal(err.kind, IPF_SYSTEM);
	assert_string_equal(err.text, "cannot write: No space left on device");
	json_decref(head);
}

static void finds_headers_in_their_descendants(void **state)
{
	(void)state;
	json_t *trace = header("trace"), *schedule = header("schedule"), *records = header("records");
	json_object_set_new(schedule, "from", json_pack("[o]", json_pack("{s:s, s:s}", "ipf", "trace", "sha256", "…")));
	json_array_append(json_object_get(schedule, "from"), trace);
	json_object_set_new(records, "from", json_pack("[O]", schedule));
	assert_ptr_equal(provenance_find(records, "trace"), trace);
	assert_ptr_equal(provenance_find(records, "schedule"), schedule);
	assert_ptr_equal(provenance_find(records, "records"), records);
	assert_null(provenance_find(records, "results"));
	assert_null(json_object_get(trace, "created"));
	json_decref(trace);
	json_decref(schedule);
	json_decref(records);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	static const char *const names[] = {"a.trace", "a.trace.zst", "r.zst", "c.trace", "c.trace.zst",
	                                    "cut",     "f.trace",     "k.zst", "bad"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unlink(path_of(names[i]));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_whole),
		cmocka_unit_test(rewinds),
		cmocka_unit_test(cuts_are_noticed_at_every_byte),
		cmocka_unit_test(every_flipped_byte_is_noticed_or_harmless),
		cmocka_unit_test(flushed_lines_are_there_without_a_trailer),
		cmocka_unit_test(says_what_is_wrong_with_a_stream),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(finds_headers_in_their_descendants),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

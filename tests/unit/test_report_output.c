/* A report written in pieces is the rendered one, compressed or not; a failure is reported once. */
#include "unit.h"

#include "cli/report_output.h"

#include <fcntl.h>
#include <unistd.h>

/* Writes 3 MB in pieces, and returns the size of the file. */
static long long size_of_output(const char *path)
{
	struct report_output to = {.path = path};
	struct ipf_error err = {0};
	struct buffer text = {0};
	for (int i = 0; i < 300000; i++) {
		buffer_text(&text, "a line ..\n");
		assert_true(report_output_spill(&to, &text));
		assert_in_range(text.len, 0, 1 << 20);
	}
	assert_int_equal(report_output_put(&to, &text, &err), 0);
	assert_int_equal(report_output_close(&to, &err), 0);
	buffer_release(&text);
	int fd = open(path, O_RDONLY);
	long long size = lseek(fd, 0, SEEK_END);
	close(fd);
	unlink(path);
	return size;
}

static void output_is_written_in_pieces(void **state)
{
	(void)state;
	assert_int_equal(size_of_output("pieces.txt"), 3000000);
	assert_in_range(size_of_output("pieces.zst"), 20, 3000);
}

static void a_full_disk_is_an_error_once(void **state)
{
	(void)state;
	struct report_output to = {.path = "/dev/full"};
	struct ipf_error err = {0};
	struct buffer text = {0};
	while (text.len < 2 << 20)
		buffer_text(&text, "a line\n");
	assert_false(report_output_spill(&to, &text));
	buffer_text(&text, "more");
	assert_int_equal(report_output_put(&to, &text, &err), -1);
	assert_int_equal(err.kind, IPF_SYSTEM);
	assert_string_equal(err.file, "/dev/full");
	assert_int_equal(report_output_close(&to, &err), -1);
	buffer_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_is_written_in_pieces),
		cmocka_unit_test(a_full_disk_is_an_error_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

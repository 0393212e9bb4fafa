/* Parquet files: rows are lines, each a JSON object in bounded memory, or an error names a reason; read in small pieces
 * they are the same. The first byte gives the form: a whole file, or pages and a footer whose length is in the next two
 * bytes, so the code behind the checks of the frame is reached as well. */
#include "fuzz_input.h"

#include "parquet/parquet.h"
#include "stream/stream.h"

#define ROWS_MAX (1 << 18) /* bytes read of a file */

static void frame(struct slice data, struct buffer *file)
{
	size_t footer = data.len < 2 ? 0 : (unsigned char)data.data[0] | (size_t)(unsigned char)data.data[1] << 8;
	data = data.len < 2 ? (struct slice){"", 0} : (struct slice){data.data + 2, data.len - 2};
	footer = footer < data.len ? footer : data.len;
	uint32_t word = (uint32_t)footer;
	buffer_append(file, "PAR1", 4);
	buffer_append(file, data.data, data.len);
	buffer_append(file, &word, 4);
	buffer_append(file, "PAR1", 4);
}

static void read_rows(int fd, struct slice file, size_t piece, struct buffer *out)
{
	struct parquet *parquet = NULL;
	struct ipf_error err = {0};
	char part[4096];
	int64_t got = -1;
	if (parquet_open(&parquet, fd, (int64_t)file.len, "fuzz", &err) == 0)
		while (out->len < ROWS_MAX && (got = parquet_read(parquet, part, piece, &err)) > 0)
			buffer_append(out, part, (size_t)got);
	if (got < 0)
		must_explain(&err);
	if (parquet)
		must(parquet_position(parquet) >= 0 && parquet_position(parquet) <= (int64_t)file.len);
	parquet_close(parquet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_file memory;
	struct buffer file = {0}, once = {0}, twice = {0};
	if (size == 0)
		return 0;
	struct slice rest = {(const char *)data + 1, size - 1};
	if (data[0] & 1)
		frame(rest, &file);
	else
		buffer_slice(&file, rest);
	stream_limit_lines(1 << 16);
	memory_file_set(&memory, buffer_all(&file));
	read_rows(memory.fd, buffer_all(&file), 4096, &once);
	read_rows(memory.fd, buffer_all(&file), 7, &twice);
	size_t both = once.len < twice.len ? once.len : twice.len;
	must(!both || memcmp(once.data, twice.data, both) == 0);
	must(once.len >= ROWS_MAX || once.len == twice.len);
	if (once.len && once.len < ROWS_MAX)
		must(once.data[0] == '{' && once.data[once.len - 1] == '\n' && once.data[once.len - 2] == '}');
	stream_limit_lines(0);
	buffer_release(&file);
	buffer_release(&once);
	buffer_release(&twice);
	return 0;
}

/* Prints the rows of a Parquet file as JSON Lines, as ipf-prep reads them: parquet_rows FILE. */
#include "parquet/parquet.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char part[1 << 16];
	struct parquet *parquet = NULL;
	struct ipf_error err = {0};
	struct stat st;
	int64_t got = -1;
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0 || fstat(fd, &st) < 0) {
		fputs("usage: parquet_rows FILE\n", stderr);
		return 2;
	}
	if (parquet_open(&parquet, fd, st.st_size, argv[1], &err) == 0)
		while ((got = parquet_read(parquet, part, sizeof part, &err)) > 0)
			fwrite(part, 1, (size_t)got, stdout);
	parquet_close(parquet);
	close(fd);
	if (got < 0)
		return ipf_error_report(&err, stderr, "parquet_rows");
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

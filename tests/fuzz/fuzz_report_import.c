/* A file of another tool is refused with a reason, or it is a part of a run whose rows and figures can be merged and
 * judged. The first byte says whether the tool is named or to be recognised. */
#include "imports/import.h"
#include "results/merge_parts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_file(const char *path, int from, bool lines)
{
	struct ipf_error err = {0};
	struct progress progress;
	struct slo slo = {0};
	struct run_data run = {0};
	progress_init(&progress, false, true);
	if (run_data_init(&run, &slo, &err) < 0 || (lines && run_data_keep_lines(&run, &err) < 0))
		abort();
	int got = import_read(&run, path, from, &progress, &err);
	if (got == 0 && (run.part_count != 1 || merge_parts(&run, &err) < 0 || !verdict_judge(run.verdict)))
		abort();
	if (got < 0 && (err.kind == IPF_OK || err.kind == IPF_SYSTEM || !err.text[0]))
		abort();
	run_data_release(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int count = 0, fd = memfd_create("import", 0);
	char path[40];
	while (importer_names[count])
		count++;
	if (fd < 0 || size == 0)
		return 0;
	if (write(fd, data + 1, size - 1) == (ssize_t)size - 1) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		read_file(path, data[0] % (count + 1) - 1, data[0] & 0x80);
	}
	close(fd);
	return 0;
}

/* Reads the files of a source, record by record, and keeps count of what was not as it should be.
 *
 *     struct source_reader reading = {.format = format, .state = state, .sink = &sink, .prog = "ipf-prep"};
 *     if (source_reader_run(&reading, files, count, &err) < 0) …       // a system error
 *     reading.from      // provenance of each input, for the trailer
 *     reading.bad, reading.incomplete                            // what is missing of the input
 *     source_reader_release(&reading);
 *
 * A record that cannot be used because it is wrong is skipped, and said on standard error, up to ten of them. Where
 * nothing behind the error can be trusted (a JSON array that is cut or broken, a broken compression), reading ends
 * there: that is said too, the files that follow are not read, and what was good stands.
 */
#ifndef PREP_READER_H
#define PREP_READER_H

#include "input/input.h"
#include "cli/progress.h"
#include "sources/source.h"

struct source_reader {
	const struct source_format *format;
	void *state;
	struct sink *sink;
	struct input *first; /* the first file where it is open already, because somebody had to look into it */
	bool stop;           /* at the first bad record */
	bool quiet;          /* skipped records are counted but not said */
	struct progress progress;

	json_t *from;    /* array */
	int64_t records; /* read, the bad ones too */
	int64_t bad;
	bool ended_early; /* at an error in the input: */
	char why[1100];
	int64_t bytes; /* of all inputs, as they stand in their files */
};

/* `files` are operands: "-" or none at all is standard input. 0, or -1 for what is not the input's fault. */
int source_reader_run(struct source_reader *r, char **files, int count, struct ipf_error *err);
void source_reader_release(struct source_reader *r);

#endif

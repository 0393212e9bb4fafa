/* Reads the input files, hands each record to the format, and counts bad records.
 *
 *     struct source_reader reader = {.format = format, .state = state, .sink = &sink};
 *     if (source_reader_run(&reader, files, count, &err) < 0) …  // a system error
 *     reader.from                                                // provenance of each file, for the trailer
 *     reader.bad, reader.ended_early                             // what is missing
 *     source_reader_release(&reader);
 *
 * A bad record is skipped and counted; the first ten are reported on standard error. If nothing after an error can be
 * trusted (a JSON array cut or malformed, corrupt compression), reading ends: the error is reported, the remaining
 * files are not read, and earlier records are kept.
 */
#ifndef PREP_SOURCE_READER_H
#define PREP_SOURCE_READER_H

#include "input/input.h"
#include "cli/progress.h"
#include "sources/source.h"

struct source_reader {
	const struct source_format *format;
	void *state;
	struct sink *sink;
	struct input *first; /* the first file, if it is open already because its format was detected; else NULL */
	bool undigested;     /* nobody wants the digests of captures */
	bool stop;           /* end at the first bad record */
	bool quiet;          /* report only the first skipped record, and their number */
	struct progress progress;

	struct record_notes notes; /* records left out, and unread members, of each file */
	json_t *from;              /* a list */
	int64_t records;           /* read, including bad ones */
	int64_t bad;
	bool ended_early; /* at an error in the input, which is in `why`: "FILE:LINE: text" */
	char why[1100];
	int64_t bytes; /* all files together, before decompression */
};

/* Reads the files; "-", or no file at all, is standard input. 0, also if the input was bad; -1 for any other error. */
int source_reader_run(struct source_reader *r, char **files, int count, struct ipf_error *err);
void source_reader_release(struct source_reader *r);

#endif

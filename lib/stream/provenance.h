/* Provenance: the part of a stream's header and trailer that records how the stream came about. See PROVENANCE in
 * ipf(7).
 *
 *     struct provenance p = {.tool = "ipf-sched", .argv = options_argv(…), .from = from, .has_seed = true, .seed = 7};
 *     json_t *header = stream_header("schedule", &p);
 *     json_object_set_new(header, "stages", …);             // what only this kind of stream has
 *     stream_writer_open(&writer, path, header, &err);
 */
#ifndef IPF_PROVENANCE_H
#define IPF_PROVENANCE_H

#include "stream/stream.h"

struct provenance {
	const char *tool; /* "ipf-prep"; the version is added */
	json_t *argv;     /* the arguments that shape the content (options_argv); NULL: none; taken over */
	json_t *from;     /* array: headers of the input streams, entries of data files; NULL: none; taken over */
	bool has_seed;
	uint64_t seed;     /* written as text if it does not fit a JSON integer, so no bit is lost */
	bool reproducible; /* leave out values changing from run to run: no "created" */
	bool undated; /* never a "created": for a pure function of the input (ipf-collect), so the same records give the
	               * same bytes */
};

/* Returns a new header object with ipf, version, tool, argv, seed, created and from. The caller adds the members of its
 * kind with json_object_set_new. NULL: out of memory. */
json_t *stream_header(const char *kind, struct provenance *p);

/* The name of a run written to this file: that of the file, up to its first dot. New; NULL: it has none, as a standard
 * stream or a device, or one that no terminal should see. */
json_t *provenance_run_name(const char *output);

/* {"file": base name, "bytes": …, "sha256": …}: a data file's entry in "from". New; NULL: out of memory. */
json_t *provenance_file(const char *path, int64_t bytes, const char *sha256);
/* {"ipf": kind, "lines": …, "sha256": …}: the part read of a stream, for the trailer's "from". New; NULL: out of
 * memory. */
json_t *provenance_stream(struct stream_reader *reader);

/* Finds the header of this kind: `header` itself, or the first one in its "from", depth first. Borrowed; NULL: there is
 * none. */
json_t *provenance_find(json_t *header, const char *kind);

#endif

/* The reader behind <ipf/streams.h>, for the modules that go on with its stream. */
#ifndef IPF_READERS_H
#define IPF_READERS_H

#include "lines.h"
#include "stream/stream.h"

struct ipf_reader {
	struct stream_reader *stream;
	const char *kind; /* of the header; borrowed from it */
	struct ipf_line line, header, trailer;
	char *header_json, *trailer_json;
};

struct line_place reader_place(const struct ipf_reader *reader); /* of the last line */

#endif

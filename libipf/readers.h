/* The reader behind <ipf/streams.h>, for the modules going on with its stream. */
#ifndef IPF_READERS_H
#define IPF_READERS_H

#include "lines.h"
#include "stream/stream.h"

struct ipf_reader {
	struct stream_reader *stream;
	const char *kind; /* the header's; borrowed from it */
	struct ipf_line line, header, trailer;
	char *header_json, *trailer_json;
};

struct line_place reader_place(const struct ipf_reader *reader); /* the last line's */

#endif

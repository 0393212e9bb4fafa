/* The media of a trace's requests: those of the data, which are read and checked, and synthetic ones. A medium in the
 * messages, in the parts of the chat API, becomes a mark of the media file (stream/media_file.h), which is made when
 * the first medium comes; without a media file it stays in the message.
 *
 *     media_store_begin(&store);                                   // a request
 *     media_store_message(&store, json, &w, &err);                 // its messages, and
 *     media_store_parts(&store, parts, &w, &err);                  // parts of messages
 *     media_store_make(&store, draws, &w, &err);                   // synthetic ones, as parts
 *     request.media = media_store_list(&store);                    // what they were
 */
#ifndef PREP_MEDIA_STORE_H
#define PREP_MEDIA_STORE_H

#include "json/jdoc.h"
#include "json/jout.h"
#include "media/media_facts.h"
#include "media/media_options.h"
#include "stream/media_file.h"

struct media_store {
	const struct media_options *options;
	uint64_t seed;
	const char *path, *root; /* the media file, NULL: none; where files of the data are, NULL: nowhere */
	const char *source;      /* the media file of the data, if they are a trace; NULL: none */
	struct media_writer *writer;
	int root_fd, source_fd; /* -1: not open yet */
	int64_t source_bytes;
	struct jdoc doc;
	struct buffer bytes, list, text, encoded;
	struct pooled_medium *pools[MEDIUM_KINDS]; /* synthetic ones, by their index in the pool */
};

/* A medium is at most as large. */
#define MEDIUM_BYTES_MAX ((size_t)256 << 20)

/* Refuses an output over a file below the folder of the data that may be a medium which a record names: one that is
 * neither empty, nor a trace, nor a media file. NULL is fine for both. -1: IPF_USAGE. */
int media_store_keep(const char *root, const char *output, struct ipf_error *err);

void media_store_init(struct media_store *store, const struct media_options *options, uint64_t seed);
void media_store_begin(struct media_store *store);
/* Each writes JSON. -1: IPF_INPUT, a medium of the data is no base64 or cannot be read; the media file cannot be
 * written; out of memory. */
int media_store_message(struct media_store *store, struct slice message, struct jout *w, struct ipf_error *err);
/* A list of messages, into `out`, which is cleared first. */
int media_store_messages(struct media_store *store, struct slice list, struct buffer *out, struct ipf_error *err);
/* `parts`: elements of a list with commas between. */
int media_store_parts(struct media_store *store, struct slice parts, struct jout *w, struct ipf_error *err);
/* `number` and `turn` identify the request: its media depend on them, and on the seed. */
int media_store_make(struct media_store *store, uint64_t number, struct jout *w, struct ipf_error *err);
/* The request's media, as JSON; absent: none. Valid until the next request. */
struct slice media_store_list(const struct media_store *store);
/* Closes the media file, and frees. -1: it could not be written. */
int media_store_close(struct media_store *store, struct ipf_error *err);

#endif

/* The media file of a run: the one of --media, or the trace's, which has its name with ".media" behind it. */
#ifndef IPF_TRACE_MEDIA_H
#define IPF_TRACE_MEDIA_H

#include "job/request_body.h"

/* `given`: --media, or NULL. Without it there need not be a file: then media->fd is -1. -1: it cannot be read, or is no
 * media file. */
int trace_media_open(struct request_media *media, const char *given, const char *trace, struct ipf_error *err);
void trace_media_close(struct request_media *media);

#endif

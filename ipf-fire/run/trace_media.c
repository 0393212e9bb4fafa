#include "run/trace_media.h"

#include <unistd.h>

int trace_media_open(struct request_media *media, const char *given, const char *trace, struct ipf_error *err)
{
	struct buffer path = {0};
	*media = (struct request_media){.fd = -1};
	buffer_text(&path, given ? given : trace);
	buffer_text(&path, given ? "" : MEDIA_FILE_SUFFIX);
	if (path.failed)
		ipf_error_memory(err);
	else if (given || access(path.data, F_OK) == 0)
		media->fd = media_file_open(path.data, &media->bytes, err);
	buffer_release(&path);
	return err->kind ? -1 : 0;
}

void trace_media_close(struct request_media *media)
{
	if (media->fd >= 0)
		close(media->fd);
	media->fd = -1;
}

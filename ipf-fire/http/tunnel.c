#include "http/tunnel.h"

#include "version.h"

#include <stdio.h>

void tunnel_request(struct buffer *out, const struct origin *origin)
{
	buffer_format(out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", origin->connect_to, origin->connect_to);
	if (origin->proxy_authorization)
		buffer_format(out, "Proxy-Authorization: %s\r\n", origin->proxy_authorization);
	buffer_text(out, "User-Agent: ipf-fire/" IPF_VERSION "\r\nProxy-Connection: Keep-Alive\r\n\r\n");
}

static void ignore_status(void *data, int status)
{
	(void)data, (void)status;
}

static void ignore_header(void *data, struct slice name, struct slice value)
{
	(void)data, (void)name, (void)value;
}

static bool ignore_body(void *data, const char *bytes, size_t len)
{
	(void)data, (void)bytes, (void)len;
	return true;
}

int tunnel_answer(struct http1_reader *reader, const char *bytes, size_t len, char *why, size_t why_size)
{
	static const struct http1_sink sink = {.status = ignore_status, .header = ignore_header, .body = ignore_body};
	size_t used;
	enum http1_result result = http1_read(reader, bytes, len, &used, &sink, NULL);
	if (result == HTTP1_MORE)
		return 0;
	if (result == HTTP1_COMPLETE && reader->status / 100 == 2)
		return 1;
	if (result == HTTP1_COMPLETE)
		snprintf(why, why_size, "the proxy answered CONNECT with status %d", reader->status);
	else
		snprintf(why, why_size, "the proxy's answer to CONNECT is no HTTP: %s",
		         reader->why ? reader->why : "too large");
	return -1;
}

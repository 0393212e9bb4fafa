#include "http/curl_streams.h"

#include <dlfcn.h>

#define MAX_CONCURRENT_STREAMS 3 /* RFC 9113, 6.5.2 */

static uint32_t (*remote_settings)(void *session, int id);
static _Thread_local uint32_t last;

void curl_streams_init(void)
{
	*(void **)&remote_settings = dlsym(RTLD_NEXT, "nghttp2_session_get_remote_settings");
}

/* Replaces nghttp2's function, with the same behaviour for the caller. libcurl calls it when a server's settings have
 * arrived; see timestamped_recv in timestamp.c for how it comes to call this one. A libcurl that contains nghttp2 does
 * not, and then the number of streams is not known. */
uint32_t noted_remote_settings(void *session, int id) __asm__("nghttp2_session_get_remote_settings");

__attribute__((visibility("default"), used)) uint32_t noted_remote_settings(void *session, int id)
{
	uint32_t value = remote_settings ? remote_settings(session, id) : 0;
	if (id == MAX_CONCURRENT_STREAMS)
		last = value;
	return value;
}

uint32_t curl_streams_read(void)
{
	uint32_t value = last;
	last = 0;
	return value;
}

/* What an HTTP/2 server still sends when it closes a connection.
 *
 * With GOAWAY the server announces the last stream that it has processed; it accepts no others. As soon as libcurl
 * (7.88) has read that and no stream is left, it closes the session. It then loses what is still to be reported for the
 * last streams: trailers, and with them the status of a gRPC call, or that the server refused a stream unprocessed, so
 * that it may be sent again. Before it closes the session, libcurl asks nghttp2 whether there is more to read. This
 * module answers yes until the streams that have ended are reported. A connection without requests is closed as usual.
 */
#include "http/h2_goaway.h"

#include "http/transport_state.h"

#include <dlfcn.h>

static _Thread_local const struct transport *working;

/* nghttp2's functions, found at run time. A libcurl that contains nghttp2 does not call them through the dynamic
 * linker; then nothing here is used. */
static int (*want_read)(void *session);
static void *(*root_stream)(void *session), *(*first_child)(void *stream);

void h2_goaway_init(void)
{
	*(void **)&want_read = dlsym(RTLD_NEXT, "nghttp2_session_want_read");
	*(void **)&root_stream = dlsym(RTLD_NEXT, "nghttp2_session_get_root_stream");
	*(void **)&first_child = dlsym(RTLD_NEXT, "nghttp2_stream_get_first_child");
}

void h2_goaway_attach(const struct transport *t)
{
	working = t;
}

static bool in_use(const struct transport *t)
{
	int fd = timestamps_last_read(t->setup.timestamps);
	return fd < 0 || (size_t)fd >= t->sockets_count || !t->sockets[fd].idle;
}

/* Replaces nghttp2's function; see timestamped_recv in timestamp.c for how libcurl comes to call this one. A session
 * that has streams but reads nothing more is broken, and libcurl must be told so. */
int patient_want_read(void *session) __asm__("nghttp2_session_want_read");

__attribute__((visibility("default"), used)) int patient_want_read(void *session)
{
	int wanted = want_read ? want_read(session) : 1;
	if (wanted || !working || !root_stream || !first_child)
		return wanted;
	return in_use(working) && !first_child(root_stream(session));
}

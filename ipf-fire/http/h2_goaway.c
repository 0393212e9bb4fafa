/* What a server of HTTP/2 still has to say when it closes a connection.
 *
 * With its last streams it says GOAWAY: this far it has looked at streams, and it takes no others. As soon as libcurl
 * (7.88) has read that, and no stream is left, it lets go of the session, and of what the last streams still have to
 * tell: trailers, and with them the status of a gRPC call, and that the server refused a stream unseen, which may be
 * sent again. It asks nghttp2 whether there is anything more to be read; to that we say yes until those that ended have
 * been told. A connection that no request is on is another matter: that one is over. */
#include "http/h2_goaway.h"

#include "http/transport_state.h"

#include <dlfcn.h>

static _Thread_local const struct transport *working;

/* nghttp2's, found at run time: libcurl has them, or has nghttp2 built in, and then asks nobody. */
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

/* As anyone who calls nghttp2 can tell, its function; see timestamped_recv of timestamp.c for how libcurl comes to call
 * this one. A session that has streams and reads no more is broken, and libcurl has to hear of it. */
int patient_want_read(void *session) __asm__("nghttp2_session_want_read");

__attribute__((visibility("default"), used)) int patient_want_read(void *session)
{
	int wanted = want_read ? want_read(session) : 1;
	if (wanted || !working || !root_stream || !first_child)
		return wanted;
	return in_use(working) && !first_child(root_stream(session));
}

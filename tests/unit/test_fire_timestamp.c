#include "unit.h"

#include "absent.h"
#include "clock.h"
#include "stream/fields.h"
#include "http/timestamp.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <linux/net_tstamp.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WALL INT64_C(1800000000000000000) /* the offset of the clocks in these tests */

static struct thread_stats meter;

static struct timestamps *fresh(int *fd)
{
	meter = (struct thread_stats){0};
	struct timestamps *s = timestamps_new(&meter, true);
	assert_non_null(s);
	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(*fd >= 0);
	assert_null(timestamps_of(s, *fd));
	assert_true(timestamps_watch(s, *fd));
	assert_null(timestamps_of(s, *fd));
	assert_false(timestamps_compare_clocks(s, 1000, WALL + 1010, 1020));
	return s;
}

static void end(struct timestamps *s, int fd)
{
	close(fd);
	timestamps_free(s);
}

static void test_converts_to_our_clock(void **state)
{
	int fd;
	struct timestamps *s = fresh(&fd);
	(void)state;
	timestamps_note(s, fd, WALL + 5000, 9000);
	assert_int_equal(timestamps_of(s, fd)->t_ns, 5000);
	assert_int_equal(timestamps_of(s, fd)->own_ns, 9000);
	/* more of the same packet, which was available at the previous read */
	timestamps_note(s, fd, WALL + 5000, 9900);
	assert_int_equal(timestamps_of(s, fd)->own_ns, 9000);
	timestamps_note(s, fd, WALL + 9500, 9950);
	assert_int_equal(timestamps_of(s, fd)->t_ns, 9500);
	/* a read without a timestamp has no time */
	timestamps_note(s, fd, 0, 10000);
	assert_null(timestamps_of(s, fd));
	assert_int_equal(meter.stamped, 2);
	assert_int_equal(meter.without, 1);
	assert_int_equal(meter.rejected, 0);
	/* another connection with the same descriptor */
	timestamps_note(s, fd, WALL + 9900, 10000);
	timestamps_forget(s, fd);
	assert_null(timestamps_of(s, fd));
	timestamps_note(s, fd, WALL + 9900, 10000);
	assert_null(timestamps_of(s, fd));
	end(s, fd);
}

static void test_rejects_impossible_timestamps(void **state)
{
	int fd;
	struct timestamps *s = fresh(&fd);
	(void)state;
	/* in the future by no more than the error of the offset */
	timestamps_note(s, fd, WALL + 5200, 5000);
	assert_int_equal(timestamps_of(s, fd)->t_ns, 5000);
	assert_int_equal(meter.rejected, 0);
	timestamps_note(s, fd, WALL + 60000, 50000);
	assert_int_equal(timestamps_of(s, fd)->t_ns, 50000);
	assert_int_equal(meter.rejected, 1);
	timestamps_note(s, fd, WALL + 55000, 56000);
	timestamps_reject(s, fd);
	assert_int_equal(timestamps_of(s, fd)->t_ns, 56000);
	assert_int_equal(meter.rejected, 2);
	assert_int_equal(meter.stamped, 1);
	end(s, fd);
}

static void test_follows_clock_steps(void **state)
{
	int fd;
	struct timestamps *s = fresh(&fd);
	(void)state;
	/* an inaccurate comparison is no step, and the more accurate one stays */
	assert_false(timestamps_compare_clocks(s, 1000000, WALL + 1000000, 1004000));
	timestamps_note(s, fd, WALL + 1000500, 1004100);
	assert_int_equal(timestamps_of(s, fd)->t_ns, 1000500);
	/* a more accurate one replaces it */
	assert_false(timestamps_compare_clocks(s, 2000000, WALL + 2000013, 2000010));
	timestamps_note(s, fd, WALL + 2000000, 2000100);
	assert_int_equal(timestamps_of(s, fd)->t_ns, 1999992);
	/* set forward by 5 us, then back by an hour */
	assert_true(timestamps_compare_clocks(s, 3000000, WALL + 3005010, 3000020));
	timestamps_note(s, fd, WALL + 3005000, 3000100);
	assert_int_equal(timestamps_of(s, fd)->t_ns, 3000000);
	assert_true(timestamps_compare_clocks(s, 4000000, WALL + 4000010 - 3600 * NS_PER_S, 4000020));
	timestamps_note(s, fd, WALL + 4000000 - 3600 * NS_PER_S, 4000100);
	assert_int_equal(timestamps_of(s, fd)->t_ns, 4000000);
	assert_int_equal(meter.steps, 2);
	end(s, fd);
}

/* Each thread has its own attachment, because libcurl's own threads read, too. */
static void *other_thread(void *data)
{
	int *fds = data;
	char byte;
	assert_int_equal(recv(fds[0], &byte, 1, 0), 1);
	return NULL;
}

static void test_recv_behaves_as_before(void **state)
{
	int fds[2];
	char text[8] = "";
	meter = (struct thread_stats){0};
	struct timestamps *s = timestamps_new(&meter, true);
	pthread_t thread;
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_false(timestamps_watch(s, fds[0])); /* Unix sockets have no timestamps */
	timestamps_attach(s);
	assert_int_equal(send(fds[1], "abcde", 5, 0), 5);
	assert_int_equal(recv(fds[0], text, 2, MSG_PEEK), 2);
	assert_string_equal(text, "ab");
	assert_int_equal(recv(fds[0], text, 4, 0), 4);
	assert_string_equal(text, "abcd");
	assert_null(timestamps_of(s, fds[0]));
	assert_int_equal(pthread_create(&thread, NULL, other_thread, fds), 0);
	pthread_join(thread, NULL);
	assert_int_equal(meter.without, 0);
	assert_int_equal(recv(fds[0], text, 4, MSG_DONTWAIT), -1);
	close(fds[1]);
	assert_int_equal(recv(fds[0], text, 4, 0), 0);
	assert_int_equal(recv(-1, text, 4, 0), -1);
	timestamps_free(s); /* detaches it, too */
	assert_int_equal(recv(fds[0], text, 4, 0), 0);
	close(fds[0]);
}

/* Only our own clock, and two connections whose first ends are read. */
static struct timestamps *unwatched(int fds[2], int others[2])
{
	meter = (struct thread_stats){0};
	struct timestamps *s = timestamps_new(&meter, false);
	assert_non_null(s);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, others), 0);
	assert_false(timestamps_watch(s, fds[0]));
	assert_false(timestamps_watch(s, others[0]));
	return s;
}

static void test_notes_our_own_clock(void **state)
{
	int fds[2], others[2];
	char text[8];
	struct timestamps *s = unwatched(fds, others);
	(void)state;
	timestamps_attach(s);
	assert_int_equal(send(fds[1], "abcd", 4, 0), 4);
	assert_int_equal(send(others[1], "ef", 2, 0), 2);
	assert_true(timestamps_own(s, fds[0]) == IPF_ABSENT && timestamps_own(s, -1) == IPF_ABSENT);
	assert_int_equal(recv(fds[0], text, 2, MSG_PEEK), 2);
	assert_true(timestamps_own(s, fds[0]) == IPF_ABSENT);
	int64_t before = clock_now();
	assert_int_equal(recv(fds[0], text, 2, 0), 2);
	int64_t between = clock_now();
	assert_true(timestamps_own(s, fds[0]) >= before && timestamps_own(s, fds[0]) <= between);
	assert_int_equal(timestamps_own(s, -1), timestamps_own(s, fds[0]));
	assert_int_equal(recv(fds[0], text, 2, 0), 2);
	assert_true(timestamps_own(s, fds[0]) >= between);
	assert_int_equal(recv(others[0], text, 2, 0), 2);
	assert_true(timestamps_own(s, others[0]) >= timestamps_own(s, fds[0]) &&
	            timestamps_own(s, -1) == timestamps_own(s, others[0]));
	/* nothing arrived */
	int64_t last = timestamps_own(s, others[0]);
	assert_int_equal(recv(fds[0], text, 2, MSG_DONTWAIT), -1);
	assert_int_equal(timestamps_own(s, others[0]), last);
	timestamps_attach(s);
	assert_true(timestamps_own(s, others[0]) == IPF_ABSENT && timestamps_own(s, -1) == IPF_ABSENT);
	/* and no socket is watched */
	int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_false(timestamps_watch(s, tcp));
	assert_int_equal(meter.without + meter.stamped, 0);
	int open[] = {fds[0], fds[1], others[0], others[1], tcp};
	for (size_t i = 0; i < sizeof open / sizeof *open; i++)
		close(open[i]);
	timestamps_free(s);
}

static void test_limits_reads_per_event(void **state)
{
	int fds[2], others[2];
	char text[8];
	struct timestamps *s = unwatched(fds, others);
	(void)state;
	assert_int_equal(send(fds[1], "abcdefgh", 8, 0), 8);
	assert_int_equal(send(others[1], "ij", 2, 0), 2);
	timestamps_limit(s, 3);
	timestamps_attach(s);
	assert_int_equal(recv(fds[0], text, 2, 0), 2);
	assert_int_equal(recv(fds[0], text, 2, 0), 2);
	errno = 0;
	assert_int_equal(recv(fds[0], text, 2, 0), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(recv(fds[0], text, 2, MSG_PEEK), 2); /* a peek is possible */
	assert_int_equal(recv(others[0], text, 2, 0), 2);     /* and the limit is per socket */
	timestamps_attach(s);
	assert_int_equal(recv(fds[0], text, 8, 0), 4);
	assert_memory_equal(text, "efgh", 4);
	timestamps_limit(s, 0);
	assert_int_equal(send(fds[1], "kl", 2, 0), 2);
	assert_int_equal(recv(fds[0], text, 8, 0), 2);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(others[i]);
	}
	timestamps_free(s);
}

/* A TCP connection over loopback; `from` is watched. */
static void connect_to_self(struct timestamps *s, int *from, int *to)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	*from = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	assert_true(timestamps_watch(s, *from));
	assert_int_equal(connect(*from, (struct sockaddr *)&a, len), 0);
	setsockopt(*from, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	*to = accept(listener, NULL, NULL);
	close(listener);
}

/* The timestamp is between the send and the read, although the read is late. */
static void test_notes_receive_time(void **state)
{
	(void)state;
	if (timestamps_trial())
		skip();
	struct timestamps *s = timestamps_new(&meter, true);
	int from, to, right = 0;
	char byte = 'x';
	connect_to_self(s, &from, &to);
	for (int i = 0; i < 20; i++) {
		int64_t before = clock_now();
		assert_int_equal(send(to, &byte, 1, 0), 1);
		int64_t after = clock_now();
		poll(NULL, 0, 5); /* late on purpose */
		timestamps_attach(s);
		assert_int_equal(recv(from, &byte, 1, 0), 1);
		const struct timestamp *read = timestamps_of(s, -1);
		assert_ptr_equal(read, timestamps_of(s, from));
		if (!read)
			continue; /* the kernel starts a moment after it was asked */
		assert_true(read->own_ns >= before + 5 * NS_PER_MS);
		/* the clocks are read one after the other, and the process may be interrupted in between */
		right += read->t_ns >= before - 1000 && read->t_ns <= after + NS_PER_MS;
	}
	timestamps_attach(NULL);
	assert_true(right >= 15);
	close(from);
	close(to);
	timestamps_free(s);
	timestamps_free(NULL);
}

static short polled(int fd)
{
	const struct timespec at_once = {0};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ppoll(&p, 1, &at_once, NULL); /* poll is the replacement in timestamp.c */
	return p.revents;
}

/* Polls as libcurl does. */
static short asked(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};
	return poll(&p, 1, 0) ? p.revents : 0;
}

static void test_poll_knows_an_empty_socket(void **state)
{
	(void)state;
	char byte[4];
	struct timestamps *s = timestamps_new(&meter, true);
	int from, to;
	connect_to_self(s, &from, &to);
	timestamps_attach(s);
	assert_int_equal(send(to, "abcdef", 6, 0), 6);
	while (!polled(from))
		;
	assert_int_equal(asked(from, POLLIN), POLLIN);
	assert_int_equal(recv(from, byte, 3, 0), 3);
	assert_int_equal(asked(from, POLLIN), POLLIN); /* there was no room for more */
	assert_int_equal(recv(from, byte, 4, 0), 3);
	assert_int_equal(sendto(to, "g", 1, 0, NULL, 0), 1); /* not send, which would concern another socket */
	while (!polled(from))
		;
	assert_int_equal(asked(from, POLLIN), 0); /* until the next event */
	assert_int_equal(asked(from, POLLIN | POLLOUT), POLLIN | POLLOUT);
	timestamps_attach(s);
	assert_int_equal(asked(from, POLLIN), POLLIN);
	assert_int_equal(send(from, "h", 1, 0), 1);
	assert_int_equal(asked(from, POLLIN), 0); /* no response to that yet */
	timestamps_attach(s);
	assert_int_equal(asked(from, POLLIN), POLLIN);
	timestamps_attach(NULL);
	close(from);
	close(to);
	timestamps_free(s);
}

/* A byte whose timestamp is not read. */
static void send_aside(int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(uint32_t))];
		struct cmsghdr align;
	} control = {.bytes = {0}};
	const uint32_t what = SOF_TIMESTAMPING_TX_SOFTWARE;
	struct iovec from = {.iov_base = (char[]){'x'}, .iov_len = 1};
	struct msghdr m = {.msg_iov = &from, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	*CMSG_FIRSTHDR(&m) = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SO_TIMESTAMPING, .cmsg_len = CMSG_LEN(sizeof what)};
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &what, sizeof what);
	assert_int_equal(sendmsg(fd, &m, 0), 1);
}

static void test_notes_send_time(void **state)
{
	(void)state;
	if (timestamps_trial())
		skip();
	struct timestamps *s = timestamps_new(&meter, true);
	int from, to, right = 0;
	connect_to_self(s, &from, &to);
	timestamps_attach(s);
	assert_int_equal(send(from, "ab", 2, 0), 2);
	assert_int_equal(timestamps_sent(s, from), INT64_MIN); /* not requested */
	timestamps_watch_sends(s, from);
	for (int i = 0; i < 20; i++) {
		int64_t before = clock_now();
		timestamps_attach(s);
		assert_int_equal(send(from, "abcdef", (size_t)(1 + i % 6), 0), 1 + i % 6);
		int64_t after = clock_now(), left = timestamps_sent(s, from);
		assert_int_equal(left, timestamps_sent(s, -1));
		/* a poll does not report the timestamp as an error */
		assert_int_equal(polled(from), 0);
		right += left >= before - 1000 && left <= after;
	}
	assert_true(right >= 15);
	/* a timestamp that is still in the queue did not arrive in time */
	send_aside(from);
	while (polled(from) != POLLERR)
		;
	assert_int_equal(timestamps_late(s, from, POLLERR), 0);
	assert_int_equal(polled(from), 0);
	/* and one that epoll reported, and that has been read since */
	assert_int_equal(timestamps_late(s, from, POLLERR), 0);
	/* nor does a poll before it is read report it */
	send_aside(from);
	while (polled(from) != POLLERR)
		;
	assert_int_equal(asked(from, POLLIN), 0);
	send_aside(from);
	while (polled(from) != POLLERR)
		;
	assert_int_equal(asked(from, POLLIN | POLLOUT), POLLOUT);
	/* with a response that arrived meanwhile */
	send_aside(from);
	assert_int_equal(send(to, "y", 1, 0), 1);
	while (!(polled(from) & POLLIN))
		;
	assert_int_equal(timestamps_late(s, from, POLLERR | POLLIN), POLLIN);
	/* a real error is still reported: the peer resets */
	struct linger hard = {.l_onoff = 1};
	setsockopt(to, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
	close(to);
	while (!(polled(from) & POLLHUP))
		;
	assert_true(timestamps_late(s, from, POLLERR | POLLHUP | POLLIN) & (POLLERR | POLLHUP));
	timestamps_attach(NULL);
	close(from);
	timestamps_free(s);
}

/* More sends than are worth timestamps: the first ones get one, then one per tenth of a millisecond. */
static void test_limits_timestamps_of_sends(void **state)
{
	(void)state;
	if (timestamps_trial())
		skip();
	struct timestamps *s = timestamps_new(&meter, true);
	int from, to, early = 0, late = 0;
	char byte[16];
	connect_to_self(s, &from, &to);
	timestamps_watch_sends(s, from);
	timestamps_attach(s);
	int64_t begin = clock_now();
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(send(from, "x", 1, 0), 1);
		*(i < 1000 ? &early : &late) += timestamps_sent(s, from) != INT64_MIN;
		assert_int_equal(recv(to, byte, sizeof byte, 0), 1);
	}
	int64_t tenths = (clock_now() - begin) / (NS_PER_MS / 10);
	assert_true(early >= 700); /* some may arrive late, and are not counted then */
	assert_true(late <= 24 + tenths + 1);
	assert_int_equal(polled(from), 0);
	poll(NULL, 0, 20);
	for (int i = early = 0; i < 100; i++) {
		assert_int_equal(send(from, "x", 1, 0), 1);
		early += timestamps_sent(s, from) != INT64_MIN;
		assert_int_equal(recv(to, byte, sizeof byte, 0), 1);
	}
	assert_true(early >= 50);
	timestamps_attach(NULL);
	close(from);
	close(to);
	timestamps_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_converts_to_our_clock),
		cmocka_unit_test(test_rejects_impossible_timestamps),
		cmocka_unit_test(test_follows_clock_steps),
		cmocka_unit_test(test_recv_behaves_as_before),
		cmocka_unit_test(test_notes_our_own_clock),
		cmocka_unit_test(test_limits_reads_per_event),
		cmocka_unit_test(test_poll_knows_an_empty_socket),
		cmocka_unit_test(test_notes_receive_time),
		cmocka_unit_test(test_notes_send_time),
		cmocka_unit_test(test_limits_timestamps_of_sends),
	};
	curl_global_init(CURL_GLOBAL_DEFAULT);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	curl_global_cleanup();
	return failed;
}

#include "unit.h"

#include "clock.h"
#include "http/timestamp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <linux/net_tstamp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WALL INT64_C(1800000000000000000) /* the offset of the clocks in these tests */

static struct thread_stats meter;

static struct timestamps *fresh(struct socket_times *times)
{
	meter = (struct thread_stats){0};
	*times = (struct socket_times){.receives = true};
	struct timestamps *s = timestamps_new(&meter, true);
	assert_non_null(s);
	assert_false(timestamps_compare_clocks(s, 1000, WALL + 1010, 1020));
	return s;
}

static void test_converts_to_our_clock(void **state)
{
	struct socket_times times;
	struct timestamps *s = fresh(&times);
	(void)state;
	assert_int_equal(timestamps_note(s, &times, WALL + 5000, 9000).t_ns, 5000);
	assert_int_equal(times.last.own_ns, 9000);
	/* more of the same packet, which was available at the previous read */
	assert_int_equal(timestamps_note(s, &times, WALL + 5000, 9900).own_ns, 9000);
	assert_int_equal(timestamps_note(s, &times, WALL + 9500, 9950).t_ns, 9500);
	/* a read without a timestamp has our own time */
	assert_int_equal(timestamps_note(s, &times, 0, 10000).t_ns, 10000);
	assert_int_equal(meter.stamped, 2);
	assert_int_equal(meter.without, 1);
	assert_int_equal(meter.rejected, 0);
	timestamps_reject(s, &times); /* it has none */
	assert_int_equal(meter.rejected, 0);
	timestamps_free(s);
}

static void test_rejects_impossible_timestamps(void **state)
{
	struct socket_times times;
	struct timestamps *s = fresh(&times);
	(void)state;
	/* in the future by no more than the error of the offset */
	assert_int_equal(timestamps_note(s, &times, WALL + 5200, 5000).t_ns, 5000);
	assert_int_equal(meter.rejected, 0);
	assert_int_equal(timestamps_note(s, &times, WALL + 60000, 50000).t_ns, 50000);
	assert_int_equal(meter.rejected, 1);
	timestamps_note(s, &times, WALL + 55000, 56000);
	timestamps_reject(s, &times);
	assert_int_equal(times.last.t_ns, 56000);
	assert_int_equal(meter.rejected, 2);
	assert_int_equal(meter.stamped, 1);
	timestamps_free(s);
}

static void test_follows_clock_steps(void **state)
{
	struct socket_times times;
	struct timestamps *s = fresh(&times);
	(void)state;
	/* an inaccurate comparison is no step, and the more accurate one stays */
	assert_false(timestamps_compare_clocks(s, 1000000, WALL + 1000000, 1004000));
	assert_int_equal(timestamps_note(s, &times, WALL + 1000500, 1004100).t_ns, 1000500);
	/* a more accurate one replaces it */
	assert_false(timestamps_compare_clocks(s, 2000000, WALL + 2000013, 2000010));
	assert_int_equal(timestamps_note(s, &times, WALL + 2000000, 2000100).t_ns, 1999992);
	/* set forward by 5 us, then back by an hour */
	assert_true(timestamps_compare_clocks(s, 3000000, WALL + 3005010, 3000020));
	assert_int_equal(timestamps_note(s, &times, WALL + 3005000, 3000100).t_ns, 3000000);
	assert_true(timestamps_compare_clocks(s, 4000000, WALL + 4000010 - 3600 * NS_PER_S, 4000020));
	assert_int_equal(timestamps_note(s, &times, WALL + 4000000 - 3600 * NS_PER_S, 4000100).t_ns, 4000000);
	assert_int_equal(meter.steps, 2);
	timestamps_free(s);
}

/* A Unix socket has no timestamps; neither has any if they are not wanted. */
static void test_notes_our_own_clock(void **state)
{
	int fds[2];
	char text[8] = "";
	struct timestamp at = {0};
	(void)state;
	for (int kernel = 0; kernel < 2; kernel++) {
		struct socket_times times;
		meter = (struct thread_stats){0};
		struct timestamps *s = timestamps_new(&meter, kernel);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
		assert_false(timestamps_watch(s, &times, fds[0]));
		assert_int_equal(send(fds[1], "abcde", 5, 0), 5);
		int64_t before = clock_now();
		assert_int_equal(timestamps_recv(s, &times, fds[0], text, 4, &at), 4);
		assert_string_equal(text, "abcd");
		assert_true(at.own_ns >= before && at.own_ns <= clock_now() && at.t_ns == at.own_ns);
		assert_int_equal(timestamps_recv(s, &times, fds[0], text, 4, &at), 1);
		errno = 0;
		assert_int_equal(timestamps_recv(s, &times, fds[0], text, 4, &at), -1);
		assert_int_equal(errno, EAGAIN);
		close(fds[1]);
		assert_int_equal(timestamps_recv(s, &times, fds[0], text, 4, &at), 0);
		assert_int_equal(timestamps_recv(s, &times, -1, text, 4, &at), -1);
		assert_int_equal(meter.without + meter.stamped, 0);
		close(fds[0]);
		timestamps_free(s);
	}
	/* and no socket is watched */
	struct socket_times times;
	struct timestamps *s = timestamps_new(&meter, false);
	int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_false(timestamps_watch(s, &times, tcp));
	close(tcp);
	timestamps_free(s);
}

static void test_sends_parts(void **state)
{
	int fds[2];
	char text[8] = "";
	struct socket_times times = {0};
	struct timestamps *s = timestamps_new(&meter, true);
	struct iovec parts[2] = {{(char[]){"abc"}, 3}, {(char[]){"defg"}, 4}};
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(timestamps_send(s, &times, fds[0], parts, 2), 7);
	assert_int_equal(recv(fds[1], text, sizeof text, 0), 7);
	assert_string_equal(text, "abcdefg");
	close(fds[1]);
	errno = 0;
	assert_int_equal(timestamps_send(s, &times, fds[0], parts, 2), -1); /* without a signal */
	assert_int_equal(errno, EPIPE);
	close(fds[0]);
	timestamps_free(s);
}

/* A TCP connection over loopback; `from` is watched. */
static void connect_to_self(struct timestamps *s, struct socket_times *times, int *from, int *to)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	*from = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&a, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	assert_true(timestamps_watch(s, times, *from));
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
	struct socket_times times;
	struct timestamp at;
	int from, to, right = 0;
	char byte = 'x';
	connect_to_self(s, &times, &from, &to);
	for (int i = 0; i < 20; i++) {
		int64_t before = clock_now();
		assert_int_equal(send(to, &byte, 1, 0), 1);
		int64_t after = clock_now();
		poll(NULL, 0, 5); /* late on purpose */
		assert_int_equal(timestamps_recv(s, &times, from, &byte, 1, &at), 1);
		assert_true(at.own_ns >= before + 5 * NS_PER_MS);
		/* the clocks are read one after the other, and the process may be interrupted in between; and the kernel starts
		 * a moment after it was asked */
		right += at.t_ns >= before - 1000 && at.t_ns <= after + NS_PER_MS;
	}
	assert_true(right >= 15);
	close(from);
	close(to);
	timestamps_free(s);
	timestamps_free(NULL);
}

static short polled(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	poll(&p, 1, 0);
	return p.revents;
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
	struct socket_times times;
	struct iovec part = {(char[]){"abcdef"}, 2};
	int from, to, right = 0;
	connect_to_self(s, &times, &from, &to);
	assert_int_equal(timestamps_send(s, &times, from, &part, 1), 2);
	assert_int_equal(times.sent_ns, 0); /* not requested */
	timestamps_watch_sends(&times, from);
	for (int i = 0; i < 20; i++) {
		part.iov_len = (size_t)(1 + i % 6);
		int64_t before = clock_now();
		assert_int_equal(timestamps_send(s, &times, from, &part, 1), 1 + i % 6);
		int64_t after = clock_now();
		assert_int_equal(polled(from), 0); /* the timestamp has been taken from the queue */
		right += times.sent_ns >= before - 1000 && times.sent_ns <= after;
	}
	assert_true(right >= 15);
	/* one that came after the send is reported as an error, which it is not */
	send_aside(from);
	while (polled(from) != POLLERR)
		;
	timestamps_late(s, &times, from);
	assert_int_equal(polled(from), 0);
	timestamps_late(s, &times, from); /* there may be none */
	close(from);
	close(to);
	timestamps_free(s);
}

/* More sends than are worth timestamps: the first ones get one, then one per half a millisecond. */
static void test_limits_timestamps_of_sends(void **state)
{
	(void)state;
	if (timestamps_trial())
		skip();
	struct timestamps *s = timestamps_new(&meter, true);
	struct socket_times times;
	struct iovec part = {(char[]){"x"}, 1};
	int from, to, early = 0, late = 0;
	char byte[16];
	connect_to_self(s, &times, &from, &to);
	timestamps_watch_sends(&times, from);
	int64_t begin = clock_now();
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(timestamps_send(s, &times, from, &part, 1), 1);
		*(i < 1000 ? &early : &late) += times.sent_ns != 0;
		assert_int_equal(recv(to, byte, sizeof byte, 0), 1);
	}
	int64_t halves = (clock_now() - begin) / (NS_PER_MS / 2);
	assert_true(early >= 700); /* some may arrive late, and are not counted then */
	assert_true(late <= 24 + halves + 1);
	assert_int_equal(polled(from), 0);
	poll(NULL, 0, 100);
	for (int i = early = 0; i < 100; i++) {
		assert_int_equal(timestamps_send(s, &times, from, &part, 1), 1);
		early += times.sent_ns != 0;
		assert_int_equal(recv(to, byte, sizeof byte, 0), 1);
	}
	assert_true(early >= 50);
	close(from);
	close(to);
	timestamps_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_converts_to_our_clock), cmocka_unit_test(test_rejects_impossible_timestamps),
		cmocka_unit_test(test_follows_clock_steps),   cmocka_unit_test(test_notes_our_own_clock),
		cmocka_unit_test(test_sends_parts),           cmocka_unit_test(test_notes_receive_time),
		cmocka_unit_test(test_notes_send_time),       cmocka_unit_test(test_limits_timestamps_of_sends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "reach.h"

#include "clock.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* 0, or the errno of why not. */
static int try_address(const struct addrinfo *a, int64_t timeout_ns)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), why = 0;
	if (fd < 0)
		return errno;
	if (connect(fd, a->ai_addr, a->ai_addrlen) < 0)
		why = errno;
	if (why == EINPROGRESS) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		int64_t ms = timeout_ns / NS_PER_MS + 1;
		socklen_t len = sizeof why;
		int got = poll(&p, 1, ms > 1000000 ? 1000000 : (int)ms);
		if (got < 0)
			why = errno;
		else if (got == 0)
			why = ETIMEDOUT;
		else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0)
			why = errno;
	}
	close(fd);
	return why;
}

static int pin(struct place *t, const char *host, const char *port, const struct addrinfo *a, struct ipf_error *err)
{
	char address[64], *entry;
	if (getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST))
		return 0; /* left to libcurl, then */
	if (!strcmp(address, host))
		return 0;
	if (asprintf(&entry, a->ai_family == AF_INET6 ? "%s:%s:[%s]" : "%s:%s:%s", host, port, address) < 0)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	curl_slist_free_all(t->resolve);
	t->resolve = curl_slist_append(NULL, entry);
	free(entry);
	return t->resolve ? 0 : ipf_error_set(err, IPF_SYSTEM, "out of memory");
}

static int reach(struct place *t, char *host, const char *port, int64_t timeout_ns, struct ipf_error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	size_t len = strlen(host);
	if (*host == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		host++;
	}
	int why = getaddrinfo(host, port, &hints, &list), failed = 0;
	if (why)
		return ipf_error_at(err, IPF_SYSTEM, t->shown, 0, "cannot resolve %s: %s", host,
		                    why == EAI_SYSTEM ? strerror(errno) : gai_strerror(why));
	const struct addrinfo *a = list;
	for (; a && (why = try_address(a, timeout_ns)); a = a->ai_next)
		failed = why;
	int result = a ? pin(t, host, port, a, err) : ipf_error_errno(err, failed, t->shown, "cannot connect");
	freeaddrinfo(list);
	return result;
}

static int reach_place(struct place *t, int64_t timeout_ns, struct ipf_error *err)
{
	char *host = NULL, *port = NULL;
	CURLU *u = curl_url();
	int result = -1;
	if (u && !curl_url_set(u, CURLUPART_URL, t->url, 0) && !curl_url_get(u, CURLUPART_HOST, &host, 0) &&
	    !curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT))
		result = reach(t, host, port, timeout_ns, err);
	else
		ipf_error_set(err, IPF_SYSTEM, "out of memory");
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(u);
	return result;
}

int target_reach(struct target *t, int64_t timeout_ns, struct ipf_error *err)
{
	for (size_t i = 0; i < t->count; i++)
		if (reach_place(&t->places[i], timeout_ns, err) < 0)
			return -1;
	return 0;
}

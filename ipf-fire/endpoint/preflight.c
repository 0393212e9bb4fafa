#include "endpoint/preflight.h"

#include "clock.h"
#include "http/libcurl.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Connects from the k-th source address, if there are any. Returns 0, or the errno of the failure. */
static int try_from(const struct network_path *network_path, size_t k, const struct addrinfo *a, int64_t timeout_ns)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), why = 0;
	if (fd < 0)
		return errno;
	if ((why = network_path_bind(network_path, k, fd, a->ai_family)) != 0) {
		close(fd);
		return why;
	}
	if (connect(fd, a->ai_addr, a->ai_addrlen) < 0)
		why = errno;
	if (why == EINPROGRESS) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		const int64_t begin_ns = clock_now();
		socklen_t len = sizeof why;
		int got;
		do {
			int64_t ms = (timeout_ns - (clock_now() - begin_ns)) / NS_PER_MS + 1;
			got = poll(&p, 1, ms < 0 ? 0 : ms > 1000000 ? 1000000 : (int)ms);
		} while (got < 0 && errno == EINTR);
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

/* Connects from each source address. Returns 0, or the errno of the first failure; `from` is then the source address,
 * "" if the user gave none. */
static int try_address(const struct network_path *network_path, const struct addrinfo *a, int64_t timeout_ns,
                       char from[64])
{
	size_t k = 0, fitting = network_path_fitting(network_path, a->ai_family);
	int why;
	while (!(why = try_from(network_path, k, a, timeout_ns)) && ++k < fitting)
		;
	const struct network_path_source *s = why ? network_path_source(network_path, a->ai_family, k) : NULL;
	from[0] = '\0';
	if (s && getnameinfo((const struct sockaddr *)&s->address, s->len, from, 64, NULL, 0, NI_NUMERICHOST))
		from[0] = '\0';
	return why;
}

static int add_entry(struct curl_slist **to, int family, const char *host, const char *port, const char *address,
                     struct ipf_error *err)
{
	char *entry;
	if (asprintf(&entry, family == AF_INET6 ? "%s:%s:[%s]" : "%s:%s:%s", host, port, address) < 0)
		return ipf_error_memory(err);
	struct curl_slist *list = curl_slist_append(*to, entry);
	free(entry);
	if (list)
		*to = list;
	return list ? 0 : ipf_error_memory(err);
}

/* Adds the entry of CURLOPT_RESOLVE, unless the host is already an address. */
static int pin(struct target *t, const char *host, const char *port, const struct addrinfo *a, struct ipf_error *err)
{
	char address[64];
	if (getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST))
		return 0; /* then libcurl looks it up itself */
	return strcmp(address, host) ? add_entry(&t->resolve, a->ai_family, host, port, address, err) : 0;
}

/* The address that --resolve gives for the host, or NULL. The caller frees it. */
static char *address_by_user(const struct network_path *network_path, const char *host, const char *port)
{
	for (size_t i = 0; i < network_path->o.resolve->count; i++) {
		const char *entry = network_path->o.resolve->items[i], *colon = strchr(entry, ':'),
				   *second = strchr(colon + 1, ':');
		size_t name = (size_t)(colon - entry), number = (size_t)(second - colon - 1), len = strlen(second + 1);
		bool any = name == 1 && *entry == '*';
		if ((!any && (strlen(host) != name || strncasecmp(host, entry, name) != 0)) || strlen(port) != number ||
		    strncmp(port, colon + 1, number) != 0)
			continue;
		bool brackets = second[1] == '[' && second[len] == ']';
		return brackets ? strndup(second + 2, len - 2) : strdup(second + 1);
	}
	return NULL;
}

/* How to try a target. */
struct attempt {
	const struct network_path *network_path;
	int64_t timeout_ns;
	bool connect;      /* not only look it up */
	const char *shown; /* its URL, for messages */
};

/* `by_user`: the address is from --resolve. */
static int look_up(const struct attempt *how, const char *host, const char *port, bool *by_user, struct addrinfo **list,
                   struct ipf_error *err)
{
	char *address = address_by_user(how->network_path, host, port);
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = address ? AI_NUMERICHOST : 0};
	int why = getaddrinfo(address ? address : host, port, &hints, list);
	*by_user = address;
	if (why == EAI_MEMORY)
		ipf_error_memory(err);
	else if (why && address)
		ipf_error_set(err, IPF_USAGE, "--resolve: %s:%s: expected a numeric address, got \"%s\"", host, port, address);
	else if (why)
		ipf_error_at(err, IPF_SYSTEM, how->shown, 0, "cannot resolve %s: %s", host,
		             why == EAI_SYSTEM ? strerror(errno) : gai_strerror(why));
	free(address);
	return why ? -1 : 0;
}

static int try_host(const struct attempt *how, struct target *t, char *host, const char *port, struct ipf_error *err)
{
	struct addrinfo *list = NULL;
	size_t len = strlen(host);
	bool by_user;
	int why = 0, failed = 0;
	if (*host == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		host++;
	}
	if (look_up(how, host, port, &by_user, &list, err) < 0)
		return -1;
	struct addrinfo *a = list;
	char from[64] = "";
	for (; how->connect && a && (why = try_address(how->network_path, a, how->timeout_ns, from)); a = a->ai_next)
		failed = why;
	int result = 0;
	if (!a && failed == EAFNOSUPPORT)
		result = ipf_error_at(err, IPF_SYSTEM, how->shown, 0,
		                      "cannot connect: no address of --bind has the server's address family (IPv4 or IPv6)");
	else if (!a)
		result = ipf_error_errno(err, failed, how->shown, from[0] ? "cannot connect from %s" : "cannot connect", from);
	else if (!how->network_path->o.dns_each || by_user)
		result = pin(t, host, port, a, err);
	if (result < 0 || !how->connect) {
		freeaddrinfo(list);
		return result;
	}
	t->found = list;
	t->addresses = a;
	t->addresses_by_user = by_user;
	return 0;
}

static int try_unix_socket(const struct attempt *how, struct ipf_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = how->network_path->o.unix_socket;
	if (strlen(path) >= sizeof address.sun_path)
		return ipf_error_set(err, IPF_USAGE, "--unix-socket: %s: the path of a socket can have at most %zu characters",
		                     path, sizeof address.sun_path - 1);
	strcpy(address.sun_path, path);
	const struct addrinfo a = {
		.ai_family = AF_UNIX, .ai_addr = (struct sockaddr *)&address, .ai_addrlen = sizeof address};
	int why = try_from(how->network_path, 0, &a, how->timeout_ns);
	return why ? ipf_error_errno(err, why, path, "cannot connect") : 0;
}

/* The connection is to the proxy; some proxies leave it to the client to look up the names of the servers. */
static int try_proxy(struct attempt how, struct target *t, struct ipf_error *err)
{
	char *host = strdup(how.network_path->proxy_host);
	how.shown = how.network_path->proxy_shown;
	int result = host ? try_host(&how, t, host, how.network_path->proxy_port, err) : ipf_error_memory(err);
	free(host);
	return result;
}

static int try_target(struct attempt how, struct target *t, struct ipf_error *err)
{
	char *host = NULL, *port = NULL;
	int result = -1;
	curl_slist_free_all(t->resolve);
	t->resolve = NULL;
	if (t->found)
		freeaddrinfo(t->found);
	t->found = t->addresses = NULL;
	if (how.network_path->o.unix_socket)
		return try_unix_socket(&how, err);
	if (how.network_path->o.proxy && try_proxy(how, t, err) < 0)
		return -1;
	if (how.network_path->o.proxy && how.network_path->proxy_resolves)
		return 0;
	how.connect = !how.network_path->o.proxy;
	CURLU *u = libcurl_url();
	if (u && !curl_url_set(u, CURLUPART_URL, t->url, 0) && !curl_url_get(u, CURLUPART_HOST, &host, 0) &&
	    !curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT))
		result = try_host(&how, t, host, port, err);
	else
		ipf_error_memory(err);
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(u);
	return result;
}

int preflight_connect(struct endpoint *e, const struct network_path *network_path, int64_t timeout_ns,
                      struct ipf_error *err)
{
	for (size_t i = 0; i < e->count; i++) {
		const struct attempt how = {
			.network_path = network_path, .timeout_ns = timeout_ns, .connect = true, .shown = e->targets[i].shown};
		if (try_target(how, &e->targets[i], err) < 0)
			return -1;
	}
	return 0;
}

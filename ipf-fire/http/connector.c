#include "http/connector.h"

#include "clock.h"
#include "http/libcurl.h"
#include "job/thread_stats.h"
#include "memory.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define TAG ((uint64_t)UINT32_MAX << 32) /* its sockets'; no connection has this generation */

struct attempt {
	struct connector *connector;
	struct connection *connection; /* NULL: forgotten */
	const struct origin *origin;
	CURL *easy;
	char why[CURL_ERROR_SIZE];
	struct attempt *next, *previous;
};

struct connector {
	struct network *network;
	connector_done *done;
	CURLM *multi;
	int64_t deadline_ns;
	struct attempt *attempts;
};

static curl_socket_t on_open(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct attempt *a = data;
	struct network *n = a->connector->network;
	(void)purpose;
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->protocol);
	int why = fd < 0 ? errno : network_path_bind(n->o.path, n->sources++, fd, address->family);
	if (!why)
		return fd;
	counter_count(&n->o.stats->starved, why == EMFILE || why == ENFILE);
	memory_note_errno(why);
	if (fd >= 0)
		close(fd);
	return CURL_SOCKET_BAD;
}

/* libcurl closes a descriptor of its own where it passes one on. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *known)
{
	struct connector *k = data;
	struct epoll_event e = {.data.u64 = TAG | (uint32_t)fd};
	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(k->network->o.epoll_fd, EPOLL_CTL_DEL, fd, &e);
		return 0;
	}
	e.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
	if (epoll_ctl(k->network->o.epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e) < 0) {
		memory_note_errno(errno);
		return -1;
	}
	curl_multi_assign(k->multi, fd, k);
	return 0;
}

static int on_timer(CURLM *multi, long ms, void *data)
{
	struct connector *k = data;
	(void)multi;
	k->deadline_ns = ms < 0 ? INT64_MAX : network_now(k->network) + ms * NS_PER_MS;
	return 0;
}

struct connector *connector_new(struct network *network, connector_done *done)
{
	struct connector *k = calloc(1, sizeof *k);
	if (!k)
		return NULL;
	*k = (struct connector){.network = network, .done = done, .multi = curl_multi_init(), .deadline_ns = INT64_MAX};
	if (!k->multi) {
		free(k);
		return NULL;
	}
	curl_multi_setopt(k->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(k->multi, CURLMOPT_SOCKETDATA, k);
	curl_multi_setopt(k->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(k->multi, CURLMOPT_TIMERDATA, k);
	curl_multi_setopt(k->multi, CURLMOPT_MAXCONNECTS, 1L);
	return k;
}

static void attempt_end(struct attempt *a)
{
	struct connector *k = a->connector;
	curl_multi_remove_handle(k->multi, a->easy);
	curl_easy_cleanup(a->easy);
	*(a->previous ? &a->previous->next : &k->attempts) = a->next;
	if (a->next)
		a->next->previous = a->previous;
	free(a);
}

void connector_free(struct connector *k)
{
	if (!k)
		return;
	while (k->attempts)
		attempt_end(k->attempts);
	curl_multi_cleanup(k->multi);
	free(k);
}

/* Where to connect to; the scheme http, so libcurl adds nothing of its own. NULL: out of memory. */
static char *url_of(const struct network *n, const struct origin *to)
{
	const struct network_path *p = n->o.path;
	char *url;
	bool direct = p->proxy_socks || !p->o.proxy;
	int written = direct ? asprintf(&url, "http://%s", to->connect_to)
	                     : asprintf(&url, "http://%s:%s", p->proxy_host, p->proxy_port);
	return written < 0 ? NULL : url;
}

static bool set_up(struct attempt *a, const char *url)
{
	const struct network_path *p = a->connector->network->o.path;
	CURL *e = a->easy;
	CURLcode bad = curl_easy_setopt(e, CURLOPT_URL, url) |
	               curl_easy_setopt(e, CURLOPT_PROXY, p->proxy_socks ? p->o.proxy : "");
	curl_easy_setopt(e, CURLOPT_NOPROXY, "");
	curl_easy_setopt(e, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	/* a lookup taking longer than we wait is left to its thread: libcurl would wait for it, and all requests with it */
	curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(e, CURLOPT_DNS_CACHE_TIMEOUT, p->o.dns_each ? 0L : -1L);
	bad |= curl_easy_setopt(e, CURLOPT_RESOLVE, a->origin->resolve);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, a->why);
	curl_easy_setopt(e, CURLOPT_PRIVATE, a);
	curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_open);
	curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, a);
	return bad == CURLE_OK;
}

int connector_begin(struct connector *k, struct connection *c, const struct origin *to)
{
	struct attempt *a = calloc(1, sizeof *a);
	char *url = url_of(k->network, to);
	if (a)
		*a = (struct attempt){.connector = k, .connection = c, .origin = to, .easy = curl_easy_init()};
	if (!a || !url || !a->easy || !set_up(a, url) || curl_multi_add_handle(k->multi, a->easy) != CURLM_OK) {
		if (a)
			curl_easy_cleanup(a->easy);
		free(a);
		free(url);
		return -1;
	}
	free(url);
	a->next = k->attempts;
	if (a->next)
		a->next->previous = a;
	k->attempts = a;
	return 0;
}

void connector_forget(struct connector *k, const struct connection *c)
{
	struct attempt *a = k ? k->attempts : NULL;
	while (a && a->connection != c)
		a = a->next;
	if (a)
		a->connection = NULL; /* it may be libcurl calling us: it is removed later */
}

static void finished(struct connector *k, struct attempt *a, CURLcode code)
{
	struct connector_times times = {0};
	struct connection *c = a->connection;
	curl_socket_t fd = -1;
	curl_off_t us = 0;
	char why[CURL_ERROR_SIZE];
	int own = -1;
	if (code == CURLE_OK && curl_easy_getinfo(a->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK && fd >= 0)
		own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	snprintf(why, sizeof why, "%s", code ? libcurl_why(code, a->why) : "out of open files");
	curl_easy_getinfo(a->easy, CURLINFO_NAMELOOKUP_TIME_T, &us);
	times.dns_ns = us * NS_PER_US;
	attempt_end(a);
	if (c)
		k->done(c, own, &times, why);
	else if (own >= 0)
		close(own);
}

static void work(struct connector *k, curl_socket_t fd, int bits)
{
	int running, left;
	curl_multi_socket_action(k->multi, fd, bits, &running);
	for (CURLMsg *m; (m = curl_multi_info_read(k->multi, &left));) {
		char *a = NULL;
		if (m->msg == CURLMSG_DONE && curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &a) == CURLE_OK)
			finished(k, (struct attempt *)(void *)a, m->data.result);
	}
	for (struct attempt *a = k->attempts, *next; a; a = next) {
		next = a->next;
		if (!a->connection)
			attempt_end(a);
	}
}

bool connector_event(struct connector *k, uint64_t tag, uint32_t events)
{
	if ((tag & TAG) != TAG)
		return false;
	work(k, (curl_socket_t)(uint32_t)tag,
	     (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
	         (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0));
	return true;
}

int64_t connector_deadline(const struct connector *k)
{
	return k->deadline_ns;
}

void connector_expire(struct connector *k)
{
	k->deadline_ns = INT64_MAX;
	work(k, CURL_SOCKET_TIMEOUT, 0);
}

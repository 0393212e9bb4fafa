#include "publish/listen_address.h"

#include "loopback.h"
#include "safe_text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HOST_MAX 256

static int wrong(const char *text, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "--listen: expected HOST:PORT, [IPv6]:PORT or :PORT, got \"%s\"",
	                     shown(text).text);
}

/* Splits the text; the host is without brackets. False: it is no address. */
static bool split(const char *text, char host[HOST_MAX], const char **port)
{
	const char *colon = strrchr(text, ':'), *end = colon;
	bool bracket = *text == '[';
	if (!colon || strlen(colon + 1) > 5 || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return false;
	if (bracket && (colon == text || *--end != ']'))
		return false;
	text += bracket;
	if (end < text || end - text >= HOST_MAX || (!bracket && memchr(text, ':', (size_t)(end - text))))
		return false;
	if (bracket && end == text)
		return false;
	snprintf(host, HOST_MAX, "%.*s", (int)(end - text), text);
	*port = colon + 1;
	return true;
}

int listen_address_parse(const char *text, struct listen_address *address, struct ipf_error *err)
{
	char host[HOST_MAX];
	const char *port;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found = NULL;
	if (!split(text, host, &port))
		return wrong(text, err);
	unsigned long number = 0;
	for (const char *digit = port; *digit; digit++)
		number = number * 10 + (unsigned long)(*digit - '0');
	if (number > 65535)
		return ipf_error_set(err, IPF_USAGE, "--listen: expected a port up to 65535, got %lu", number);
	/* one address: "localhost" is IPv4's, as for a target without a name */
	const char *name = !*host || strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
	int why = getaddrinfo(name, port, &hints, &found);
	if (why == EAI_MEMORY)
		return ipf_error_memory(err);
	if (why || !found)
		return ipf_error_set(err, IPF_USAGE, "--listen: \"%s\" is no address of this machine: %s", shown(host).text,
		                     gai_strerror(why));
	memcpy(&address->address, found->ai_addr, found->ai_addrlen);
	address->len = found->ai_addrlen;
	freeaddrinfo(found);
	char numeric[INET6_ADDRSTRLEN] = "";
	getnameinfo((struct sockaddr *)&address->address, address->len, numeric, sizeof numeric, NULL, 0, NI_NUMERICHOST);
	address->loopback = host_is_loopback(numeric);
	return 0;
}

void listen_address_write(const struct sockaddr *address, char text[64])
{
	char host[INET6_ADDRSTRLEN] = "";
	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
		snprintf(text, 64, "[%s]:%d", host, ntohs(v6->sin6_port));
	} else {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
		snprintf(text, 64, "%s:%d", host, ntohs(v4->sin_port));
	}
}

int listen_address_open(const struct listen_address *address, struct ipf_error *err)
{
	char text[64];
	int one = 1, fd = socket(address->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	listen_address_write((const struct sockaddr *)&address->address, text);
	if (fd < 0)
		return ipf_error_errno(err, errno, NULL, "--listen %s", text);
	/* a run following another takes its port, though the kernel still remembers connections of it */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, (const struct sockaddr *)&address->address, address->len) < 0 || listen(fd, 64) < 0) {
		ipf_error_errno(err, errno, NULL, "--listen %s", text);
		close(fd);
		return -1;
	}
	return fd;
}

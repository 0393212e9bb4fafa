#include "loopback.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

bool host_is_loopback(const char *host)
{
	unsigned char v4[4], v6[16];
	char inner[INET6_ADDRSTRLEN];
	size_t len = strlen(host);

	if (strcasecmp(host, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, host, v4) == 1)
		return v4[0] == 127;
	if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	}
	if (len >= sizeof inner)
		return false;
	memcpy(inner, host, len);
	inner[len] = '\0';
	if (inet_pton(AF_INET6, inner, v6) != 1)
		return false;
	static const unsigned char one[16] = {[15] = 1}, mapped[12] = {[10] = 0xff, [11] = 0xff};
	return memcmp(v6, one, sizeof one) == 0 || (memcmp(v6, mapped, sizeof mapped) == 0 && v6[12] == 127);
}

bool url_is_loopback(const char *url)
{
	const char *begin = strstr(url, "://");
	begin = begin ? begin + 3 : url;
	size_t len = strcspn(begin, "/?#");
	char host[256];
	const char *at = memrchr(begin, '@', len);
	if (at) {
		len -= (size_t)(at + 1 - begin);
		begin = at + 1;
	}
	size_t port = len;
	while (port > 0 && strchr("0123456789", begin[port - 1]))
		port--;
	if (port > 0 && begin[port - 1] == ':')
		len = port - 1;
	if (len >= sizeof host)
		return false;
	memcpy(host, begin, len);
	host[len] = 0;
	return host_is_loopback(host);
}

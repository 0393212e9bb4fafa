#include "http/url_port.h"

#include "http/libcurl.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int url_parsed_port(CURLU *url)
{
	char *port = NULL;
	int number = curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) ? 0 : atoi(port);
	curl_free(port);
	return number;
}

int url_port(const char *text)
{
	const char *begin = strstr(text, "://");
	while (begin && begin > text && isalnum((unsigned char)begin[-1]))
		begin--;
	CURLU *url = libcurl_url();
	bool known = url && !curl_url_set(url, CURLUPART_URL, begin ? begin : text, CURLU_GUESS_SCHEME);
	int number = known ? url_parsed_port(url) : 0;
	curl_url_cleanup(url);
	return number;
}

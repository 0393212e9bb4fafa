#include "http/url_port.h"

#include <curl/curl.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int url_port(const char *text)
{
	const char *begin = strstr(text, "://");
	while (begin && begin > text && isalnum((unsigned char)begin[-1]))
		begin--;
	char *port = NULL;
	CURLU *url = curl_url();
	bool known = url && !curl_url_set(url, CURLUPART_URL, begin ? begin : text, CURLU_GUESS_SCHEME) &&
	             !curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);
	int number = known ? atoi(port) : 0;
	curl_free(port);
	curl_url_cleanup(url);
	return number;
}

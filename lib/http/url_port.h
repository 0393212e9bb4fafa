/* The port a URL names, or its scheme's; 0 if there is none. An option's prefix before the URL is skipped:
 * "decode=http://10.0.0.7:8000", "dcgm:http://host/metrics", also a scheme that is missing. */
#ifndef IPF_URL_PORT_H
#define IPF_URL_PORT_H

#include <curl/curl.h>

int url_port(const char *text);
/* The same of a parsed URL. */
int url_parsed_port(CURLU *url);

#endif

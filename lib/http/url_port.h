/* The port that a URL names, or that of its scheme; 0 if there is none. What options have before the URL is skipped:
 * "decode=http://10.0.0.7:8000", "dcgm:http://host/metrics", also a scheme that is missing. */
#ifndef IPF_URL_PORT_H
#define IPF_URL_PORT_H

#include <curl/curl.h>

int url_port(const char *text);
/* The same of a URL that was parsed. */
int url_parsed_port(CURLU *url);

#endif

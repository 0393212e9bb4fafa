/* libcurl's clock. For one request it is read some forty times, always by a few microseconds later, though all that
 * libcurl does by it is to count milliseconds. While it works at one event, its clock stands still; ours goes on. */
#ifndef IPF_CURL_CLOCK_H
#define IPF_CURL_CLOCK_H

/* Where libcurl's code lies: without that, it is told the time whenever it asks. Before there are threads. */
void curl_clock_init(void);
/* The calling thread's, from the first time that libcurl asks. */
void curl_clock_stop(void);
void curl_clock_go(void);

#endif

/* A clock for libcurl that stands still while libcurl handles one event.
 *
 * libcurl reads the clock some forty times per request, each time a few microseconds later, only to count milliseconds.
 * These reads return the first one's result until the event is handled. The program's own reads are not affected.
 */
#ifndef IPF_CURL_CLOCK_H
#define IPF_CURL_CLOCK_H

/* Finds the address range of libcurl's code; without it, libcurl reads the real clock. Call it before there are
 * threads.
 */
void curl_clock_init(void);
/* Stops the calling thread's clock at libcurl's next read. */
void curl_clock_stop(void);
void curl_clock_go(void);

#endif

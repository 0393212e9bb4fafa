/* The raw server's log of its sends: a file of entries of 40 bytes in the machine's own byte order, in the order in
 * which they happened. numpy:
 * [('mono_ns','i8'),('real_ns','i8'),('request','u4'),('event','i4'),('count','u4'),('bytes','u4'),('port','u4'),('took_ns','u4')].
 * `rawserver --show FILE` prints them as lines of JSON, `rawserver --sum FILE` their sums.
 */
#ifndef BENCH_SENDLOG_H
#define BENCH_SENDLOG_H

#include "error.h"

#include <stdint.h>
#include <stdio.h>

#define SENDLOG_ARRIVAL (-1) /* the request's last byte came: the kernel's stamp of it, where there is one */

struct send_entry {
	int64_t mono_ns, real_ns; /* CLOCK_MONOTONIC and CLOCK_REALTIME, read right before the send */
	uint32_t request;         /* counted from 0 as they come; it stands in each event's id */
	int32_t event;            /* the first event in it, from 0; SENDLOG_ARRIVAL */
	uint32_t count;           /* how many events */
	uint32_t bytes;           /* handed to the kernel; the rest of a cut send follows without an entry */
	uint32_t port;            /* the client's */
	uint32_t took_ns;         /* how long the send took */
};

struct sendlog;

int sendlog_open(struct sendlog **log, const char *path, struct ipf_error *err);
void sendlog_add(struct sendlog *log, const struct send_entry *entry); /* NULL is fine */
int sendlog_close(struct sendlog *log, struct ipf_error *err);         /* NULL is fine */

int sendlog_show(const char *path, FILE *to, struct ipf_error *err);
/* One line of JSON: requests, events, the time to the first event from the request's arrival, and the times between
 * events. */
int sendlog_sum(const char *path, FILE *to, struct ipf_error *err);

#endif

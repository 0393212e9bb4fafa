/* The limits of the transport's findings, in one place. ipf-results(5) states them in words.
 */
#ifndef COLLECT_TRANSPORT_LIMITS_H
#define COLLECT_TRANSPORT_LIMITS_H

/* buffering: a streamed response was held back if it has this many content events and took this long, its TTFT is this
 * share of its E2E, and this share of its events shared a read with another. */
#define TRANSPORT_HELD_EVENTS 8
#define TRANSPORT_HELD_E2E_NS 50000000
#define TRANSPORT_HELD_TTFT   0.9
#define TRANSPORT_HELD_SHARED 0.8
/* A finding from this share of the responses able to show it, and this number of them. */
#define TRANSPORT_HELD_SHARE 0.05
#define TRANSPORT_HELD_LEAST 5

/* read-sizes: reads of a power of two from 1024 to 65536 bytes, among those of at least that size which came this much
 * after the read before. */
#define TRANSPORT_READ_BYTES    1024
#define TRANSPORT_READ_BYTES_TO 65536
#define TRANSPORT_READ_GAP_NS   1000000
#define TRANSPORT_READS_SHARE   0.5
#define TRANSPORT_READS_LEAST   20

/* delayed-ack, retransmission: gaps between reads in a window of milliseconds, against the denser of its two
 * neighbourhoods. */
#define TRANSPORT_ACK_MS          38, 44
#define TRANSPORT_ACK_BESIDE_MS   28, 54
#define TRANSPORT_RETRY_MS        196, 212
#define TRANSPORT_RETRY_BESIDE_MS 170, 240
#define TRANSPORT_CLUSTER_TIMES   4
#define TRANSPORT_CLUSTER_SIGMAS  5
#define TRANSPORT_CLUSTER_SHARE   0.01
#define TRANSPORT_CLUSTER_LEAST   20
/* Events the read after such a gap brings on average, from which on a cluster is believed although it is where the
 * server's own rhythm would be too. */
#define TRANSPORT_CLUSTER_EVENTS 1.5

/* bursts: a response comes in bursts if it has this many events, this many reads, this many events a read, and gaps
 * between the reads whose standard deviation is at most this share of their mean. */
#define TRANSPORT_BURST_EVENTS  16
#define TRANSPORT_BURST_READS   4
#define TRANSPORT_BURST_PER     3
#define TRANSPORT_BURST_REGULAR 0.25
#define TRANSPORT_BURSTS_SHARE  0.2
#define TRANSPORT_BURSTS_LEAST  5

/* reconnects: connections opened beyond the most requests in flight at a time, as a share of the requests; a doubt from
 * this share of the TTFT of those opening one. */
#define TRANSPORT_RECONNECT_SHARE 0.05
#define TRANSPORT_RECONNECT_LEAST 10
#define TRANSPORT_RECONNECT_DOUBT 0.1

/* stream-resets: share of the requests; a doubt from the second share on. */
#define TRANSPORT_RESETS_SHARE  0.001
#define TRANSPORT_REFUSED_DOUBT 0.05

/* imbalance: groups of requests whose numbers are improbable (chi-square, as a normal deviate) and differ by this
 * coefficient of variation, or whose median TTFT differ by this factor and time; groups of at least so many requests.
 */
#define TRANSPORT_UNEVEN_SIGMAS 3.1
#define TRANSPORT_UNEVEN_CV     0.2
#define TRANSPORT_UNEVEN_TTFT   1.5
#define TRANSPORT_UNEVEN_NS     5000000
#define TRANSPORT_GROUP_LEAST   30
#define TRANSPORT_GROUPS        64

/* A finding makes the verdict doubtful from this affected share. */
#define TRANSPORT_DOUBT_SHARE 0.05

#endif

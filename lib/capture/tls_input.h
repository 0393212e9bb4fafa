/* The records of one direction of a TLS connection (RFC 8446 section 5.1), from bytes in any pieces. Complete records
 * wait here in order, each with the time of its last byte.
 *
 *     struct tls_input in = {0};
 *     struct tls_record record;
 *     switch (tls_input_add(&in, bytes, len, t_ns)) …
 *     while (tls_input_first(&in, &record)) {
 *         …record.bytes, record.len, record.t_ns…
 *         tls_input_drop(&in);
 *     }
 *     tls_input_release(&in);
 *
 * Nothing is moved if the caller adds only tls_input_missing() bytes at a time, and takes each record at once. A record
 * within the caller's bytes need not be added: tls_record_size() finds it.
 */
#ifndef IPF_TLS_INPUT_H
#define IPF_TLS_INPUT_H

#include "buffer.h"

#include <stdint.h>

enum tls_record_type { TLS_CHANGE_CIPHER = 20, TLS_ALERT = 21, TLS_HANDSHAKE = 22, TLS_APPLICATION = 23 };

struct tls_record {
	uint8_t *bytes; /* with the header; they may be changed */
	size_t len;
	int64_t t_ns;
};

struct tls_input {
	struct buffer bytes; /* from `at` on they wait; up to `scanned` they are complete records */
	size_t at, scanned;
	int64_t *times; /* times of these, from `first` on */
	size_t times_cap, first, count;
};

/* The size of the record, with its header, at the beginning of these bytes. 0: the header is not complete. -1: it is
 * not one of TLS, or longer than the RFC allows. */
int64_t tls_record_size(const void *bytes, size_t len);

enum tls_added { TLS_ADDED, TLS_MALFORMED, TLS_NO_MEMORY };

/* `t_ns`: when these bytes came. TLS_MALFORMED: a header is not one of TLS. */
enum tls_added tls_input_add(struct tls_input *in, const char *bytes, size_t len, int64_t t_ns);

/* Number of bytes up to the end of the incomplete header or record; at least 1. */
size_t tls_input_missing(const struct tls_input *in);

/* Number of waiting bytes, with those of an incomplete record. */
size_t tls_input_waiting(const struct tls_input *in);

/* False: no record is complete. */
bool tls_input_first(const struct tls_input *in, struct tls_record *record);
/* Forgets the first record. */
void tls_input_drop(struct tls_input *in);

/* Space for a decrypted record while nothing waits. NULL: out of memory. */
uint8_t *tls_input_room(struct tls_input *in, size_t len);

void tls_input_release(struct tls_input *in);

#endif

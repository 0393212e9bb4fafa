/* Reads packet captures: pcap and pcapng by libpcap, from anything that gives bytes.
 *
 *     struct packet_file *f;
 *     if (packet_file_open(&f, input_read, input, &err) < 0) …
 *     while ((got = packet_file_next(f, &packet, &err)) == 1) …     // packet.h; valid until the next call
 *     packet_file_close(f);
 *
 * Times are in nanoseconds whatever the file's unit. libpcap does not tell what a pcapng file says of dropped packets
 * (Interface Statistics Blocks, draft-ietf-opsawg-pcapng section 4.6): they are read beside it.
 */
#ifndef PREP_PACKET_FILE_H
#define PREP_PACKET_FILE_H

#include "capture/packet.h"
#include "error.h"

struct packet_file;

/* `read` appends as byte_window.h describes: the number of bytes, 0 at the end, -1. -1: IPF_INPUT for anything that is
 * no capture, or one of a link type that packet.h does not know. */
int packet_file_open(struct packet_file **file,
                     int64_t (*read)(void *data, char *to, size_t cap, struct ipf_error *err), void *data,
                     struct ipf_error *err);
/* 1; 0: the end; -1: IPF_CUT if the file ends within a packet, IPF_INPUT if it is corrupt. */
int packet_file_next(struct packet_file *file, struct packet *packet, struct ipf_error *err);
int packet_file_link(const struct packet_file *file);              /* enum packet_link */
const char *packet_file_link_name(const struct packet_file *file); /* "EN10MB" */
int64_t packet_file_snaplen(const struct packet_file *file);       /* bytes of a packet that are kept at most */
/* Packets that the capture dropped, by its own count so far; IPF_ABSENT: it does not say. */
int64_t packet_file_dropped(const struct packet_file *file);
void packet_file_close(struct packet_file *file); /* NULL is fine */

#endif

/* The address that --listen names: HOST:PORT, [IPv6]:PORT, or :PORT, which is this machine only (127.0.0.1). HOST is an
 * address in numbers, "localhost", or a name that resolves to an address of this machine. Port 0: any free one.
 *
 *     struct listen_address address;
 *     if (listen_address_parse("127.0.0.1:9464", &address, &err) < 0) …   // IPF_USAGE
 */
#ifndef COLLECT_LISTEN_ADDRESS_H
#define COLLECT_LISTEN_ADDRESS_H

#include "error.h"

#include <stdbool.h>
#include <sys/socket.h>

struct listen_address {
	struct sockaddr_storage address;
	socklen_t len;
	bool loopback; /* only this machine reaches it */
};

int listen_address_parse(const char *text, struct listen_address *address, struct ipf_error *err);
/* Writes "127.0.0.1:9464" or "[::1]:9464". */
void listen_address_write(const struct sockaddr *address, char text[64]);

/* Opens a socket listening there. -1: err says why, as in "--listen 127.0.0.1:9464: Address already in use". */
int listen_address_open(const struct listen_address *address, struct ipf_error *err);

#endif

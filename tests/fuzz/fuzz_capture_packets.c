/* Any packets of any link type: each exchange is told once, counts add up, and all memory is given back. The input is a
 * byte for the link type, and packets: a byte for the time since the one before, a byte for how much of it was cut, its
 * captured length in two bytes, and its bytes. */
#include "capture/capture.h"
#include "fuzz_input.h"

enum { NUMBERS = 4096 };

struct run {
	struct capture *capture;
	int64_t told;
	bool seen[NUMBERS];
};

static const int links[] = {
	PACKET_LINK_ETHERNET, PACKET_LINK_COOKED, PACKET_LINK_COOKED_2, PACKET_LINK_NULL,        PACKET_LINK_RAW,
	PACKET_LINK_LOOP,     PACKET_LINK_IPV4,   PACKET_LINK_IPV6,     PACKET_LINK_RAW_OPENBSD, 147};

static int on_ended(void *data, struct captured *x, struct ipf_error *err)
{
	struct run *r = data;
	(void)err;
	must(x->number >= 0 && !x->next && !x->before);
	must(x->number >= NUMBERS || !r->seen[x->number]);
	if (x->number < NUMBERS)
		r->seen[x->number] = true;
	r->told++;
	captured_free(x, capture_memory(r->capture));
	return 0;
}

static void check_counts(const struct run *r, int64_t packets)
{
	const struct capture_counts *n = capture_counts(r->capture);
	int64_t exchanges = 0, connections = 0;
	for (int i = 0; i < CAPTURE_DAMAGES; i++)
		exchanges += n->damaged[i];
	for (int i = 0; i < CAPTURE_PROTOCOLS; i++)
		connections += n->connections[i];
	must(exchanges == r->told && n->exchanges == r->told && n->packets == packets);
	must(connections <= capture_tcp_counts(r->capture)->connections);
	for (int64_t i = 0; i < r->told && i < NUMBERS; i++)
		must(r->seen[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r = {0};
	struct ipf_error err = {0};
	const struct capture_options options = {.ended = on_ended, .data = &r, .memory = 1 << 20};
	int64_t t_ns = 1000000000, packets = 0;
	if (!size)
		return 0;
	r.capture = capture_new(&options);
	must(r.capture != NULL);
	for (size_t at = 1; at + 4 <= size; packets++) {
		size_t len = (size_t)data[at + 2] << 8 | data[at + 3];
		len = len < size - at - 4 ? len : size - at - 4;
		char *copy = malloc(len + 1); /* a copy, so a sanitizer sees reads beyond it */
		must(copy != NULL);
		memcpy(copy, data + at + 4, len);
		t_ns += ((int64_t)data[at] - 8) * 1000000;
		const struct packet packet = {(const uint8_t *)copy, len, len + data[at + 1], t_ns};
		must(capture_packet(r.capture, links[data[0] % (sizeof links / sizeof *links)], &packet, &err) == 0);
		free(copy);
		at += 4 + len;
	}
	must(capture_end(r.capture, &err) == 0);
	must(capture_memory(r.capture)->used == 0);
	check_counts(&r, packets);
	capture_free(r.capture);
	return 0;
}

/* Any file that may be a capture: it is refused with a reason, or its packets are read; the same in any pieces. The
 * input is a byte for the length of the pieces, and the file. */
#include "capture/capture.h"
#include "capture/packet_file.h"
#include "fuzz_input.h"

struct file {
	const uint8_t *data;
	size_t len, at, piece;
};

static int64_t feed(void *data, char *to, size_t cap, struct ipf_error *err)
{
	struct file *f = data;
	size_t len = f->len - f->at;
	(void)err;
	len = len < cap ? len : cap;
	len = f->piece && len > f->piece ? f->piece : len;
	memcpy(to, f->data + f->at, len);
	f->at += len;
	return (int64_t)len;
}

static int on_ended(void *data, struct captured *x, struct ipf_error *err)
{
	struct capture **capture = data;
	(void)err;
	captured_free(x, capture_memory(*capture));
	return 0;
}

/* The number of packets; -1: the file was refused. */
static int64_t read_file(const uint8_t *data, size_t len, size_t piece)
{
	struct file file = {data, len, 0, piece};
	struct packet_file *packets;
	struct packet packet;
	struct ipf_error err = {0};
	struct capture *capture = NULL;
	const struct capture_options options = {.ended = on_ended, .data = &capture, .memory = 1 << 20};
	int64_t count = 0;
	int got;
	if (packet_file_open(&packets, feed, &file, &err) < 0) {
		must(err.kind != IPF_OK && err.text[0]);
		return -1;
	}
	capture = capture_new(&options);
	must(capture != NULL);
	while ((got = packet_file_next(packets, &packet, &err)) == 1 && count < 10000) {
		must(capture_packet(capture, packet_file_link(packets), &packet, &err) == 0);
		count++;
	}
	must(got >= 0 || err.text[0]);
	err = (struct ipf_error){0};
	must(capture_end(capture, &err) == 0);
	must(capture_memory(capture)->used == 0);
	must(packet_file_dropped(packets) >= 0 || packet_file_dropped(packets) == INT64_MIN);
	capture_free(capture);
	packet_file_close(packets);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	must(read_file(data + 1, size - 1, 0) == read_file(data + 1, size - 1, 1u + data[0]));
	return 0;
}

#include "capture/packet_file.h"

#include "capture/statistics_blocks.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)256 << 10)

struct packet_file {
	int64_t (*read)(void *data, char *to, size_t cap, struct ipf_error *err);
	void *data;
	struct ipf_error failed; /* by `read` */
	struct statistics_blocks blocks;
	pcap_t *pcap;
	int64_t packets;
	bool ended;
};

/* libpcap asks for bytes of the file. */
static ssize_t feed(void *cookie, char *to, size_t cap)
{
	struct packet_file *f = cookie;
	const int64_t got = f->ended ? 0 : f->read(f->data, to, cap, &f->failed);
	if (got > 0)
		statistics_blocks_bytes(&f->blocks, to, (size_t)got);
	f->ended |= got <= 0;
	if (got < 0)
		errno = EIO;
	return (ssize_t)got;
}

/* The text of libpcap's error begins with the name of its function or file. */
static int refuse(struct packet_file *f, enum ipf_error_kind kind, const char *what, const char *why,
                  struct ipf_error *err)
{
	if (f->failed.kind) {
		*err = f->failed;
		return -1;
	}
	return ipf_error_set(err, kind, "%s: %s", what, why);
}

static int open_pcap(struct packet_file *f, struct ipf_error *err)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	FILE *stdio = fopencookie(f, "r", (cookie_io_functions_t){.read = feed});
	if (!stdio)
		return ipf_error_memory(err);
	setvbuf(stdio, NULL, _IOFBF, PIECE);
	f->pcap = pcap_fopen_offline_with_tstamp_precision(stdio, PCAP_TSTAMP_PRECISION_NANO, why);
	if (!f->pcap) {
		fclose(stdio);
		return refuse(f, IPF_INPUT, "not a packet capture (pcap or pcapng)", why, err);
	}
	if (!packet_link_is_known(pcap_datalink(f->pcap)))
		return ipf_error_set(err, IPF_INPUT,
		                     "link type %d (%s): only Ethernet, Linux cooked, loopback and raw IP can be read",
		                     pcap_datalink(f->pcap), packet_file_link_name(f));
	return 0;
}

int packet_file_open(struct packet_file **file,
                     int64_t (*read)(void *data, char *to, size_t cap, struct ipf_error *err), void *data,
                     struct ipf_error *err)
{
	struct packet_file *f = calloc(1, sizeof *f);
	*file = NULL;
	if (!f)
		return ipf_error_memory(err);
	f->read = read;
	f->data = data;
	if (open_pcap(f, err) < 0) {
		packet_file_close(f);
		return -1;
	}
	*file = f;
	return 0;
}

/* In nanoseconds, the unit that was asked for; -1: none that fits. */
static int64_t time_of(const struct pcap_pkthdr *header)
{
	const int64_t s = header->ts.tv_sec, ns = header->ts.tv_usec;
	return s >= 0 && s < INT64_C(4000000000) && ns >= 0 && ns < INT64_C(1000000000) ? s * 1000000000 + ns : -1;
}

int packet_file_next(struct packet_file *f, struct packet *packet, struct ipf_error *err)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	const int got = pcap_next_ex(f->pcap, &header, &bytes);
	if (got == PCAP_ERROR_BREAK)
		return f->failed.kind ? refuse(f, IPF_INPUT, "", "", err) : 0;
	if (got != 1) {
		const char *why = pcap_geterr(f->pcap);
		if (strstr(why, "truncated"))
			return refuse(f, IPF_CUT, "cut off", why, err);
		/* interfaces of several kinds, which libpcap does not read */
		return refuse(f, IPF_INPUT, strstr(why, "different from") ? "unsupported" : "corrupt", why, err);
	}
	f->packets++;
	*packet = (struct packet){.bytes = bytes, .len = header->caplen, .wire_len = header->len, .t_ns = time_of(header)};
	return 1;
}

int packet_file_link(const struct packet_file *f)
{
	return pcap_datalink(f->pcap);
}

const char *packet_file_link_name(const struct packet_file *f)
{
	const char *name = pcap_datalink_val_to_name(pcap_datalink(f->pcap));
	return name ? name : "unknown";
}

int64_t packet_file_snaplen(const struct packet_file *f)
{
	return pcap_snapshot(f->pcap);
}

int64_t packet_file_dropped(const struct packet_file *f)
{
	return statistics_blocks_dropped(&f->blocks);
}

void packet_file_close(struct packet_file *f)
{
	if (!f)
		return;
	if (f->pcap)
		pcap_close(f->pcap);
	free(f);
}

#include "capture/capture.h"

#include "absent.h"
#include "capture/http1_talk.h"
#include "capture/http2_talk.h"
#include "capture/tls_stream.h"
#include "stream/observed.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Bytes of one body; more is damage. */
#define BODY_MOST ((size_t)64 << 20)
/* The number of first bytes of a side that tell the protocol. */
enum { LOOK = 16, FRAME_HEADER = 9 };

const char *const capture_protocol_names[CAPTURE_PROTOCOLS] = {
	[CAPTURE_SILENT] = OBSERVED_SILENT,
	[CAPTURE_HTTP1] = OBSERVED_HTTP1,
	[CAPTURE_HTTP2] = OBSERVED_HTTP2,
	[CAPTURE_HTTP2_BEFORE] = "HTTP/2 that began before the capture",
	[CAPTURE_TLS] = "TLS without keys",
	[CAPTURE_TLS_BEFORE] = "TLS that began before the capture",
	[CAPTURE_TLS_LOST] = "TLS with lost packets",
	[CAPTURE_TLS_ODD] = "unsupported TLS",
	[CAPTURE_OTHER] = "other",
};

struct capture {
	struct capture_options options;
	struct packet_layers layers;
	struct tcp_table *tcp;
	struct talk_context context;
	struct capture_counts counts;
	int64_t connections; /* with bytes */
};

struct first_bytes {
	char bytes[LOOK];
	size_t len;
	int64_t t_ns;
};

/* A connection with bytes. */
struct conversation {
	struct capture *capture;
	struct talk_about about;
	struct tls_stream *tls;         /* decrypts it; NULL: it is plain, or no TLS that can be read */
	struct ipf_error *err;          /* for the call that has bytes decrypted */
	enum capture_protocol protocol; /* CAPTURE_SILENT: not known yet */
	const struct talk_reader *reader;
	void *talk;                  /* NULL: nobody reads it */
	struct first_bytes start[2]; /* the first bytes of each side, until they tell the protocol */
	bool counted;
};

/* ---- which protocol ---- */

static bool begins_like(struct slice bytes, const char *text, size_t len)
{
	return memcmp(bytes.data, text, bytes.len < len ? bytes.len : len) == 0;
}

/* The header of a frame of HTTP/2 (RFC 9113 section 4.1) of a known type? */
static bool is_frame(struct slice bytes)
{
	const unsigned char *p = (const unsigned char *)bytes.data;
	return bytes.len >= FRAME_HEADER && p[0] == 0 && p[3] <= 9 && !(p[5] & 0x80) &&
	       (p[1] < 64 || (p[1] == 64 && p[2] == 0));
}

/* The first frame of a side. Few bytes may do. */
static bool begins_settings(struct slice bytes)
{
	static const char settings[] = {0, 0}, type[] = {4, 0, 0, 0, 0, 0};
	return begins_like(bytes, settings, 2) &&
	       (bytes.len <= 3 || begins_like((struct slice){bytes.data + 3, bytes.len - 3}, type, sizeof type));
}

/* TLS records begin so (RFC 8446 section 5.1). */
static bool is_tls(struct slice bytes)
{
	const unsigned char *p = (const unsigned char *)bytes.data;
	return bytes.len >= 3 && p[0] >= 20 && p[0] <= 23 && p[1] == 3 && p[2] <= 4;
}

/* By the first bytes of a side. CAPTURE_SILENT: more bytes are needed. */
static enum capture_protocol protocol_of(const struct conversation *v, enum tcp_side from, struct slice bytes)
{
	static const char preface[] = "PRI * HTTP/2.0";
	if (bytes.len < 3 && bytes.data[0] == 22)
		return CAPTURE_SILENT;
	if (is_tls(bytes))
		return v->about.began_before && bytes.data[0] != 22 ? CAPTURE_TLS_BEFORE : CAPTURE_TLS;
	if (from == TCP_CLIENT && begins_like(bytes, preface, sizeof preface - 1))
		return bytes.len >= sizeof preface - 1 ? CAPTURE_HTTP2 : bytes.len < LOOK ? CAPTURE_SILENT : CAPTURE_OTHER;
	if (from == TCP_CLIENT ? http1_talk_begins_request(bytes) : http1_talk_begins_response(bytes))
		return CAPTURE_HTTP1;
	if (from == TCP_SERVER && begins_settings(bytes)) /* it need not wait for the client */
		return bytes.len >= FRAME_HEADER ? CAPTURE_HTTP2 : CAPTURE_SILENT;
	if (v->about.began_before)
		return is_frame(bytes) ? CAPTURE_HTTP2_BEFORE : CAPTURE_HTTP1;
	return CAPTURE_OTHER;
}

static const struct talk_reader *reader_of(enum capture_protocol protocol)
{
	if (protocol == CAPTURE_HTTP2 || protocol == CAPTURE_HTTP2_BEFORE)
		return &http2_talk;
	return protocol == CAPTURE_HTTP1 ? &http1_talk : NULL;
}

/* ---- connections ---- */

static struct conversation *conversation_of(struct capture *c, struct tcp_connection *tcp)
{
	struct conversation *v = tcp->owner;
	if (v)
		return v;
	v = tcp->owner = calloc(1, sizeof *v);
	if (v)
		v->capture = c;
	if (v)
		v->about = (struct talk_about){.tcp = tcp, .number = c->connections++, .began_before = !tcp->from_start};
	return v;
}

static void stop_reading(struct conversation *v)
{
	if (v->reader)
		v->reader->close(v->talk);
	v->talk = NULL;
	v->reader = NULL;
}

static void stop_decrypting(struct conversation *v)
{
	tls_stream_free(v->tls);
	v->tls = NULL;
}

static void conversation_free(struct conversation *v)
{
	if (v) {
		stop_reading(v);
		stop_decrypting(v);
	}
	free(v);
}

static int take(struct conversation *v, enum tcp_side from, struct slice bytes, int64_t t_ns, struct ipf_error *err);

static int on_plain(void *data, bool from_server, const char *bytes, size_t len, int64_t t_ns)
{
	struct conversation *v = data;
	return take(v, from_server ? TCP_SERVER : TCP_CLIENT, (struct slice){bytes, len}, t_ns, v->err);
}

static int begin(struct capture *c, struct conversation *v, enum capture_protocol protocol, struct ipf_error *err)
{
	static const struct tls_sink sink = {.plain = on_plain};
	if (protocol == CAPTURE_TLS && c->options.keys && !v->tls) {
		v->start[TCP_CLIENT].len = v->start[TCP_SERVER].len = 0; /* its content tells the protocol */
		v->tls = tls_stream_new(c->options.keys, &sink, v);
		return v->tls ? 0 : ipf_error_memory(err);
	}
	v->protocol = protocol;
	v->reader = reader_of(protocol);
	if (v->reader && !(v->talk = v->reader->open(&c->context, &v->about)))
		return ipf_error_memory(err);
	return 0;
}

/* The reader gave up: what is open is told as it is, and the rest is not looked at. */
static int give_up(struct conversation *v, int64_t t_ns, struct ipf_error *err)
{
	const struct talk_end end = {.error = RECORD_PROTOCOL, .why = "not HTTP", .t_ns = t_ns};
	const int status = v->reader->end(v->talk, &end, err);
	stop_reading(v);
	if (!v->about.exchanges)
		v->protocol = CAPTURE_OTHER;
	return status;
}

/* Does the header ask for HTTP/2, perhaps among others? */
static bool names_h2c(struct slice upgrade)
{
	for (size_t i = 0; i + 3 <= upgrade.len; i++)
		if (strncasecmp(upgrade.data + i, "h2c", 3) == 0)
			return true;
	return false;
}

/* The connection changes its protocol: to HTTP/2, where the exchange at hand gets its answer, or to one that is not
 * read. */
static int upgrade(struct capture *c, struct conversation *v, int64_t t_ns, struct ipf_error *err)
{
	struct captured *x = http1_talk_upgraded(v->talk);
	const bool h2c = x->asked && names_h2c(captured_header_value(&x->request, "upgrade"));
	if (give_up(v, t_ns, err) < 0 || (h2c && begin(c, v, CAPTURE_HTTP2, err) < 0)) {
		captured_free(x, &c->context.memory);
		return -1;
	}
	if (h2c)
		return http2_talk_upgraded(v->talk, x, err);
	v->protocol = CAPTURE_OTHER;
	x->end_ns = t_ns;
	return c->context.ended(c->context.data, x, err);
}

static int read_bytes(struct conversation *v, enum tcp_side from, struct slice bytes, int64_t t_ns,
                      struct ipf_error *err)
{
	struct talk_bytes b = {.from = from, .bytes = bytes, .t_ns = t_ns};
	if (!v->talk)
		return 0;
	switch (v->reader->bytes(v->talk, &b, err)) {
	case TALK_MORE:
		return 0;
	case TALK_FAILED:
		return -1;
	case TALK_UPGRADED:
		if (upgrade(v->capture, v, t_ns, err) < 0)
			return -1;
		bytes = (struct slice){bytes.data + b.used, bytes.len - b.used};
		return bytes.len ? read_bytes(v, from, bytes, t_ns, err) : 0;
	case TALK_OTHER:
		break;
	}
	return give_up(v, t_ns, err);
}

static int decrypt(struct conversation *v, enum tcp_side from, struct slice bytes, int64_t t_ns, struct ipf_error *err);

/* Gathers the first bytes of a side until they tell the protocol, which is nearly always at once. */
static int take_first(struct capture *c, struct conversation *v, enum tcp_side from, struct slice bytes, int64_t t_ns,
                      struct ipf_error *err)
{
	const enum tcp_side other = from == TCP_CLIENT ? TCP_SERVER : TCP_CLIENT;
	const size_t before = v->start[from].len, more = bytes.len < LOOK - before ? bytes.len : LOOK - before;
	if (!before)
		v->start[from].t_ns = t_ns;
	memcpy(v->start[from].bytes + before, bytes.data, more);
	v->start[from].len += more;
	const enum capture_protocol protocol = protocol_of(v, from, (struct slice){v->start[from].bytes, before + more});
	if (protocol == CAPTURE_SILENT)
		return 0;
	const struct first_bytes mine = v->start[from], theirs = v->start[other]; /* the content of TLS begins anew */
	if (begin(c, v, protocol, err) < 0)
		return -1;
	const bool tls = v->tls && v->protocol == CAPTURE_SILENT; /* it has begun now */
	int (*const read)(struct conversation *, enum tcp_side, struct slice, int64_t,
	                  struct ipf_error *) = tls ? decrypt : read_bytes;
	if ((theirs.len && read(v, other, (struct slice){theirs.bytes, theirs.len}, theirs.t_ns, err) < 0) ||
	    (before && read(v, from, (struct slice){mine.bytes, before}, mine.t_ns, err) < 0))
		return -1;
	return read(v, from, bytes, t_ns, err);
}

/* Bytes of HTTP: plain, or decrypted. */
static int take(struct conversation *v, enum tcp_side from, struct slice bytes, int64_t t_ns, struct ipf_error *err)
{
	return v->protocol == CAPTURE_SILENT ? take_first(v->capture, v, from, bytes, t_ns, err)
	                                     : read_bytes(v, from, bytes, t_ns, err);
}

/* Nothing more can be decrypted: what is open is damaged. */
static int end_tls(struct conversation *v, enum capture_protocol why, int64_t t_ns, struct ipf_error *err)
{
	const struct talk_end end = {.damage = DAMAGE_LOST, .t_ns = t_ns};
	const int status = v->talk ? v->reader->end(v->talk, &end, err) : 0;
	stop_reading(v);
	stop_decrypting(v);
	v->protocol = why;
	return status;
}

static int decrypt(struct conversation *v, enum tcp_side from, struct slice bytes, int64_t t_ns, struct ipf_error *err)
{
	v->err = err;
	switch (tls_stream_bytes(v->tls, from == TCP_SERVER, bytes.data, bytes.len, t_ns)) {
	case TLS_STREAM_MORE:
		return 0;
	case TLS_STREAM_STOPPED:
		return -1;
	case TLS_STREAM_NO_MEMORY:
		return ipf_error_memory(err);
	case TLS_STREAM_NO_KEYS:
		return end_tls(v, CAPTURE_TLS, t_ns, err);
	case TLS_STREAM_UNSUPPORTED:
	case TLS_STREAM_BROKEN:
		break;
	}
	return end_tls(v, CAPTURE_TLS_ODD, t_ns, err);
}

/* ---- events of TCP ---- */

static int on_bytes(void *data, struct tcp_connection *tcp, enum tcp_side from, struct slice bytes, int64_t t_ns,
                    struct ipf_error *err)
{
	struct capture *c = data;
	struct conversation *v = conversation_of(c, tcp);
	if (!v)
		return ipf_error_memory(err);
	return v->tls ? decrypt(v, from, bytes, t_ns, err) : take(v, from, bytes, t_ns, err);
}

static int on_lost(void *data, struct tcp_connection *tcp, enum tcp_side from, uint64_t len, int64_t t_ns,
                   struct ipf_error *err)
{
	struct capture *c = data;
	struct conversation *v = conversation_of(c, tcp);
	if (!v)
		return ipf_error_memory(err);
	if (v->tls)
		return end_tls(v, CAPTURE_TLS_LOST, t_ns, err);
	if (v->protocol == CAPTURE_SILENT) { /* its first bytes are lost: as if it had begun before */
		v->about.began_before = true;
		v->start[from].len = 0;
		return 0;
	}
	c->context.snapped = tcp->lost_by_cut;
	switch (v->talk ? v->reader->lost(v->talk, from, len, t_ns, err) : TALK_MORE) {
	case TALK_MORE:
		return 0;
	case TALK_FAILED:
		return -1;
	default:
		return give_up(v, t_ns, err);
	}
}

static int on_finished(void *data, struct tcp_connection *tcp, enum tcp_side from, int64_t t_ns, struct ipf_error *err)
{
	(void)data;
	struct conversation *v = tcp->owner;
	return v && v->talk ? v->reader->finished(v->talk, from, t_ns, err) : 0;
}

static struct talk_end end_of(const struct tcp_connection *tcp, enum tcp_close why, int64_t t_ns)
{
	struct talk_end end = {.t_ns = t_ns};
	switch (why) {
	case TCP_CLOSED:
		break;
	case TCP_RESET:
		end.error = tcp->reset_by == TCP_CLIENT ? RECORD_HUNG_UP : RECORD_RESET;
		end.why = tcp->reset_by == TCP_CLIENT ? "the client reset the connection" : "the server reset the connection";
		break;
	case TCP_EVICTED:
		end.damage = DAMAGE_TOO_LARGE;
		break;
	case TCP_REPLACED:
		end.damage = DAMAGE_LOST; /* its end is not in the capture */
		break;
	default:
		end.damage = DAMAGE_OPEN;
		break;
	}
	return end;
}

static int on_closed(void *data, struct tcp_connection *tcp, enum tcp_close why, int64_t t_ns, struct ipf_error *err)
{
	struct capture *c = data;
	struct conversation *v = tcp->owner;
	const struct talk_end end = end_of(tcp, why, t_ns);
	if (v->tls && v->protocol == CAPTURE_SILENT && tls_stream_end(v->tls) == TLS_STREAM_NO_KEYS)
		v->protocol = CAPTURE_TLS;
	const int status = v->talk ? v->reader->end(v->talk, &end, err) : 0;
	if (v->protocol == CAPTURE_HTTP1 && !v->about.exchanges)
		v->protocol = CAPTURE_OTHER;
	c->counts.connections[v->protocol]++;
	conversation_free(v);
	tcp->owner = NULL;
	return status;
}

static int on_ended(void *data, struct captured *x, struct ipf_error *err)
{
	struct capture *c = data;
	if (!captured_times_are_in_order(x))
		captured_damaged(x, DAMAGE_CLOCK);
	c->counts.exchanges++;
	c->counts.damaged[x->damage]++;
	return c->options.ended(c->options.data, x, err);
}

/* ---- the capture ---- */

struct capture *capture_new(const struct capture_options *options)
{
	static const struct tcp_sink sink = {on_bytes, on_lost, on_finished, on_closed};
	struct capture *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->options = *options;
	c->context = (struct talk_context){
		.memory = {.limit = options->memory, .body_most = BODY_MOST}, .ended = on_ended, .data = c};
	c->counts.first_ns = c->counts.last_ns = IPF_ABSENT;
	if ((c->tcp = tcp_table_new(&sink, c)))
		return c;
	free(c);
	return NULL;
}

static bool is_wanted(const struct capture *c, const struct packet_segment *s)
{
	for (size_t i = 0; i < c->options.ports_count; i++)
		if (c->options.ports[i] == s->from.port || c->options.ports[i] == s->to.port)
			return true;
	return !c->options.ports_count;
}

static void count_packet(struct capture_counts *n, const struct packet *packet)
{
	n->packets++;
	n->bytes += (int64_t)packet->len;
	n->truncated += packet->wire_len > packet->len;
	if (n->first_ns == IPF_ABSENT)
		n->first_ns = packet->t_ns;
	if (n->last_ns != IPF_ABSENT && packet->t_ns < n->last_ns) {
		n->backwards++;
		n->backwards_ns = n->last_ns - packet->t_ns > n->backwards_ns ? n->last_ns - packet->t_ns : n->backwards_ns;
	} else {
		n->last_ns = packet->t_ns;
	}
}

int capture_packet(struct capture *c, int link, const struct packet *packet, struct ipf_error *err)
{
	struct packet_segment segment;
	if (packet->t_ns < 0 || packet->t_ns > CAPTURE_TIME_MOST) {
		c->counts.packets++;
		c->counts.broken_packets++;
		return 0;
	}
	count_packet(&c->counts, packet);
	c->layers.link = link;
	switch (packet_segment(&c->layers, packet, &segment)) {
	case PACKET_TCP:
		break;
	case PACKET_BROKEN:
		c->counts.broken_packets++;
		return 0;
	case PACKET_NO_MEMORY:
		return ipf_error_memory(err);
	default:
		c->counts.other_packets++;
		return 0;
	}
	if (!is_wanted(c, &segment)) {
		c->counts.other_packets++;
		return 0;
	}
	return tcp_table_segment(c->tcp, &segment, err);
}

int capture_end(struct capture *c, struct ipf_error *err)
{
	return tcp_table_end(c->tcp, c->counts.last_ns == IPF_ABSENT ? 0 : c->counts.last_ns, err);
}

const struct capture_counts *capture_counts(const struct capture *c)
{
	return &c->counts;
}

const struct tcp_counts *capture_tcp_counts(const struct capture *c)
{
	return tcp_table_counts(c->tcp);
}

int64_t capture_lost_fragments(const struct capture *c)
{
	return c->layers.lost_fragments;
}

struct captured_memory *capture_memory(struct capture *c)
{
	return &c->context.memory;
}

static void free_owner(void *data, struct tcp_connection *tcp)
{
	(void)data;
	conversation_free(tcp->owner);
	tcp->owner = NULL;
}

void capture_free(struct capture *c)
{
	if (!c)
		return;
	tcp_table_each(c->tcp, free_owner, NULL);
	tcp_table_free(c->tcp);
	packet_layers_release(&c->layers);
	free(c);
}

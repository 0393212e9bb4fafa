#include "capture/tls_stream.h"

#include "capture/tls_input.h"
#include "capture/tls_message.h"
#include "capture/tls_opener.h"
#include "safe_text.h"

#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_MOST 16384 /* bytes of a record's content */
#define MASTER_LEN 48

/* The messages to keep, see tls_message_take. */
#define KEPT (1u << TLS_CLIENT_HELLO | 1u << TLS_SERVER_HELLO | 1u << TLS_ENCRYPTED_EXTENSIONS | 1u << TLS_KEY_UPDATE)

enum alert { CLOSE_NOTIFY = 0, USER_CANCELED = 90 };

/* The keys of a direction's encrypted records; TLS 1.2 has the last only. */
enum epoch { EARLY, HANDSHAKE, TRAFFIC };

struct side {
	struct tls_input input;
	struct tls_opener opener;
	struct tls_message message;
	enum epoch epoch;
	bool encrypted; /* TLS 1.2: change_cipher_spec has come */
	bool keyed;     /* the opener has the keys of the epoch */
	bool skips;     /* records have another key until one authenticates */
	bool guessed;   /* … since the log lacks the secret of the handshake */
	bool closed;
	size_t skipped; /* bytes */
};

/* Which hellos are known. */
enum progress { NOTHING, CLIENT_KNOWN, RETRY_KNOWN, BOTH_KNOWN };

struct tls_stream {
	struct tls_keys *keys;
	const struct tls_sink *sink;
	void *data;
	enum tls_stream_state state;
	const char *fault;
	enum tls_label missing; /* names the secret in TLS_STREAM_NO_KEYS */
	struct side client, server;
	struct tls_client_hello client_hello;
	struct tls_server_hello server_hello;
	const struct tls_suite *suite;
	enum progress progress;
	bool retried;
	bool early_waits;      /* the client offers 0-RTT, and the server's extensions are not known */
	bool client_encrypted; /* the client has sent a record of the handshake's or the traffic's keys */
	bool changed;          /* records of the other direction may no longer have to wait */
};

/* The first failure stays. */
static void fail(struct tls_stream *s, enum tls_stream_state state, const char *fault)
{
	if (s->state != TLS_STREAM_MORE)
		return;
	s->state = state;
	s->fault = fault;
}

static void broken(struct tls_stream *s, const char *fault)
{
	fail(s, TLS_STREAM_BROKEN, fault);
}

static void no_memory(struct tls_stream *s)
{
	fail(s, TLS_STREAM_NO_MEMORY, "out of memory");
}

static void no_keys(struct tls_stream *s, enum tls_label label)
{
	if (s->state == TLS_STREAM_MORE)
		s->missing = label;
	fail(s, TLS_STREAM_NO_KEYS, "the key log lacks a secret");
}

/* OpenSSL has refused to set keys. */
static void no_cipher(struct tls_stream *s)
{
	if (ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE)
		no_memory(s);
	else
		fail(s, TLS_STREAM_UNSUPPORTED, "a cipher that this OpenSSL does not provide");
	ERR_clear_error();
}

static bool is_tls13(const struct tls_stream *s)
{
	return s->progress == BOTH_KNOWN && s->server_hello.version == TLS_1_3;
}

/* ---- keys ---- */

static enum tls_label label_of(const struct tls_stream *s, const struct side *side)
{
	const bool from_server = side == &s->server;
	if (!is_tls13(s))
		return TLS_MASTER;
	if (side->epoch == EARLY)
		return TLS_CLIENT_EARLY;
	if (side->epoch == HANDSHAKE)
		return from_server ? TLS_SERVER_HANDSHAKE : TLS_CLIENT_HANDSHAKE;
	return from_server ? TLS_SERVER_TRAFFIC : TLS_CLIENT_TRAFFIC;
}

/* 1: the side has the keys of its epoch; 0: the log lacks the secret; -1: the stream has failed. */
static int find_keys(struct tls_stream *s, struct side *side)
{
	struct tls_master master;
	const enum tls_label label = label_of(s, side);
	const size_t len = label == TLS_MASTER ? MASTER_LEN : s->suite->hash_len;
	bool good;
	if (!tls_keys_find(s->keys, label, s->client_hello.random, master.secret, len))
		return 0;
	if (label == TLS_MASTER) {
		memcpy(master.client_random, s->client_hello.random, TLS_RANDOM_SIZE);
		memcpy(master.server_random, s->server_hello.random, TLS_RANDOM_SIZE);
		good = tls_opener_set_master(&side->opener, s->suite, &master, side == &s->server);
	} else {
		good = tls_opener_set_traffic(&side->opener, s->suite, master.secret);
	}
	OPENSSL_cleanse(&master, sizeof master);
	side->keyed = good;
	if (!good)
		no_cipher(s);
	return good ? 1 : -1;
}

/* Without the handshake's secret, its records are passed over until the traffic secret fits. */
static int guess_keys(struct tls_stream *s, struct side *side)
{
	side->epoch = TRAFFIC;
	const int found = find_keys(s, side);
	if (found == 1)
		side->skips = side->guessed = true;
	else
		side->epoch = HANDSHAKE;
	return found;
}

/* Whether an encrypted record can be decrypted now. False if it waits, or if the stream has failed. */
static bool ready_to_open(struct tls_stream *s, struct side *side)
{
	if (side->keyed)
		return true;
	const int found = find_keys(s, side);
	if (found)
		return found == 1;
	/* both ends know all secrets, and have logged them, before the client sends its first encrypted record */
	if (side == &s->server && !s->client_encrypted)
		return false;
	if (!is_tls13(s) || side->epoch != HANDSHAKE) {
		no_keys(s, label_of(s, side));
		return false;
	}
	const int guessed = guess_keys(s, side);
	if (guessed == 0)
		no_keys(s, label_of(s, side));
	return guessed == 1;
}

/* Whether the first record of a side, of this type, can be handled now. */
static bool ready(struct tls_stream *s, struct side *side, uint8_t type)
{
	if (s->progress != BOTH_KNOWN) {
		const bool servers_turn = s->progress == CLIENT_KNOWN;
		return side == &s->server ? servers_turn : !servers_turn || type == TLS_ALERT;
	}
	if (!is_tls13(s))
		return !side->encrypted || ready_to_open(s, side);
	if (type != TLS_APPLICATION)
		return true;
	return !(side == &s->client && s->early_waits) && ready_to_open(s, side);
}

/* ---- handshake messages ---- */

static void take_client_hello(struct tls_stream *s, struct slice body)
{
	struct tls_client_hello hello;
	if (!tls_client_hello_read(&hello, (const uint8_t *)body.data, body.len)) {
		broken(s, "the client's hello is malformed");
	} else if (s->progress == RETRY_KNOWN && memcmp(hello.random, s->client_hello.random, TLS_RANDOM_SIZE) != 0) {
		broken(s, "the client's second hello has another random");
	} else {
		s->client_hello = hello;
		s->progress = CLIENT_KNOWN;
		s->changed = true;
	}
}

static void take_suite(struct tls_stream *s)
{
	const bool tls13 = s->server_hello.version == TLS_1_3;
	s->suite = tls_suite_find(s->server_hello.suite);
	if (!s->suite) {
		fail(s, TLS_STREAM_UNSUPPORTED, "a cipher suite without AES-GCM, AES-CCM or ChaCha20-Poly1305");
	} else if (s->suite->tls13 != tls13) {
		broken(s, "the cipher suite is one of another version");
	} else {
		s->progress = BOTH_KNOWN;
		s->changed = true;
		s->client.epoch = s->server.epoch = tls13 ? HANDSHAKE : TRAFFIC;
		s->early_waits = tls13 && s->client_hello.early_data;
	}
}

static void take_server_hello(struct tls_stream *s, struct slice body)
{
	struct tls_server_hello *hello = &s->server_hello;
	if (!tls_server_hello_read(hello, (const uint8_t *)body.data, body.len)) {
		broken(s, "the server's hello is malformed");
	} else if (hello->version != TLS_1_2 && hello->version != TLS_1_3) {
		fail(s, TLS_STREAM_UNSUPPORTED, "a version other than TLS 1.2 and 1.3");
	} else if (!hello->retry || hello->version != TLS_1_3) {
		take_suite(s);
	} else if (s->retried) {
		broken(s, "the server has asked for a hello twice");
	} else {
		s->retried = s->changed = true;
		s->progress = RETRY_KNOWN;
	}
}

/* RFC 8446 section 4.2.10: after rejecting 0-RTT, a server skips records until one has the handshake's key. */
static void take_extensions(struct tls_stream *s, struct slice body)
{
	bool accepted;
	if (!tls_encrypted_extensions_read(&accepted, (const uint8_t *)body.data, body.len)) {
		broken(s, "the server's encrypted extensions are malformed");
	} else if (s->early_waits) {
		s->early_waits = false;
		s->changed = true;
		s->client.epoch = accepted ? EARLY : HANDSHAKE;
		s->client.skips = !accepted;
	}
}

static bool enter(struct side *side, enum epoch epoch)
{
	side->epoch = epoch;
	side->keyed = false;
	return true;
}

/* A message of TLS 1.3 in an encrypted record. True: the sender's keys change behind it. */
static bool take_message13(struct tls_stream *s, struct side *side, struct slice body)
{
	const uint8_t type = side->message.type;
	if (side->epoch == EARLY && type == TLS_END_OF_EARLY_DATA)
		return enter(side, HANDSHAKE);
	if (side->epoch == HANDSHAKE && type == TLS_FINISHED)
		return enter(side, TRAFFIC);
	if (side->epoch == EARLY) {
		broken(s, "a handshake message has the keys of 0-RTT data");
	} else if (side->epoch == TRAFFIC && type == TLS_KEY_UPDATE) {
		if (!tls_opener_set_next(&side->opener))
			no_cipher(s);
		return true;
	} else if (side->epoch == HANDSHAKE && type == TLS_ENCRYPTED_EXTENSIONS && side == &s->server) {
		take_extensions(s, body);
	}
	return false;
}

/* True: as above. */
static bool take_message(struct tls_stream *s, struct side *side)
{
	const uint8_t type = side->message.type;
	const struct slice body = buffer_all(&side->message.body);
	if (is_tls13(s))
		return take_message13(s, side, body);
	if (s->progress == BOTH_KNOWN) {
		if (side->encrypted && type == TLS_CLIENT_HELLO)
			fail(s, TLS_STREAM_UNSUPPORTED, "renegotiation");
	} else if (side == &s->client && type == TLS_CLIENT_HELLO) {
		take_client_hello(s, body);
	} else if (side == &s->server && type == TLS_SERVER_HELLO) {
		take_server_hello(s, body);
	} else if (side == &s->client || type != TLS_HELLO_REQUEST) {
		broken(s, side == &s->client ? "the client's first message is no hello"
		                             : "the server's first message is no hello");
	}
	return false;
}

static void take_handshake(struct tls_stream *s, struct side *side, const uint8_t *bytes, size_t len)
{
	while (len && s->state == TLS_STREAM_MORE) {
		const enum progress before = s->progress;
		const int64_t used = tls_message_take(&side->message, bytes, len, KEPT);
		if (used < 0) {
			if (side->message.body.failed)
				no_memory(s);
			broken(s, "a handshake message is too long");
			return;
		}
		bytes += used;
		len -= (size_t)used;
		if (!side->message.complete)
			continue;
		const bool changed = take_message(s, side);
		/* RFC 8446 section 5.1: the record ends where the keys change; a hello of TLS 1.2 does not change them */
		if (len && (changed || (s->progress != before && (s->progress != BOTH_KNOWN || is_tls13(s)))))
			broken(s, "a record continues behind a change of keys");
	}
}

/* ---- records ---- */

static void take_alert(struct tls_stream *s, struct side *side, struct slice content, int64_t t_ns)
{
	if (content.len != 2) {
		broken(s, "an alert is malformed");
		return;
	}
	const uint8_t level = (uint8_t)content.data[0], alert = (uint8_t)content.data[1];
	const bool warning = is_tls13(s) ? alert == USER_CANCELED : level == 1;
	if (warning && alert != CLOSE_NOTIFY)
		return;
	side->closed = true;
	if (s->sink->closed && s->sink->closed(s->data, side == &s->server, alert, t_ns) != 0)
		fail(s, TLS_STREAM_STOPPED, "stopped by its reader");
}

static void take_change_cipher(struct tls_stream *s, struct side *side, struct slice content)
{
	if (!slice_is(content, "\1"))
		broken(s, "a change_cipher_spec record is malformed");
	else if (s->progress != BOTH_KNOWN || is_tls13(s))
		return; /* for middleboxes */
	else if (tls_message_begun(&side->message))
		broken(s, "a handshake message continues behind a change of keys");
	else
		side->encrypted = true;
}

static void take_clear(struct tls_stream *s, struct side *side, const struct tls_record *r)
{
	const struct slice content = {(const char *)r->bytes + TLS_HEADER_SIZE, r->len - TLS_HEADER_SIZE};
	const uint8_t type = r->bytes[0];
	if (content.len > PLAIN_MOST)
		broken(s, "a record is too long");
	else if (type == TLS_CHANGE_CIPHER)
		take_change_cipher(s, side, content);
	else if (type == TLS_ALERT && side->epoch == TRAFFIC && side->keyed)
		broken(s, "an alert is not encrypted");
	else if (type == TLS_ALERT)
		take_alert(s, side, content, r->t_ns);
	else if (type == TLS_HANDSHAKE && is_tls13(s))
		broken(s, "a handshake message is not encrypted");
	else if (type == TLS_HANDSHAKE)
		take_handshake(s, side, (const uint8_t *)content.data, content.len);
	else if (side == &s->server || s->progress != RETRY_KNOWN) /* else 0-RTT data, rejected by a HelloRetryRequest */
		broken(s, "application data comes before the handshake ends");
}

static void take_data(struct tls_stream *s, struct side *side, struct slice content, int64_t t_ns)
{
	if (side->epoch == HANDSHAKE)
		broken(s, "application data has the keys of the handshake");
	else if (content.len && s->sink->plain(s->data, side == &s->server, content.data, content.len, t_ns) != 0)
		fail(s, TLS_STREAM_STOPPED, "stopped by its reader");
}

static void take_content(struct tls_stream *s, struct side *side, uint8_t type, struct slice content, int64_t t_ns)
{
	if (content.len > PLAIN_MOST)
		broken(s, "a record is too long");
	else if (type == TLS_APPLICATION)
		take_data(s, side, content, t_ns);
	else if (type == TLS_HANDSHAKE)
		take_handshake(s, side, (const uint8_t *)content.data, content.len);
	else if (type == TLS_ALERT)
		take_alert(s, side, content, t_ns);
	else if (type == TLS_CHANGE_CIPHER && !is_tls13(s))
		fail(s, TLS_STREAM_UNSUPPORTED, "renegotiation");
	else
		broken(s, "the content of a record has an unknown type");
}

/* A record without the side's key, among records which may have another. */
static void skip(struct tls_stream *s, struct side *side, size_t len)
{
	side->skipped += len;
	if (side == &s->client && side->guessed)
		s->changed = s->client_encrypted = true;
	if (side->skipped > TLS_SKIPPED_MOST)
		broken(s, "records do not authenticate by the key log's secret");
}

static void take_encrypted(struct tls_stream *s, struct side *side, const struct tls_record *r, uint8_t *room)
{
	uint8_t *plain, type = r->bytes[0];
	int64_t len = tls_opener_open(&side->opener, r->bytes, r->len, room, &plain);
	if (len < 0 && side->skips) {
		skip(s, side, r->len);
		return;
	}
	if (len < 0) {
		broken(s, "a record does not authenticate");
		return;
	}
	side->skips = false;
	if (side == &s->client && side->epoch != EARLY && !s->client_encrypted)
		s->changed = s->client_encrypted = true;
	if (is_tls13(s)) { /* RFC 8446 section 5.4: zeros behind the type are padding */
		while (len && !plain[len - 1])
			len--;
		type = len ? plain[--len] : 0;
	}
	take_content(s, side, type, (struct slice){(const char *)plain, (size_t)len}, r->t_ns);
}

/* `direct`: the record is in memory of the caller, and nothing waits. */
static void take_record(struct tls_stream *s, struct side *side, const struct tls_record *r, bool direct)
{
	const bool encrypted = is_tls13(s) ? r->bytes[0] == TLS_APPLICATION : side->encrypted;
	uint8_t *room = NULL;
	if (side->closed)
		return;
	if (!encrypted)
		take_clear(s, side, r);
	else if (direct && !(room = tls_input_room(&side->input, r->len)))
		no_memory(s);
	else
		take_encrypted(s, side, r, room);
}

/* ---- order ---- */

/* Handles the records of a side up to one with a reason to wait. True: there was one. */
static bool drain(struct tls_stream *s, struct side *side)
{
	struct tls_record r;
	bool any = false;
	while (s->state == TLS_STREAM_MORE && tls_input_first(&side->input, &r) && ready(s, side, r.bytes[0])) {
		take_record(s, side, &r, false);
		tls_input_drop(&side->input);
		any = true;
		if (s->changed)
			break;
	}
	return any;
}

static void settle(struct tls_stream *s)
{
	bool any = true;
	while (any && s->state == TLS_STREAM_MORE) {
		s->changed = false;
		any = drain(s, &s->client);
		any |= drain(s, &s->server);
	}
}

/* More bytes wait than may. */
static void give_up(struct tls_stream *s, const struct side *side)
{
	if (s->progress != BOTH_KNOWN)
		broken(s, side == &s->client ? "the server's hello is missing" : "the client's hello is missing");
	else if (side == &s->client && s->early_waits)
		no_keys(s, TLS_SERVER_HANDSHAKE);
	else
		no_keys(s, label_of(s, side));
}

static void add(struct tls_stream *s, struct side *side, const char *bytes, size_t len, int64_t t_ns)
{
	switch (tls_input_add(&side->input, bytes, len, t_ns)) {
	case TLS_NO_MEMORY:
		no_memory(s);
		break;
	case TLS_MALFORMED:
		broken(s, "bytes are not a record of TLS");
		break;
	case TLS_ADDED:
		settle(s);
		struct tls_record r;
		if (tls_input_first(&side->input, &r) && tls_input_waiting(&side->input) > TLS_WAIT_MOST)
			give_up(s, side);
	}
}

/* Takes a complete record in the caller's bytes, without copying it. Returns its size; 0: it has to be added.
 */
static size_t take_direct(struct tls_stream *s, struct side *side, struct slice bytes, int64_t t_ns)
{
	if (tls_input_waiting(&side->input))
		return 0;
	const int64_t size = tls_record_size(bytes.data, bytes.len);
	if (size <= 0 || (size_t)size > bytes.len || !ready(s, side, (uint8_t)bytes.data[0]))
		return 0;
	/* with room to decrypt to, the record is not written */
	const struct tls_record r = {(uint8_t *)(uintptr_t)bytes.data, (size_t)size, t_ns};
	take_record(s, side, &r, true);
	if (s->changed)
		settle(s);
	return (size_t)size;
}

enum tls_stream_state tls_stream_bytes(struct tls_stream *s, bool from_server, const char *bytes, size_t len,
                                       int64_t t_ns)
{
	struct side *side = from_server ? &s->server : &s->client;
	struct tls_record r;
	while (len && s->state == TLS_STREAM_MORE && !side->closed) {
		size_t used = take_direct(s, side, (struct slice){bytes, len}, t_ns);
		if (!used && s->state == TLS_STREAM_MORE) {
			const size_t most = tls_input_first(&side->input, &r) ? TLS_WAIT_MOST : tls_input_missing(&side->input);
			used = len < most ? len : most;
			add(s, side, bytes, used, t_ns);
		}
		bytes += used;
		len -= used;
	}
	return s->state;
}

enum tls_stream_state tls_stream_end(struct tls_stream *s)
{
	struct side *const sides[] = {&s->client, &s->server};
	struct tls_record r;
	settle(s);
	for (int i = 0; i < 2 && s->progress == BOTH_KNOWN; i++) {
		if (tls_input_first(&sides[i]->input, &r))
			give_up(s, sides[i]);
		else if (sides[i]->guessed && sides[i]->skips && sides[i]->skipped)
			no_keys(s, i ? TLS_SERVER_HANDSHAKE : TLS_CLIENT_HANDSHAKE);
	}
	return s->state;
}

/* ---- the stream ---- */

struct tls_stream *tls_stream_new(struct tls_keys *keys, const struct tls_sink *sink, void *data)
{
	struct tls_stream *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->keys = keys;
	s->sink = sink;
	s->data = data;
	s->fault = "";
	return s;
}

const char *tls_stream_fault(const struct tls_stream *s)
{
	return s->fault;
}

static void append_version(struct buffer *text, uint16_t version)
{
	if (version > 0x0300 && version <= TLS_1_3)
		buffer_format(text, "TLS 1.%d", version - 0x0301);
	else
		buffer_format(text, version == 0x0300 ? "SSL 3.0" : "version 0x%04x", version);
}

/* Begins a fact of the connection. */
static void next_fact(struct buffer *text, bool *first)
{
	if (text->len)
		buffer_text(text, *first ? ": " : ", ");
	*first = false;
}

void tls_stream_why(const struct tls_stream *s, char *to, size_t size)
{
	struct buffer text = {0};
	char room[TLS_SUITE_NAME];
	bool first = true;
	buffer_text(&text, s->fault);
	if (s->state == TLS_STREAM_NO_KEYS)
		buffer_format(&text, " (%s)", tls_label_name(s->missing));
	if (s->server_hello.version) {
		next_fact(&text, &first);
		append_version(&text, s->server_hello.version);
		buffer_format(&text, ", %s", tls_suite_name(s->server_hello.suite, room));
	}
	if (s->client_hello.server_name[0]) {
		next_fact(&text, &first);
		buffer_format(&text, "server %s", s->client_hello.server_name);
	}
	if (s->progress != NOTHING) {
		next_fact(&text, &first);
		buffer_text(&text, "client random ");
		for (size_t i = 0; i < TLS_RANDOM_SIZE; i++)
			buffer_format(&text, "%02x", s->client_hello.random[i]);
	}
	safe_text(to, size, text.failed ? slice_of(s->fault) : buffer_all(&text));
	buffer_release(&text);
}

const char *tls_stream_server_name(const struct tls_stream *s)
{
	return s->client_hello.server_name;
}

void tls_stream_free(struct tls_stream *s)
{
	if (!s)
		return;
	struct side *const sides[] = {&s->client, &s->server};
	for (int i = 0; i < 2; i++) {
		tls_input_release(&sides[i]->input);
		tls_opener_release(&sides[i]->opener);
		tls_message_release(&sides[i]->message);
	}
	free(s);
}

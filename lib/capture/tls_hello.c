#include "capture/tls_hello.h"

#include <string.h>

/* RFC 8446 section 4.2 */
enum extension { SERVER_NAME = 0, EARLY_DATA = 42, SUPPORTED_VERSIONS = 43 };

#define SESSION_ID_MOST 32

/* Reads on, or sets `bad` and returns zeros at the end. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static const uint8_t *take(struct cursor *c, size_t len)
{
	if (c->bad || (size_t)(c->end - c->at) < len) {
		c->bad = true;
		return NULL;
	}
	c->at += len;
	return c->at - len;
}

static size_t take_number(struct cursor *c, size_t size)
{
	size_t number = 0;
	const uint8_t *bytes = take(c, size);
	for (size_t i = 0; bytes && i < size; i++)
		number = number << 8 | bytes[i];
	return number;
}

/* A vector whose length comes first, in `size` bytes. */
static struct cursor take_vector(struct cursor *c, size_t size)
{
	const size_t len = take_number(c, size);
	const uint8_t *bytes = take(c, len);
	return (struct cursor){bytes, bytes ? bytes + len : bytes, !bytes};
}

static bool more(const struct cursor *c)
{
	return !c->bad && c->at < c->end;
}

static bool next_extension(struct cursor *all, size_t *type, struct cursor *content)
{
	if (!more(all))
		return false;
	*type = take_number(all, 2);
	*content = take_vector(all, 2);
	return !all->bad;
}

/* RFC 6066 section 3: the first name of the type of host names. */
static bool read_server_name(struct cursor content, char name[TLS_SERVER_NAME_SIZE])
{
	struct cursor list = take_vector(&content, 2);
	while (more(&list)) {
		const size_t type = take_number(&list, 1);
		const struct cursor text = take_vector(&list, 2);
		const size_t len = list.bad ? 0 : (size_t)(text.end - text.at);
		if (type == 0 && !name[0] && len < TLS_SERVER_NAME_SIZE && len) {
			memcpy(name, text.at, len);
			name[len] = '\0';
		}
	}
	return !list.bad && !content.bad;
}

bool tls_client_hello_read(struct tls_client_hello *hello, const uint8_t *body, size_t len)
{
	struct cursor all = {body, body + len, false}, content;
	size_t type;
	*hello = (struct tls_client_hello){0};
	take(&all, 2);
	const uint8_t *random = take(&all, TLS_RANDOM_SIZE);
	if (!random)
		return false;
	memcpy(hello->random, random, TLS_RANDOM_SIZE);
	take_vector(&all, 1); /* session */
	take_vector(&all, 2); /* suites */
	take_vector(&all, 1); /* compression */
	if (!more(&all))
		return !all.bad; /* a hello without extensions */
	struct cursor extensions = take_vector(&all, 2);
	while (next_extension(&extensions, &type, &content)) {
		hello->early_data |= type == EARLY_DATA;
		if (type == SERVER_NAME && !read_server_name(content, hello->server_name))
			return false;
	}
	return !extensions.bad && !all.bad && all.at == all.end;
}

/* RFC 8446 section 4.1.3: the random of a HelloRetryRequest. */
static const uint8_t retry_random[TLS_RANDOM_SIZE] = {
	0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
	0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
};

bool tls_server_hello_read(struct tls_server_hello *hello, const uint8_t *body, size_t len)
{
	struct cursor all = {body, body + len, false}, content;
	size_t type;
	*hello = (struct tls_server_hello){.version = (uint16_t)take_number(&all, 2)};
	const uint8_t *random = take(&all, TLS_RANDOM_SIZE);
	const struct cursor session = take_vector(&all, 1);
	hello->suite = (uint16_t)take_number(&all, 2);
	take(&all, 1); /* compression */
	if (all.bad || session.end - session.at > SESSION_ID_MOST)
		return false;
	memcpy(hello->random, random, TLS_RANDOM_SIZE);
	hello->retry = memcmp(random, retry_random, TLS_RANDOM_SIZE) == 0;
	if (!more(&all))
		return true;
	struct cursor extensions = take_vector(&all, 2);
	while (next_extension(&extensions, &type, &content))
		if (type == SUPPORTED_VERSIONS)
			hello->version = (uint16_t)take_number(&content, 2);
	return !extensions.bad && !all.bad && all.at == all.end;
}

bool tls_encrypted_extensions_read(bool *early_data, const uint8_t *body, size_t len)
{
	struct cursor all = {body, body + len, false}, content;
	struct cursor extensions = take_vector(&all, 2);
	size_t type;
	*early_data = false;
	while (next_extension(&extensions, &type, &content))
		*early_data |= type == EARLY_DATA;
	return !extensions.bad && !all.bad && all.at == all.end;
}

bool tls_looks_like(const char *bytes, size_t len)
{
	/* type, version, length; type and length of the message; its version */
	static const struct {
		uint8_t least, most;
	} expected[] = {{22, 22}, {3, 3}, {0, 4}, {0, 64}, {0, 255}, {1, 1}, {0, 0}, {0, 255}, {0, 255}, {3, 3}, {0, 4}};
	for (size_t i = 0; i < len && i < sizeof expected / sizeof *expected; i++) {
		const uint8_t byte = (uint8_t)bytes[i];
		if (byte < expected[i].least || byte > expected[i].most)
			return false;
	}
	return len > 0;
}

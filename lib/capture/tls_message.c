#include "capture/tls_message.h"

#define HEAD 4 /* bytes: type, length */

int64_t tls_message_take(struct tls_message *m, const uint8_t *bytes, size_t len, uint32_t keep)
{
	const uint8_t *at = bytes, *const end = bytes + len;
	if (m->complete) {
		m->head_len = 0;
		m->complete = false;
		buffer_clear(&m->body);
	}
	while (m->head_len < HEAD && at < end) {
		m->head[m->head_len++] = *at++;
		m->type = m->head[0];
		m->left = (size_t)m->head[1] << 16 | (size_t)m->head[2] << 8 | m->head[3];
	}
	if (m->head_len < HEAD)
		return at - bytes;
	const bool kept = m->type < 32 && (keep >> m->type & 1);
	const size_t more = m->left < (size_t)(end - at) ? m->left : (size_t)(end - at);
	if (kept && m->left + m->body.len > TLS_MESSAGE_MOST)
		return -1;
	if (kept)
		buffer_append(&m->body, at, more);
	m->left -= more;
	m->complete = m->left == 0;
	return m->body.failed ? -1 : at + more - bytes;
}

bool tls_message_begun(const struct tls_message *m)
{
	return m->head_len && !m->complete;
}

void tls_message_release(struct tls_message *m)
{
	buffer_release(&m->body);
	*m = (struct tls_message){0};
}

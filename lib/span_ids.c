#include "span_ids.h"

#include "text_hash.h"

#include <stdio.h>

/* Eight bytes of a hash of all parts, as a text that is the same on every machine. */
static void put_hash(char use, struct slice run, int64_t n, struct slice session, unsigned char out[8])
{
	char text[80];
	snprintf(text, sizeof text, "%c %016llx %lld %016llx", use, (unsigned long long)text_hash_mixed(run), (long long)n,
	         (unsigned long long)text_hash_mixed(session));
	uint64_t hash = text_hash_mixed(slice_of(text));
	hash += hash == 0;
	for (int i = 7; i >= 0; i--, hash >>= 8)
		out[i] = (unsigned char)hash;
}

struct span_ids span_ids(struct slice run, int64_t n, struct slice session)
{
	struct span_ids ids;
	int64_t own = session.len ? -1 : n;
	put_hash('T', run, own, session, ids.trace);
	put_hash('t', run, own, session, ids.trace + 8);
	put_hash('s', run, n, session, ids.span);
	return ids;
}

static char *put_hex(char *to, const unsigned char *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < count; i++) {
		*to++ = digits[bytes[i] >> 4];
		*to++ = digits[bytes[i] & 15];
	}
	return to;
}

void span_ids_traceparent(const struct span_ids *ids, char text[SPAN_IDS_TRACEPARENT])
{
	char trace[2 * sizeof ids->trace + 1], span[2 * sizeof ids->span + 1];
	*put_hex(trace, ids->trace, sizeof ids->trace) = '\0';
	*put_hex(span, ids->span, sizeof ids->span) = '\0';
	snprintf(text, SPAN_IDS_TRACEPARENT, "00-%s-%s-01", trace, span);
}

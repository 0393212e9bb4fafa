/* Finds where tokens end in the text they encode.
 *
 * Each token's text is searched from the end of the token before. If tokens are the bytes of the text (byte-level BPE,
 * byte fallback, added tokens), each begins there. Text that a normalizer or a pre-tokenizer removed is between two
 * tokens and counts for the second one. Tokens whose text differs from the input (other letters, an unknown token)
 * share the text between the nearest tokens that are found.
 */
#include "tokenizer/pipeline.h"

#include <string.h>

#define WINDOW      32  /* bytes searched for the next token */
#define WINDOW_MOST 512 /* the same, with the length of tokens that were not found */

struct token_places {
	const struct tokenizer *t;
	const char *text;
	size_t len, at; /* at: the text before it has been assigned */
	size_t *ends;
	size_t lost, lost_bytes; /* first token that is not found yet; the length of such tokens, which is kept in their
	                            ends until then */
	struct text_pieces token, shown;
	struct buffer before;
	char byte;
};

static char folded(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool stands_at(const struct token_places *p, size_t at, struct slice s)
{
	if (s.len > p->len - at)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (folded(p->text[at + i]) != folded(s.data[i]))
			return false;
	return true;
}

/* <0x41> */
static bool is_byte(struct slice s, char *byte)
{
	static const char digits[] = "0123456789ABCDEF";
	if (s.len != 6 || memcmp(s.data, "<0x", 3) != 0 || s.data[5] != '>')
		return false;
	const char *high = memchr(digits, s.data[3], 16), *low = memchr(digits, s.data[4], 16);
	if (!high || !low)
		return false;
	*byte = (char)((high - digits) << 4 | (low - digits));
	return true;
}

static int decode(struct token_places *p, struct slice first, struct slice second, struct slice *shown,
                  struct ipf_error *err)
{
	text_pieces_clear(&p->token);
	text_pieces_clear(&p->shown);
	if (first.data)
		text_pieces_add(&p->token, first.data, first.len);
	text_pieces_add(&p->token, second.data, second.len);
	if (p->t->decoder->apply(p->t->decoder, &p->token, &p->shown, err) < 0)
		return -1;
	if (p->token.failed || p->shown.failed)
		return ipf_error_memory(err);
	*shown = (struct slice){p->shown.text.data, p->shown.count ? p->shown.ends[p->shown.count - 1] : 0};
	return 0;
}

/* Decodes a token after another one, which often gives more than the token alone (a space before it). */
static int decoded_behind(struct token_places *p, struct slice before, struct slice token, struct slice *says,
                          struct ipf_error *err)
{
	struct slice alone = {0};
	if (before.data && decode(p, (struct slice){0}, before, &alone, err) < 0)
		return -1;
	buffer_clear(&p->before);
	buffer_slice(&p->before, alone);
	if (p->before.failed)
		return ipf_error_memory(err);
	if (decode(p, before, token, says, err) < 0)
		return -1;
	if (says->len < alone.len || (alone.len && memcmp(says->data, p->before.data, alone.len) != 0))
		return decode(p, (struct slice){0}, token, says, err);
	*says = (struct slice){says->data + alone.len, says->len - alone.len};
	return 0;
}

/* Sets `*says` to token i's part of the text: its bytes, if nothing changed them. */
static int token_says(struct token_places *p, const uint32_t *ids, size_t i, struct slice *says, struct ipf_error *err)
{
	const struct vocabulary *v = &p->t->vocabulary;
	*says = pipeline_token_text(p->t, ids[i], 0);
	if (!says->data || added_tokens_by_id(&p->t->added, ids[i]))
		return 0;
	if (v->byte_mode)
		*says = (struct slice){v->word + v->word_offsets[ids[i]],
		                       v->word_offsets[ids[i] + 1] - v->word_offsets[ids[i]]};
	else if (is_byte(*says, &p->byte))
		*says = (struct slice){&p->byte, 1};
	else if (p->t->decoder)
		return decoded_behind(p, i ? pipeline_token_text(p->t, ids[i - 1], 0) : (struct slice){0}, *says, says, err);
	return 0;
}

static bool is_blank(const char *text, size_t len)
{
	while (len > 0 && (unsigned char)text[len - 1] <= ' ')
		len--;
	return len == 0;
}

/* Finds the nearest place from p->at on. A single letter matches by chance almost anywhere, so it has to be where it is
 * expected. */
static bool find(const struct token_places *p, struct slice says, size_t *begin)
{
	size_t window = WINDOW + 3 * p->lost_bytes;
	if (window > WINDOW_MOST)
		window = WINDOW_MOST;
	for (size_t skip = 0; says.len > 0 && skip <= window && skip <= p->len - p->at; skip++) {
		*begin = p->at + skip;
		if (stands_at(p, *begin, says))
			return says.len > 1 || skip <= 2 * p->lost_bytes || is_blank(p->text + p->at, skip);
	}
	return false;
}

/* Divides the text between p->at and `end` among the tokens from p->lost to `i`. */
static void share_out(struct token_places *p, size_t i, size_t end)
{
	for (size_t k = p->lost; k < i; k++)
		p->ends[k] = p->at + (size_t)((__uint128_t)(end - p->at) * p->ends[k] / p->lost_bytes);
	p->lost_bytes = 0;
	p->lost = i;
	p->at = end;
}

int tokenizer_token_ends(const struct tokenizer *t, const struct token_ids *ids, struct slice text, size_t *ends,
                         struct ipf_error *err)
{
	struct token_places p = {.t = t, .text = text.data, .len = text.len, .ends = ends};
	size_t count = ids->count;
	int status = 0;
	for (size_t i = 0; status == 0 && i < count; i++) {
		struct slice says;
		size_t begin;
		status = token_says(&p, ids->ids, i, &says, err);
		if (status < 0)
			break;
		bool found = find(&p, says, &begin);
		while (!found && says.len > 1 && *says.data == ' ') {
			says = (struct slice){says.data + 1, says.len - 1};
			found = find(&p, says, &begin);
		}
		if (found) {
			share_out(&p, i, begin);
			p.at = ends[i] = begin + says.len;
			p.lost = i + 1;
		} else {
			ends[i] = p.lost_bytes += says.len ? says.len : 1;
		}
	}
	if (status == 0) {
		share_out(&p, count, text.len);
		if (count)
			ends[count - 1] = text.len;
	}
	text_pieces_release(&p.token);
	text_pieces_release(&p.shown);
	buffer_release(&p.before);
	return status;
}

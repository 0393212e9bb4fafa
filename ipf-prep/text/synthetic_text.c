#include "text/synthetic_text.h"

#include "utf8.h"
#include "text/word_lists.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word and its space. Always copied as 16 bytes: two moves instead of a call. */
struct word {
	char text[15];
	unsigned char len; /* with the space */
};

#define WORDS_MAX   400
#define CLOSING_MAX 12 /* the longest word ending a text */

static struct {
	struct word words[WORDS_MAX];
	uint32_t count;
} classes[WORD_CLASSES];

static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
	for (int c = 0; c < WORD_CLASSES; c++)
		for (const char *at = word_lists[c]; *at;) {
			size_t len = strcspn(at, " ");
			if (len > WORD_MAX || classes[c].count == WORDS_MAX)
				abort(); /* never: the unit test checks the lists */
			struct word *word = &classes[c].words[classes[c].count++];
			memcpy(word->text, at, len);
			word->text[len] = ' ';
			word->len = (unsigned char)(len + 1);
			at += len + (at[len] == ' ');
		}
}

/* Sentences: a letter is a class of words; a comma follows the word before it. */
static const char letters[] = {
	['n'] = NOUN,       ['a'] = ADJECTIVE,   ['v'] = VERB,        ['r'] = ADVERB, ['N'] = NAME,
	['d'] = DETERMINER, ['p'] = PREPOSITION, ['c'] = CONJUNCTION, ['P'] = PLACE};
static const char *const sentences[] = {
	"danvdn",       "Nrvdanpdn",       "danpdnvdan",      "rdanvNpdn",      "NcNvdanpP",   "dnpPvdan,cdanrvdn",
	"pdan,Nvdn",    "Nvdn,cdanvdn",    "dan,dan,cdnrvdn", "danvdnpdan",     "rNvdanpdnpP", "dnvdn,cNrvdan",
	"pP,danvNpdan", "Nvdnpdan,cdnvdn", "danrvdanpdnpdan", "pdnpdan,danvdn",
};

#define SENTENCES      (sizeof sentences / sizeof *sentences)
#define SENTENCE_BYTES (18 * 16) /* more than the longest one and the slack of the last copy */

/* Draws sixteen random bits at a time. */
struct random_bits {
	struct rng *rng;
	uint64_t bits;
	unsigned left;
};

static inline uint32_t bits_below(struct random_bits *bits, uint32_t bound)
{
	if (bits->left == 0) {
		bits->bits = rng_next(bits->rng);
		bits->left = 4;
	}
	uint32_t drawn = (uint32_t)(bits->bits & 0xffff);
	bits->bits >>= 16;
	bits->left--;
	return drawn * bound >> 16;
}

static inline char *put_word(char *to, struct random_bits *bits, enum word_class class)
{
	const struct word *word = &classes[class].words[bits_below(bits, classes[class].count)];
	memcpy(to, word, sizeof *word);
	return to + word->len;
}

/* Writes a sentence and a space. */
static char *put_sentence(char *to, struct random_bits *bits)
{
	char *first = to;
	for (const char *at = sentences[bits_below(bits, SENTENCES)]; *at; at++) {
		if (*at == ',') {
			to[-1] = ',';
			*to++ = ' ';
		} else {
			to = put_word(to, bits, (enum word_class)letters[(unsigned char)*at]);
		}
	}
	*first = (char)toupper((unsigned char)*first);
	to[-1] = '.';
	*to++ = ' ';
	return to;
}

/* Writes a last sentence of exactly `len` bytes: words while they fit, then one with the length that is left. */
static void close_text(char *to, size_t len, struct random_bits *bits)
{
	static const char *const closing[CLOSING_MAX + 1] = {
		"",        "I",        "so",        "now",        "here",        "again",       "indeed",
		"finally", "together", "sometimes", "altogether", "nonetheless", "nevertheless"};
	char *first = to, *end = to + len;
	while ((size_t)(end - to) > CLOSING_MAX + 1) {
		char word[32];
		size_t taken =
			(size_t)(put_word(word, bits, (enum word_class)letters[(unsigned char)"dapn"[bits_below(bits, 4)]]) - word);
		if ((size_t)(end - to) < taken + 2)
			continue; /* too long; try another one */
		memcpy(to, word, taken);
		to += taken;
	}
	size_t left = (size_t)(end - to);
	if (left > 1) {
		memcpy(to, closing[left - 1], left - 1);
		*first = (char)toupper((unsigned char)*first);
		end[-1] = '.';
	} else if (left == 1) {
		/* The space of the last word is left over. */
		if (to > first)
			to[-1] = '.';
		*to = to > first ? ' ' : '.';
	}
}

static struct slice content; /* the text to take prose from; absent: prose is made */

void synthetic_text_content(struct slice text)
{
	content = text;
}

/* Replaces a character cut at the end by full stops. */
static void mend_end(char *text, size_t len)
{
	size_t from = len > 3 ? len - 3 : 0, good;
	while (from > 0 && (text[from] & 0xc0) == 0x80)
		from--;
	if (!utf8_valid(text + from, len - from, &good))
		memset(text + from + good, '.', len - from - good);
}

static void prose_from_content(struct rng *rng, size_t len, struct buffer *out)
{
	char *to = buffer_reserve(out, len + SENTENCE_BYTES + 16);
	size_t at = (size_t)rng_below(rng, content.len), left = len;
	if (!to)
		return;
	/* The sentence keeps texts apart that begin at the same word of a short file. */
	struct random_bits bits = {.rng = rng};
	pthread_once(&tables_once, fill_tables);
	size_t made = (size_t)(put_sentence(to, &bits) - to);
	left -= made < len ? made : len;
	while (at < content.len && content.data[at] != ' ' && content.data[at] != '\n')
		at++;
	if (at < content.len)
		at++;
	while (left > 0) {
		if (at >= content.len)
			at = 0;
		size_t part = content.len - at < left ? content.len - at : left;
		memcpy(to + len - left, content.data + at, part);
		left -= part;
		at += part;
	}
	if (len > 0)
		mend_end(to, len);
	out->len += len;
	out->data[out->len] = '\0';
}

/* Writes a word of all the lists: texts that differ should differ from their first token on. */
static char *put_opening(char *to, struct random_bits *bits)
{
	static const enum word_class open[] = {NOUN, ADJECTIVE, VERB, ADVERB, NAME};
	uint32_t all = 0, pick;
	size_t c = 0;
	for (size_t i = 0; i < sizeof open / sizeof *open; i++)
		all += classes[open[i]].count;
	for (pick = (uint32_t)bits_below(bits, all); pick >= classes[open[c]].count; c++)
		pick -= classes[open[c]].count;
	const struct word *word = &classes[open[c]].words[pick];
	memcpy(to, word->text, sizeof *word);
	*to = (char)toupper((unsigned char)*to);
	to += word->len;
	to[-1] = ',';
	*to++ = ' ';
	return to;
}

void synthetic_text_prose(struct rng *rng, size_t len, struct buffer *out)
{
	if (content.len > 0) {
		prose_from_content(rng, len, out);
		return;
	}
	pthread_once(&tables_once, fill_tables);
	char *to = buffer_reserve(out, len + SENTENCE_BYTES);
	if (!to)
		return;
	struct random_bits bits = {.rng = rng};
	char *end = to + len;
	if (end - to > SENTENCE_BYTES)
		to = put_opening(to, &bits);
	while (end - to > SENTENCE_BYTES)
		to = put_sentence(to, &bits);
	/* Add sentences while they fit and leave room for a closing one. */
	for (;;) {
		char sentence[SENTENCE_BYTES + 16];
		size_t taken = (size_t)(put_sentence(sentence, &bits) - sentence);
		if ((size_t)(end - to) < taken + 3)
			break;
		memcpy(to, sentence, taken);
		to += taken;
	}
	close_text(to, (size_t)(end - to), &bits);
	out->len += len;
	out->data[out->len] = '\0';
}

const char *synthetic_text_name(const char *name, const char *salt, char text[512])
{
	snprintf(text, 512, "%s%s%s", name, salt ? ":" : "", salt ? salt : "");
	return text;
}

void synthetic_text_block(uint64_t id, size_t size, const char *salt, size_t len, struct buffer *out)
{
	char name[512];
	struct rng rng;
	size_t before = out->len;
	rng_init(&rng, 0, synthetic_text_name("block", salt, name), id);
	synthetic_text_prose(&rng, size - 1, out); /* and a space, so blocks do not join */
	buffer_byte(out, ' ');
	if (out->failed)
		return;
	out->len = before + len;
	out->data[out->len] = '\0';
	if (content.len > 0 && len > 0)
		mend_end(out->data + before, len);
}

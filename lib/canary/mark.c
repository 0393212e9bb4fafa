#include "canary/mark.h"

#include <ctype.h>
#include <stdint.h>

enum { SYMBOLS = 32, CHECKED = 9, CHECKS = CANARY_MARK - CHECKED };

static const char alphabet[SYMBOLS + 1] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
enum { FIRST_DIGIT = 24 };

/* Multiplies by a generator of the field of 32 elements, whose polynomial is x^5 + x^2 + 1. */
static unsigned times_generator(unsigned x)
{
	return x & 16 ? (x << 1) ^ 0x25 : x << 1;
}

/* Check k is the value, at power k of the generator, of the polynomial whose coefficients are the symbols. The offset
 * keeps equal symbols from being a mark. */
static unsigned check_symbol(const uint8_t symbols[CHECKED], int k)
{
	static const uint8_t offset[CHECKS] = {21, 6, 27};
	unsigned value = 0;
	for (int i = 0; i < CHECKED; i++) {
		for (int power = 0; power < k; power++)
			value = times_generator(value);
		value ^= symbols[i];
	}
	return value ^ offset[k];
}

static bool has_letter_and_digit(const uint8_t symbols[CHECKED])
{
	int digits = 0;
	for (int i = 0; i < CHECKED; i++)
		digits += symbols[i] >= FIRST_DIGIT;
	return digits > 0 && digits < CHECKED;
}

/* `wrong` is added to the last check symbol. */
static void make(struct rng *rng, unsigned wrong, char code[CANARY_MARK + 1])
{
	uint8_t symbols[CHECKED];
	do
		for (int i = 0; i < CHECKED; i++)
			symbols[i] = (uint8_t)rng_below(rng, SYMBOLS);
	while (!has_letter_and_digit(symbols));
	for (int i = 0; i < CHECKED; i++)
		code[i] = alphabet[symbols[i]];
	for (int k = 0; k < CHECKS; k++)
		code[CHECKED + k] = alphabet[check_symbol(symbols, k) ^ (k == CHECKS - 1 ? wrong : 0)];
	code[CANARY_MARK] = '\0';
}

void canary_mark(struct rng *rng, char mark[CANARY_MARK + 1])
{
	make(rng, 0, mark);
}

void canary_decoy(struct rng *rng, char code[CANARY_MARK + 1])
{
	unsigned wrong = 1 + (unsigned)rng_below(rng, SYMBOLS - 1);
	make(rng, wrong, code);
}

bool canary_is_mark(struct slice word)
{
	uint8_t symbols[CANARY_MARK];
	if (!word.data || word.len != CANARY_MARK)
		return false;
	for (int i = 0; i < CANARY_MARK; i++) {
		const char *symbol = word.data[i] ? strchr(alphabet, word.data[i]) : NULL;
		if (!symbol)
			return false;
		symbols[i] = (uint8_t)(symbol - alphabet);
	}
	for (int k = 0; k < CHECKS; k++)
		if (symbols[CHECKED + k] != check_symbol(symbols, k))
			return false;
	return has_letter_and_digit(symbols);
}

static bool in_word(char c)
{
	return c == '_' || isalnum((unsigned char)c);
}

struct slice canary_mark_find(struct slice text, size_t *at)
{
	size_t i = *at;
	while (i < text.len) {
		size_t from = i;
		while (i < text.len && in_word(text.data[i]))
			i++;
		struct slice word = {text.data + from, i - from};
		if (canary_is_mark(word)) {
			*at = i;
			return word;
		}
		i += i == from;
	}
	*at = text.len;
	return (struct slice){0};
}

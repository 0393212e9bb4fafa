/* Texts in scripts of gnuplot: whatever the text, the result is one string constant, which says the same. */
#include "cli/gnuplot.h"

#include "safe_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = {size ? (const char *)data : "", size};
	struct buffer quoted = {0}, safe = {0}, back = {0}, wanted = {0};
	gnuplot_quote(&quoted, text);
	safe_text_append(&safe, text);
	for (size_t i = 0; i < safe.len; i++)
		if (safe.data[i] == '\'' && (i == 0 || safe.data[i - 1] == '\''))
			buffer_text(&wanted, "\u2019");
		else
			buffer_byte(&wanted, safe.data[i]);
	if (quoted.failed || safe.failed)
		abort();
	if (quoted.len < 2 || quoted.data[0] != '\'' || quoted.data[quoted.len - 1] != '\'')
		abort();
	for (size_t i = 1; i + 1 < quoted.len; i++) {
		if ((unsigned char)quoted.data[i] < ' ' || quoted.data[i] == 0x7f)
			abort();
		if (quoted.data[i] == '\'' && (i + 2 >= quoted.len || quoted.data[++i] != '\''))
			abort();
		if (i > 2 && memcmp(quoted.data + i - 2, "'''", 3) == 0)
			abort();
		buffer_byte(&back, quoted.data[i]);
	}
	if (back.len != wanted.len || (back.len && memcmp(back.data, wanted.data, back.len) != 0))
		abort();
	buffer_release(&quoted);
	buffer_release(&safe);
	buffer_release(&wanted);
	buffer_release(&back);
	return 0;
}

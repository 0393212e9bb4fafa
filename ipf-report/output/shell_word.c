#include "output/shell_word.h"

#include "safe_text.h"

#include <string.h>

void shell_word(struct buffer *out, const char *word)
{
	size_t plain = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-");
	bool safe = safe_text_is_safe(slice_of(word));
	if (*word && !word[plain]) {
		buffer_text(out, word);
		return;
	}
	buffer_text(out, safe ? "'" : "$'");
	for (; *word; word++)
		if (!safe && (*word < ' ' || *word > '~'))
			buffer_format(out, "\\x%02x", (unsigned)(unsigned char)*word);
		else if (!safe && (*word == '\'' || *word == '\\'))
			buffer_format(out, "\\%c", *word);
		else if (*word == '\'')
			buffer_text(out, "'\\''");
		else
			buffer_byte(out, *word);
	buffer_byte(out, '\'');
}

#include "sources/quoted_names.h"

#include "utf8.h"

#define SHOWN_MAX 8  /* names */
#define NAME_MAX  32 /* bytes of each */

void quoted_names_add(struct quoted_names *names, struct slice name)
{
	size_t good, len = name.len < NAME_MAX ? name.len : NAME_MAX;
	if (++names->count > SHOWN_MAX)
		return;
	if (len < name.len && !utf8_valid(name.data, len, &good) && len - good < 4)
		len = good; /* not within a character */
	buffer_format(&names->text, "%s\"%.*s%s\"", names->count > 1 ? ", " : "", (int)len, name.data,
	              len < name.len ? "…" : "");
}

const char *quoted_names_text(struct quoted_names *names)
{
	if (names->count > SHOWN_MAX)
		buffer_format(&names->text, " and %zu more", names->count - SHOWN_MAX);
	return names->text.data && !names->text.failed ? names->text.data : "";
}

void quoted_names_release(struct quoted_names *names)
{
	buffer_release(&names->text);
	*names = (struct quoted_names){0};
}

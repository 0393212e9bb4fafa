/* JSON files compiled in: tables that embed.sh makes at build time. */
#ifndef IPF_BUILTIN_TEXT_H
#define IPF_BUILTIN_TEXT_H

struct builtin_text {
	const char *name; /* the file's, without .json; NULL ends the table */
	const char *json;
};

#endif

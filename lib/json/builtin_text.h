/* JSON files that are compiled in: tables that embed.sh makes at build time. */
#ifndef IPF_BUILTIN_TEXT_H
#define IPF_BUILTIN_TEXT_H

struct builtin_text {
	const char *name; /* of the file, without .json; NULL ends the table */
	const char *json;
};

#endif

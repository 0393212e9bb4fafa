/* The built-in descriptors. The table is generated at build time from lib/api/apis/ by its embed.sh. */
#ifndef IPF_API_BUILTIN_H
#define IPF_API_BUILTIN_H

struct api_builtin {
	const char *name; /* NULL ends the table */
	const char *json;
};

extern const struct api_builtin api_builtins[];

#endif

/* The descriptors that are compiled in; the table is generated from lib/apis/ at build time. */
#ifndef IPF_API_BUILTIN_H
#define IPF_API_BUILTIN_H

struct api_builtin {
	const char *name; /* NULL ends the table */
	const char *json;
};

extern const struct api_builtin api_builtins[];

#endif

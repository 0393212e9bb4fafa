/* Our definitions: the meaning of each figure, in the order of `ipf-report definitions`. They are in definitions.txt,
 * which is compiled in. (other_tools/tool_rules.h has other tools' meanings of the same names.)
 *
 *     definition_find("ttft") …                               // "First content event - start. …"
 */
#ifndef REPORT_DEFINITION_LIST_H
#define REPORT_DEFINITION_LIST_H

#include <stddef.h>

struct definition {
	const char *name; /* NULL: a heading, its text in `text` */
	const char *text; /* `words` between backquotes are commands */
};

extern const struct definition definitions[];
extern const size_t definition_count;

/* The text of the first definition of this name; NULL: there is none. */
const char *definition_find(const char *name);

#endif

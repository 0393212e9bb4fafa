/* The definition of each figure, and the limits of the verdict. */
#include "sections/sections.h"

#include "catalogue/definition_list.h"
#include "verdict/verdict.h"

static void tell(struct document *d)
{
	const char *about, *rule, *before = "";
	for (size_t i = 0; i < definition_count; i++) {
		const struct definition *one = &definitions[i];
		/* an id of a name defined twice belongs to the first */
		const bool first = one->name && definition_find(one->name) == one->text;
		doc_part(d, one->name ? PART_TERM : PART_HEADING, one->name, one->text)->unit = first ? one->name : NULL;
	}
	doc_part(d, PART_HEADING, NULL, "Verdict");
	doc_part(d, PART_TEXT, NULL, VERDICT_WORDS);
	for (size_t i = 0; (rule = verdict_rule(i, &about)) != NULL; i++) {
		doc_part(d, PART_TERM, about == before ? "" : about, rule);
		before = about;
	}
}

void section_definitions(const struct telling *t)
{
	tell(t->d);
}

void definitions_document(struct document *d)
{
	doc_section(d, "definitions", NULL);
	tell(d);
}

/* Writes ipf-report-definitions(1) at build time: copies a page of mdoc from standard input, and puts the definitions
 * of all figures and the limits of the verdict in the place of the line
 *
 *     .\" definitions
 */
#include "catalogue/definition_list.h"
#include "cli/mdoc_text.h"
#include "verdict/verdict.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct buffer page;

static void begin_section(const char *heading)
{
	buffer_format(&page, ".Ss %s\n.Bl -tag -width Ds\n", heading);
}

static void put_definitions(void)
{
	for (size_t i = 0; i < definition_count; i++) {
		const struct definition *one = &definitions[i];
		if (one->name) {
			buffer_format(&page, ".It Sy %s\n", one->name);
			mdoc_put_text(&page, one->text);
		} else {
			if (i > 0)
				buffer_text(&page, ".El\n");
			begin_section(one->text);
		}
	}
	buffer_text(&page, ".El\n");
}

static void put_rules(void)
{
	const char *about, *rule, *before = "";
	buffer_text(&page, ".Ss Verdict\n");
	mdoc_put_text(&page, VERDICT_WORDS);
	buffer_text(&page, ".Bl -tag -width Ds\n");
	for (size_t i = 0; (rule = verdict_rule(i, &about)) != NULL; i++) {
		if (about != before)
			buffer_format(&page, ".It Sy %s\n", about);
		mdoc_put_text(&page, rule);
		before = about;
	}
	buffer_text(&page, ".El\n");
}

int main(void)
{
	char line[4096];
	while (fgets(line, sizeof line, stdin)) {
		if (strcmp(line, ".\\\" definitions\n") == 0) {
			put_definitions();
			put_rules();
		} else {
			buffer_text(&page, line);
		}
	}
	return page.failed || ferror(stdin) || fwrite(page.data, 1, page.len, stdout) != page.len || fflush(stdout) != 0;
}

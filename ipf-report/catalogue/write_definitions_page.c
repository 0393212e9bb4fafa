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

/* Sentences of a table. Without memory, the page lacks them and the tool fails. */
static bool failed;
static void put_text(const char *text)
{
	struct buffer out = {0};
	mdoc_put_text(&out, text);
	if (out.len)
		fputs(out.data, stdout);
	failed |= out.failed;
	buffer_release(&out);
}

static void begin_section(const char *heading)
{
	printf(".Ss %s\n.Bl -tag -width Ds\n", heading);
}

static void put_definitions(void)
{
	for (size_t i = 0; i < definition_count; i++) {
		const struct definition *one = &definitions[i];
		if (one->name) {
			printf(".It Sy %s\n", one->name);
			put_text(one->text);
		} else {
			if (i > 0)
				puts(".El");
			begin_section(one->text);
		}
	}
	puts(".El");
}

static void put_rules(void)
{
	const char *about, *rule, *before = "";
	puts(".Ss Verdict");
	put_text(VERDICT_WORDS);
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; (rule = verdict_rule(i, &about)) != NULL; i++) {
		if (about != before)
			printf(".It Sy %s\n", about);
		put_text(rule);
		before = about;
	}
	puts(".El");
}

int main(void)
{
	char line[4096];
	while (fgets(line, sizeof line, stdin)) {
		if (strcmp(line, ".\\\" definitions\n") == 0) {
			put_definitions();
			put_rules();
		} else {
			fputs(line, stdout);
		}
	}
	return failed || ferror(stdin) || fflush(stdout) != 0;
}

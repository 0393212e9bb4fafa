/* Documents and their renderers: memory, cells, tables at any width, and texts from outside in every part. */
#include "unit.h"

#include "cli/terminal.h"
#include "document/document_md.h"
#include "document/document_text.h"
#include "html/document_html.h"
#include "utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- drawing ---- */

enum renderer { TEXT, MARKDOWN, PAGE, RENDERERS };

static const char *draw(const struct document *d, enum renderer renderer, int width, struct buffer *out)
{
	buffer_clear(out);
	if (renderer == TEXT)
		document_text(d, &(struct text_style){.width = width}, out);
	else if (renderer == MARKDOWN)
		document_md(d, out);
	else
		document_html(d, out);
	assert_false(out->failed);
	buffer_byte(out, 0);
	out->len--;
	return out->data;
}

static struct doc_table *begin_table(struct document *d, const struct doc_column *columns, int count)
{
	doc_section(d, "section", "Section");
	return doc_table(d, &(struct doc_table_spec){
							.id = "table", .caption = "Caption", .rows = "row", .columns = columns, .count = count});
}

/* ---- memory ---- */

static void grows(void **state)
{
	(void)state;
	enum { SECTIONS = 70, PARTS = 90, LONG = 100000 };
	struct document d = {.title = "t", .heading = "h", .when = "w", .kind = "k"};
	struct buffer out = {0};
	char *text = malloc(LONG + 1), expected[40];
	assert_non_null(text);
	memset(text, 'x', LONG);
	text[LONG] = 0;
	for (int s = 0; s < SECTIONS; s++) {
		doc_section(&d, "id", "title");
		for (int i = 0; i < PARTS; i++)
			doc_fact(&d, "label", "fact %d of %d", i, s);
	}
	doc_part(&d, PART_TEXT, NULL, text);
	doc_fact(&d, "long", "%s%s", text, text);
	assert_false(d.failed);
	assert_int_equal(d.count, SECTIONS);
	for (int s = 0; s < SECTIONS; s++)
		for (int i = 0; i < PARTS; i++) {
			snprintf(expected, sizeof expected, "fact %d of %d", i, s);
			assert_string_equal(d.sections[s].parts[i].text, expected);
			assert_true(isnan(d.sections[s].parts[i].value));
		}
	assert_string_equal(d.sections[SECTIONS - 1].parts[PARTS].text, text);
	assert_int_equal(strlen(d.sections[SECTIONS - 1].parts[PARTS + 1].text), 2 * LONG);
	for (int r = 0; r < RENDERERS; r++)
		assert_non_null(strstr(draw(&d, (enum renderer)r, 80, &out), text));
	assert_null(doc_copy(&d, NULL));
	free(text);
	buffer_release(&out);
	document_release(&d);
	document_release(&d);
	assert_null(d.blocks);
}

/* A part before the first section is lost, and harms nothing. */
static void a_part_before_the_first_section_is_lost(void **state)
{
	(void)state;
	struct document d = {0};
	struct buffer out = {0};
	doc_fact(&d, "label", "text")->tone = TONE_BAD;
	doc_note(&d, "note");
	assert_int_equal(d.count, 0);
	assert_string_equal(draw(&d, TEXT, 80, &out), "");
	buffer_release(&out);
	document_release(&d);
}

static void many_rows(void **state)
{
	(void)state;
	static const struct doc_column columns[] = {{.name = "n", .path = "n", .kind = CELL_COUNT},
	                                            {.name = "p99", .path = "p99", .kind = CELL_PERCENTILE}};
	enum { ROWS = 250 };
	struct document d = {0};
	struct buffer out = {0};
	struct doc_table *t = begin_table(&d, columns, 2);
	for (int i = 0; i < ROWS; i++) {
		char name[20];
		json_t *json = json_pack("{s:i, s:i}", "n", i < DOC_ROWS_MOST ? 100000 : 3, "p99", i);
		snprintf(name, sizeof name, "row %d", i);
		doc_row_of(&d, t, name, NULL, json);
		json_decref(json);
	}
	assert_int_equal(t->count, DOC_ROWS_MOST);
	assert_int_equal(t->left_out, ROWS - DOC_ROWS_MOST);
	assert_string_equal(t->rows[DOC_ROWS_MOST - 1].name, "row 199");
	/* omitted parts leave no mark on the others */
	assert_false(t->weak);
	assert_false(t->rows[DOC_ROWS_MOST - 1].cells[1].weak);
	assert_string_equal(t->rows[DOC_ROWS_MOST - 1].cells[1].text, "199");
	for (int r = 0; r < RENDERERS; r++) {
		const char *shown = draw(&d, (enum renderer)r, 80, &out);
		assert_non_null(strstr(shown, r == TEXT ? "the first 200 of 250" : "The first 200 of 250"));
		assert_non_null(strstr(shown, "row 199"));
		assert_null(strstr(shown, "row 200"));
	}
	t->spec.few = true;
	assert_non_null(strstr(draw(&d, TEXT, 80, &out), "the first 40 of 250"));
	assert_null(strstr(out.data, "row 40"));
	assert_non_null(strstr(draw(&d, MARKDOWN, 80, &out), "The first 40 of 250"));
	assert_non_null(strstr(draw(&d, PAGE, 80, &out), "row 199"));
	buffer_release(&out);
	document_release(&d);
}

/* ---- cells ---- */

static const struct {
	struct doc_column column;
	const char *text; /* NULL: no figure */
	double value;
	bool weak;
} cases[] = {
	{{.path = "number"}, "1.23", 1.2345, false},
	{{.path = "number", .kind = CELL_COUNT}, "1.23", 1.2345, false},
	{{.path = "count", .kind = CELL_COUNT}, "12,345", 12345, false},
	{{.path = "count"}, "12,345", 12345, false},
	{{.path = "share", .kind = CELL_PERCENT}, "25.6 %", 0.256, false},
	{{.path = "few/p99", .kind = CELL_PERCENTILE}, "9.00", 9, true},
	{{.path = "few/p99"}, "9.00", 9, false},
	{{.path = "many/p99", .kind = CELL_PERCENTILE}, "8.00", 8, false},
	{{.path = "alone/p99", .kind = CELL_PERCENTILE}, "7.00", 7, false},
	{{.path = "few/max", .kind = CELL_PERCENTILE}, "10.0", 10, false},
	{{.path = "few/p50", .kind = CELL_PERCENTILE}, NULL, NAN, false},
	{{.path = "range", .kind = CELL_RANGE}, "4.00 to 6.00", 5, false},
	{{.path = "open", .kind = CELL_RANGE}, "over 4.00", 5, false},
	{{.path = "exact", .kind = CELL_RANGE}, "3.50", 3.5, false},
	{{.path = "none", .kind = CELL_RANGE}, NULL, NAN, false},
	{{.path = "inf"}, "inf", INFINITY, false},
	{{.path = "inf", .kind = CELL_PERCENT}, "inf %", INFINITY, false},
	{{.path = "words"}, NULL, NAN, false},
	{{.path = "words", .kind = CELL_WORDS}, "a b", NAN, false},
	{{.path = "number", .kind = CELL_WORDS}, "", NAN, false},
	{{.path = "none", .kind = CELL_WORDS}, "", NAN, false},
	{{.path = "none"}, NULL, NAN, false},
	{{.path = "none", .kind = CELL_COUNT}, NULL, NAN, false},
	{{.path = "none", .kind = CELL_PERCENT}, NULL, NAN, false},
	{{.path = "none/p99", .kind = CELL_PERCENTILE}, NULL, NAN, false},
};

static void every_kind_of_cell_is_drawn(void **state)
{
	(void)state;
	enum { CASES = sizeof cases / sizeof *cases };
	struct doc_column columns[CASES];
	struct document d = {0};
	json_t *json = json_loads(
		"{\"number\": 1.2345, \"count\": 12345, \"share\": 0.256, \"few\": {\"n\": 5, \"p99\": 9, \"max\": 10},"
		" \"many\": {\"n\": 5000, \"p99\": 8}, \"alone\": {\"p99\": 7}, \"range\": [5, 4, 6], \"open\": [5, 4, null],"
		" \"exact\": 3.5, \"inf\": \"inf\", \"words\": \"a b\"}",
		0, NULL);
	assert_non_null(json);
	for (int i = 0; i < CASES; i++) {
		columns[i] = cases[i].column;
		columns[i].name = "c";
	}
	struct doc_table *t = begin_table(&d, columns, CASES);
	struct doc_row *row = doc_row_of(&d, t, "name", "remark", json);
	json_decref(json);
	assert_int_equal(row->filled, CASES);
	assert_true(t->weak);
	for (int i = 0; i < CASES; i++) {
		const struct doc_cell *cell = &row->cells[i];
		printf("# %s as %d\n", cases[i].column.path, cases[i].column.kind);
		if (cases[i].text)
			assert_string_equal(cell->text, cases[i].text);
		else
			assert_null(cell->text);
		assert_true(isnan(cases[i].value) ? isnan(cell->value) : cell->value == cases[i].value);
		assert_int_equal(cell->weak, cases[i].weak);
	}
	/* more cells than columns are none, and those that are missing are dashes */
	doc_cell_figure(&d, t, 1, CELL_NUMBER);
	doc_cell_percentile(&d, t, "p99", NULL);
	assert_int_equal(row->filled, CASES);
	doc_row(&d, t, NULL, NULL);
	assert_string_equal(t->rows[1].name, "");
	assert_null(t->rows[1].cells[0].text);
	document_release(&d);
}

/* ---- random tables ---- */

#define PICK(list_) list_[test_random(random) % (sizeof list_ / sizeof *list_)]

static const char *const short_words[] = {"p50", "mean", "offered", "requests", "KV cache", "\xe5\xbb\xb6\xe8\xbf\x9f",
                                          "n"},
						 *const units[] = {NULL, NULL, "ms", "per s"},
						 *const group_names[] = {NULL, "E2E from due", "in flight", "\xe8\xaf\xb7\xe6\xb1\x82", "g"};

/* A name of up to `most` columns. */
static const char *random_name(struct document *d, uint64_t *random, int most)
{
	static const char *const pieces[] = {
		"a", "stage-", "\xe4\xb8\xad", "\xe6\x96\x87", " ", "\xc3\xa4", "e\xcc\x81", "0123456789", "/"};
	struct buffer name = {0};
	int width = (int)(test_random(random) % (unsigned)most) + 1;
	while ((int)terminal_width_of(buffer_all(&name)) < width - 10)
		buffer_text(&name, PICK(pieces));
	buffer_text(&name, "x");
	const char *copy = doc_copy(d, name.data);
	buffer_release(&name);
	return copy;
}

static const char *random_sentence(struct document *d, uint64_t *random)
{
	struct buffer text = {0};
	for (uint64_t i = test_random(random) % 30; i > 0; i--)
		buffer_format(&text, "%s%s", text.len ? " " : "", PICK(short_words));
	const char *copy = doc_copy(d, text.len ? text.data : "");
	buffer_release(&text);
	return copy;
}

static void random_cell(struct document *d, struct doc_table *t, const struct doc_column *c, uint64_t *random)
{
	double value = pow(10, (double)(test_random(random) % 22) - 7) * (double)(test_random(random) % 1000);
	json_t *json;
	value = test_random(random) % 9 == 0 ? NAN : test_random(random) % 30 == 0 ? INFINITY : value;
	switch (c->kind) {
	case CELL_WORDS:
		doc_cell_text(d, t, random_sentence(d, random), (enum tone)(test_random(random) % (TONE_BAD + 1)));
		break;
	case CELL_PERCENTILE:
		json = json_pack("{s:i, s:f}", "n", (int)(test_random(random) % 600), "p99", isfinite(value) ? value : 0);
		doc_cell_percentile(d, t, "p99", json);
		json_decref(json);
		break;
	case CELL_RANGE:
		doc_cell_said(d, t, value, "1,234 to 5,678", TONE_PLAIN);
		break;
	default:
		doc_cell_figure(d, t, value, c->kind);
	}
}

static struct doc_table *random_table(struct document *d, uint64_t *random, int count)
{
	struct doc_column columns[20];
	const char *group = NULL;
	for (int i = 0; i < count; i++) {
		group = test_random(random) % 3 ? group : PICK(group_names);
		columns[i] = (struct doc_column){.group = group,
		                                 .name = PICK(short_words),
		                                 .unit = PICK(units),
		                                 .kind = (enum cell_kind)(test_random(random) % (CELL_WORDS + 1)),
		                                 .keep = (enum keep)(test_random(random) % (KEEP_ROOM + 1))};
	}
	struct doc_table *t = begin_table(d, columns, count);
	bool remarks = test_random(random) % 3 == 0;
	for (uint64_t rows = test_random(random) % 12 + 1; rows > 0; rows--) {
		doc_row(d, t, random_name(d, random, 90),
		        remarks && test_random(random) % 2 ? random_name(d, random, 22) : NULL)
			->aside = test_random(random) % 9 == 0;
		for (int i = 0; i < count; i++)
			random_cell(d, t, &columns[i], random);
	}
	return t;
}

static void no_line_is_longer(void **state)
{
	(void)state;
	static const int widths[] = {40, 80, 120};
	uint64_t random = test_seed("no_line_is_longer");
	struct buffer out = {0};
	for (int round = 0; round < 3000; round++) {
		struct document d = {.brief = round % 2};
		int width = widths[round % 3];
		random_table(&d, &random, round % 20 + 1);
		draw(&d, TEXT, width, &out);
		for (const char *at = out.data; *at;) {
			size_t len = strcspn(at, "\n");
			if ((int)terminal_width_of((struct slice){at, len}) > width)
				fail_msg("round %d, %d columns, %d wide:\n%.*s\nof\n%s", round, round % 20 + 1, width, (int)len, at,
				         out.data);
			if (len && at[len - 1] == ' ')
				fail_msg("blanks at the end in round %d of\n%s", round, out.data);
			at += len + 1;
		}
		document_release(&d);
	}
	buffer_release(&out);
}

/* ---- which columns ---- */

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[len]))
			return true;
	return false;
}

/* A table of so many columns of a kind; names and cells are all different. */
static void numbered_table(struct document *d, int count, enum keep keep, const char *group)
{
	struct doc_column columns[20];
	char name[20];
	for (int i = 0; i < count; i++)
		columns[i] = (struct doc_column){
			.group = i < count / 2 ? group : NULL, .name = doc_say(d, "h%d", i), .keep = i == 0 ? KEEP : keep};
	struct doc_table *t = begin_table(d, columns, count);
	for (int r = 0; r < 3; r++) {
		snprintf(name, sizeof name, "row%d", r);
		doc_row(d, t, name, NULL);
		for (int i = 0; i < count; i++)
			doc_cell_figure(d, t, 100 + 100 * r + i, CELL_NUMBER);
	}
}

static int shown_of(const struct document *d, enum renderer renderer, int width, int count)
{
	struct buffer out = {0};
	char word[20];
	const char *text = draw(d, renderer, width, &out);
	int shown = 0;
	for (int i = 0; i < count; i++) {
		int cells = 0;
		snprintf(word, sizeof word, "h%d", i);
		bool head = has_word(text, word);
		for (int r = 0; r < 3; r++) {
			snprintf(word, sizeof word, "%d", 100 + 100 * r + i);
			cells += has_word(text, word);
		}
		assert_int_equal(cells, head ? 3 : 0);
		shown += head;
	}
	buffer_release(&out);
	return shown;
}

static void columns_are_kept(void **state)
{
	(void)state;
	static const int widths[] = {40, 60, 80, 120, 400};
	for (int count = 1; count <= 20; count++)
		for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
			for (int grouped = 0; grouped < 2; grouped++) {
				const char *group = grouped ? "a group" : NULL;
				struct document d = {0};
				numbered_table(&d, count, KEEP, group);
				assert_int_equal(shown_of(&d, TEXT, widths[w], count), count);
				assert_int_equal(shown_of(&d, MARKDOWN, 0, count), count);
				assert_int_equal(shown_of(&d, PAGE, 0, count), count);
				d.brief = true;
				assert_int_equal(shown_of(&d, TEXT, widths[w], count), count);
				document_release(&d);

				numbered_table(&d, count, KEEP_FULL, group);
				assert_int_equal(shown_of(&d, TEXT, widths[w], count), count);
				assert_int_equal(shown_of(&d, MARKDOWN, 0, count), count);
				d.brief = true;
				assert_int_equal(shown_of(&d, TEXT, widths[w], count), 1);
				assert_int_equal(shown_of(&d, PAGE, 0, count), count);
				document_release(&d);

				numbered_table(&d, count, KEEP_ROOM, group);
				int room = shown_of(&d, TEXT, widths[w], count);
				assert_in_range(room, 1, count);
				if (widths[w] >= 24 + 10 * count)
					assert_int_equal(room, count);
				if (widths[w] < 9 * count)
					assert_true(room < count);
				assert_int_equal(shown_of(&d, MARKDOWN, 0, count), 1);
				assert_int_equal(shown_of(&d, PAGE, 0, count), count);
				document_release(&d);
			}
}

/* ---- texts from outside ---- */

static const char *const hostile[] = {
	"a|b",
	"`code`",
	"un`closed",
	"<b>bold</b>",
	"</td></table><script>alert(1)</script>",
	"\"'&amp;&",
	"@name",
	"#1",
	"a\nb",
	"\r",
	"\t",
	"\x1b[2J\x1b]0;x\a",
	"\xc2\x9b"
	"31m",
	"\x80\xff",
	"\xe2\x80\xae"
	"abc",
	"\xe2\x81\xa6x\xe2\x81\xa9",
	"\xe2\x80\x8b",
	"![x](http://e/)",
	"[x](javascript:y)",
	"**",
	"__x__",
	"~~~",
	"```",
	"---",
	"# x",
	"- x",
	"> x",
	"1. x",
	"    x",
	"<!--",
	"]]>",
	"\\",
	"\\|",
	"&#124;",
	"http://e/?a=b",
	"%s%n",
	"",
	"\x7f",
	"\xef\xbb\xbf",
	"x | y | z",
	"$x$",
	"<details>",
	"\xf0\x9f\x98\x80",
};

static const char *random_text(struct document *d, uint64_t *random)
{
	const char *first = PICK(hostile), *second = test_random(random) % 2 ? PICK(hostile) : "";
	return doc_say(d, "%s%s", first, second);
}

static void hostile_table(struct document *d, uint64_t *random)
{
	struct doc_column columns[4];
	int count = (int)(test_random(random) % 4) + 1;
	for (int i = 0; i < count; i++)
		columns[i] = (struct doc_column){.group = test_random(random) % 2 ? random_text(d, random) : NULL,
		                                 .name = random_text(d, random),
		                                 .unit = test_random(random) % 2 ? random_text(d, random) : NULL,
		                                 .kind = test_random(random) % 2 ? CELL_WORDS : CELL_RANGE};
	struct doc_table *t = doc_table(d, &(struct doc_table_spec){.id = random_text(d, random),
	                                                            .caption = random_text(d, random),
	                                                            .rows = random_text(d, random),
	                                                            .columns = columns,
	                                                            .count = count,
	                                                            .sortable = test_random(random) % 2});
	for (uint64_t rows = test_random(random) % 4; rows > 0; rows--) {
		struct doc_row *row = doc_row(d, t, random_text(d, random),
		                              test_random(random) % 2 ? random_text(d, random) : NULL);
		row->definition = test_random(random) % 2 ? random_text(d, random) : NULL;
		row->aside = test_random(random) % 4 == 0;
		row->total = rows == 1 && test_random(random) % 2;
		for (int i = 0; i < count; i++)
			if (columns[i].kind == CELL_WORDS)
				doc_cell_text(d, t, random_text(d, random), (enum tone)(test_random(random) % (TONE_BAD + 1)));
			else
				doc_cell_said(d, t, 1, random_text(d, random), (enum tone)(test_random(random) % (TONE_BAD + 1)));
	}
}

static void hostile_part(struct document *d, enum part_kind kind, uint64_t *random)
{
	if (kind == PART_TABLE) {
		hostile_table(d, random);
		return;
	}
	struct doc_part *part = doc_part(d, kind, test_random(random) % 4 ? random_text(d, random) : NULL,
	                                 random_text(d, random));
	part->tone = (enum tone)(test_random(random) % (TONE_BAD + 1));
	if (kind == PART_PICTURES)
		part->text = "<figure></figure>";
	if (kind == PART_CHECK || test_random(random) % 4 == 0)
		part->status = random_text(d, random);
	if (test_random(random) % 2)
		part->hint = random_text(d, random);
	if (kind == PART_TILE || test_random(random) % 2)
		part->unit = random_text(d, random);
	part->value = test_random(random) % 2 ? INFINITY : 1.5;
	if (kind == PART_LEVELS) {
		static const double shares[] = {0, 1, 0.5, -3, 1e300, NAN, INFINITY, -INFINITY};
		part->level_count = (int)(test_random(random) % 9);
		part->levels = doc_numbers(d, (size_t)part->level_count);
		for (int i = 0; i < part->level_count; i++)
			part->levels[i] = PICK(shares);
	}
}

/* Nothing a terminal obeys, that reorders a line, or that cannot be seen; in a page, tabs of its own script. */
static void is_safe(const char *text, bool page)
{
	for (size_t left = strlen(text), bytes; left > 0; left -= bytes, text += bytes) {
		const unsigned char *at = (const unsigned char *)text;
		bytes = utf8_character(text, left);
		if (bytes == 0 || (*at < ' ' && *at != '\n' && !(page && *at == '\t')) || *at == 0x7f ||
		    (at[0] == 0xc2 && at[1] < 0xa0) ||
		    (at[0] == 0xe2 && at[1] == 0x80 &&
		     ((at[2] >= 0x8b && at[2] <= 0x8f) || (at[2] >= 0xa8 && at[2] <= 0xae))) ||
		    (at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa0 && at[2] <= 0xaf) || strncmp(text, "\xef\xbb\xbf", 3) == 0)
			fail_msg("not safe: %02x in %.60s", *at, text);
	}
}

/* The lines of tables have equal numbers of cells; nothing but our own marks is markup. */
static void is_markdown(const char *text)
{
	int cells = 0;
	while (*text) {
		size_t len = strcspn(text, "\n");
		int bars = 0;
		const bool code = strncmp(text, "    ", 4) == 0;
		for (size_t i = 0; i < len && !code; i++) {
			const bool ours = strncmp(text + i, "<details><summary>", 18) == 0 ||
			                  strncmp(text + i, "<summary>", 9) == 0 || strncmp(text + i, "</details>", 10) == 0 ||
			                  strncmp(text + i, "</summary>", 10) == 0;
			const char *end = text[i] == '`' ? memchr(text + i + 1, '`', len - i - 1) : NULL;
			if (end) { /* whatever is in code is code, but for the bars of a table */
				bars += *text == '|' && memchr(text + i, '|', (size_t)(end - text) - i);
				i = (size_t)(end - text);
				continue;
			}
			bars += text[i] == '|';
			if ((text[i] == '<' && !ours) || strchr("[]!~_\\$", text[i]))
				fail_msg("markup: %.*s", (int)len, text);
			if (strchr("@#", text[i]) && text[i - (i > 0)] != '&' && strspn(text, "# ") <= i)
				fail_msg("notifies or links: %.*s", (int)len, text);
			if (text[i] == '`')
				fail_msg("code that does not end: %.*s", (int)len, text);
		}
		if (code)
			bars = 0;
		if (bars && cells && bars != cells)
			fail_msg("%d and not %d cells: %.*s", bars, cells, (int)len, text);
		if (bars && text[0] != '|')
			fail_msg("a cell outside of a table: %.*s", (int)len, text);
		cells = bars;
		text += len + (text[len] == '\n');
	}
}

/* Elements are ours, and closed in their order. */
static void is_html(const char *text)
{
	static const char elements[] =
		" html head meta title style body a header nav main section footer h1 h2 h3 p ul li dl dt dd div span strong code pre "
		"table caption thead tbody tfoot tr th td figure details summary script ";
	char open[64][16], padded[20];
	int depth = 0;
	for (const char *at = text; (at = strchr(at, '<'));) {
		char name[16] = "";
		const bool close = at[1] == '/';
		if (strncmp(at, "<!DOCTYPE html>", 15) == 0) {
			at += 15;
			continue;
		}
		at += 1 + close;
		snprintf(name, sizeof name, "%.*s", (int)strspn(at, "abcdefghijklmnopqrstuvwxyz123456"), at);
		snprintf(padded, sizeof padded, " %s ", name);
		if (!*name || !strstr(elements, padded))
			fail_msg("an element of others: %.60s", at - 1);
		for (at += strlen(name); *at != '>'; at++) {
			if (*at == '"')
				at += 1 + strcspn(at + 1, "\"");
			if (!*at || *at == '<')
				fail_msg("a tag that is not closed: %s", name);
		}
		if (close && (depth == 0 || strcmp(open[depth - 1], name) != 0))
			fail_msg("</%s> in <%s>: %.60s", name, depth ? open[depth - 1] : "", at);
		depth -= close;
		if (!close && strcmp(name, "meta") != 0) {
			assert_true(depth < 64);
			strcpy(open[depth++], name);
		}
		if (!close && (strcmp(name, "script") == 0 || strcmp(name, "style") == 0))
			at = strstr(at, strcmp(name, "script") == 0 ? "</script>" : "</style>");
		assert_non_null(at);
	}
	assert_int_equal(depth, 0);
}

static void hostile_texts(void **state)
{
	(void)state;
	uint64_t random = test_seed("hostile_texts");
	struct buffer out = {0};
	for (int round = 0; round < 2000; round++) {
		struct document d = {.kind = "ipf report", .brief = round % 2};
		d.title = random_text(&d, &random);
		d.heading = random_text(&d, &random);
		d.when = random_text(&d, &random);
		for (int s = 0; s < 3; s++) {
			char id[20];
			snprintf(id, sizeof id, "section-%d", s);
			doc_section(&d, id, test_random(&random) % 4 ? "A title" : NULL);
			d.sections[d.count - 1].folded = test_random(&random) % 2;
			for (int i = 0; i < 4; i++)
				hostile_part(&d, (enum part_kind)(test_random(&random) % (PART_TABLE + 1)), &random);
		}
		is_safe(draw(&d, TEXT, round % 3 ? 80 : 40, &out), false);
		draw(&d, MARKDOWN, 0, &out);
		is_safe(out.data, false);
		is_markdown(out.data);
		draw(&d, PAGE, 0, &out);
		is_safe(out.data, true);
		is_html(out.data);
		document_release(&d);
	}
	buffer_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows),
		cmocka_unit_test(a_part_before_the_first_section_is_lost),
		cmocka_unit_test(many_rows),
		cmocka_unit_test(every_kind_of_cell_is_drawn),
		cmocka_unit_test(no_line_is_longer),
		cmocka_unit_test(columns_are_kept),
		cmocka_unit_test(hostile_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

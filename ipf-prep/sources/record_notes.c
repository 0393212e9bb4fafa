#include "sources/record_notes.h"

#include "array.h"
#include "safe_text.h"
#include "sources/member_names.h"

#include <stdlib.h>
#include <string.h>

#define NOTES_PER_FILE 64
#define PRINTED_MAX    10  /* lines; a folder may have thousands of files */
#define PATH_MAX_LEN   120 /* members deeper in a record are not noted */

/* Members have a kind, reasons have none. */
struct record_note {
	char *file, *what;
	enum member_kind kind;
	bool plain;          /* its values are texts or lists */
	int64_t count, line; /* records, and the first of them; 0: not known */
	int64_t of;          /* all records of the file */
	int64_t last;        /* the last counted record */
	int64_t line_before; /* `line`, if the last record is not counted after all */
};

/* ---- counting ---- */

static void set_totals(struct record_notes *n)
{
	for (size_t i = n->first; i < n->count; i++)
		n->list[i].of = n->records;
}

void record_notes_begin_file(struct record_notes *n, const char *name)
{
	if (!n)
		return;
	set_totals(n);
	free(n->file);
	n->file = strdup(name);
	n->failed |= !n->file;
	n->first = n->count;
	n->records = 0;
}

int64_t record_notes_begin_record(struct record_notes *n, int64_t line)
{
	if (!n)
		return 0;
	n->line = line;
	n->record++;
	n->records++;
	return n->left_out;
}

static struct record_note *find(struct record_notes *n, const char *what, enum member_kind kind)
{
	for (size_t i = n->first; i < n->count; i++)
		if (n->list[i].kind == kind && strcmp(n->list[i].what, what) == 0)
			return &n->list[i];
	if (n->count - n->first == NOTES_PER_FILE || !n->file)
		return NULL;
	if (!array_room(n->list, n->cap, n->count + 1)) {
		n->failed = true;
		return NULL;
	}
	struct record_note *note = &n->list[n->count];
	*note = (struct record_note){.file = strdup(n->file), .what = strdup(what), .kind = kind, .plain = true};
	if (note->file && note->what) {
		n->count++;
		return note;
	}
	free(note->file);
	free(note->what);
	n->failed = true;
	return NULL;
}

static void count_record(struct record_notes *n, const char *what, enum member_kind kind, bool plain)
{
	struct record_note *note = find(n, what, kind);
	if (note)
		note->plain &= plain;
	if (!note || (note->last == n->record && kind != MEMBER_OTHER))
		return;
	note->last = n->record;
	note->line_before = note->line;
	note->line = note->count++ ? note->line : n->line;
}

void record_notes_left_out(struct record_notes *n, const char *why)
{
	if (!n)
		return;
	n->left_out++;
	count_record(n, why, MEMBER_OTHER, true);
}

void record_notes_element(struct record_notes *n)
{
	if (n)
		n->records++;
}

void record_notes_skip(struct record_notes *n)
{
	if (n)
		n->left_out++;
}

void record_notes_end_record(struct record_notes *n, bool used)
{
	if (!n)
		return;
	for (size_t i = n->first; i < n->count && !used; i++) {
		struct record_note *note = &n->list[i];
		if (note->kind == MEMBER_OTHER || note->last != n->record)
			continue;
		note->count--;
		note->line = note->line_before;
		note->last = 0;
	}
	n->line = 0;
}

/* ---- members nothing used ---- */

static bool is_ignored(const struct record_notes *n, const char *path)
{
	size_t len = strlen(path);
	for (const char *at = n->ignored; at && *at;) {
		size_t word = strcspn(at, " ");
		if (word == len && memcmp(at, path, len) == 0)
			return true;
		at += word + (at[word] == ' ');
	}
	return false;
}

/* Null, "", [] and {} say nothing. */
static bool says_nothing(const struct jdoc *j, jdoc_id node)
{
	enum jdoc_type type = jdoc_type_of(j, node);
	return type == JDOC_NULL || (type == JDOC_TEXT && jdoc_text_empty(j, node)) ||
	       ((type == JDOC_LIST || type == JDOC_MAP) && jdoc_count(j, node) == 0);
}

/* The path, of which `len` bytes are around `name`; false if it is too long. */
static bool append_name(char *path, size_t len, struct slice name)
{
	if (len + 1 + name.len >= PATH_MAX_LEN)
		return false;
	path[len] = '/';
	memcpy(path + len + 1, name.data, name.len);
	path[len + 1 + name.len] = '\0';
	return true;
}

/* A text, or a list of texts. Read without the functions of jdoc.h, which would mark it as used. */
static bool is_plain(const struct jdoc *j, jdoc_id node)
{
	if (jdoc_type_of(j, node) != JDOC_LIST)
		return jdoc_type_of(j, node) != JDOC_MAP;
	for (jdoc_id at = node + 1; at < j->nodes[node].next; at = j->nodes[at].next)
		if (jdoc_type_of(j, at) != JDOC_TEXT)
			return false;
	return true;
}

static void walk(struct record_notes *n, const struct jdoc *j, jdoc_id node, char *path);

/* The nodes are read without the functions of jdoc.h, which would mark them as used. */
static void walk_member(struct record_notes *n, const struct jdoc *j, jdoc_id value, struct slice name, char *path)
{
	enum jdoc_type type = jdoc_type_of(j, value);
	size_t len = strlen(path);
	bool nested = jdoc_use_of(j, value) == JDOC_USED && (type == JDOC_LIST || type == JDOC_MAP);
	bool unused = jdoc_use_of(j, value) == JDOC_UNUSED && name.data && !says_nothing(j, value);
	enum member_kind kind = unused ? member_kind_of(name) : MEMBER_OTHER;
	if ((!nested && kind == MEMBER_OTHER) || !append_name(path, len, name.data ? name : slice_of("*")))
		return;
	const char *shown = len ? path : path + 1; /* a name alone needs no slash */
	if (nested)
		walk(n, j, value, path);
	else if (!is_ignored(n, shown))
		count_record(n, shown, kind, is_plain(j, value));
	path[len] = '\0';
}

static void walk(struct record_notes *n, const struct jdoc *j, jdoc_id node, char *path)
{
	bool map = jdoc_type_of(j, node) == JDOC_MAP;
	for (jdoc_id at = node + 1, end = j->nodes[node].next; at < end;) {
		struct slice name = {0};
		if (map) {
			name = (struct slice){j->text + j->nodes[at].begin + 1, j->nodes[at].end - j->nodes[at].begin - 2};
			at++;
		}
		walk_member(n, j, at, name, path);
		at = j->nodes[at].next;
	}
}

/* Was every value of a row asked for? */
static bool all_used(const struct jdoc *j)
{
	for (jdoc_id at = 2; at < j->count; at += 2)
		if (j->nodes[at].use == JDOC_UNUSED)
			return false;
	return true;
}

void record_notes_row(struct record_notes *n, const struct jdoc *row)
{
	if (!all_used(row))
		record_notes_members(n, "", row);
}

void record_notes_members(struct record_notes *n, const char *path, const struct jdoc *j)
{
	char full[PATH_MAX_LEN];
	if (!n || j->count == 0 || strlen(path) >= sizeof full)
		return;
	enum jdoc_type type = jdoc_type_of(j, JDOC_ROOT);
	strcpy(full, path);
	if (j->watched && jdoc_use_of(j, JDOC_ROOT) != JDOC_USED_WHOLE && (type == JDOC_MAP || type == JDOC_LIST))
		walk(n, j, JDOC_ROOT, full);
}

void record_notes_columns(struct record_notes *n, const struct csv *csv)
{
	for (size_t i = 0; n && i < csv->column_count && i < csv->count; i++) {
		const char *name = csv->columns[i];
		enum member_kind kind = csv->used[i] || csv->fields[i].len == 0 ? MEMBER_OTHER : member_kind_of(slice_of(name));
		if (kind != MEMBER_OTHER && !is_ignored(n, name))
			count_record(n, name, kind, true);
	}
}

/* ---- telling ---- */

bool record_notes_any(const struct record_notes *n)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->list[i].count > 0)
			return true;
	return false;
}

static bool is_joinable(const struct record_notes *n, const struct record_note *note)
{
	return *n->prompt_at && note->count > 0 && note->plain &&
	       (note->kind == MEMBER_PROMPT || note->kind == MEMBER_CONTEXT || note->kind == MEMBER_CHOICES);
}

/* The first such member of a file has the hint for all. */
static void print_join(const struct record_notes *n, const struct record_note *note, FILE *to)
{
	size_t joined = 0;
	for (const struct record_note *other = n->list; other < note; other++)
		if (is_joinable(n, other) && strcmp(other->file, note->file) == 0)
			return;
	fprintf(to, "; --field prompt=%s", n->prompt_at);
	for (const struct record_note *other = note; other < n->list + n->count; other++)
		if (is_joinable(n, other) && strcmp(other->file, note->file) == 0) {
			fprintf(to, ",%s", shown(other->what).text);
			joined++;
		}
	fprintf(to, "%s joins %s", n->other_fields, joined > 1 ? "them" : "it");
}

/* How --field would use a member. A pointer of the format begins with a slash already. */
static void print_hint(const struct record_notes *n, const struct record_note *note, FILE *to)
{
	static const char *const fields[] = {[MEMBER_SYSTEM] = "system",
	                                     [MEMBER_TOOLS] = "tools",
	                                     [MEMBER_TIME] = "at",
	                                     [MEMBER_INPUT_TOKENS] = "input_tokens",
	                                     [MEMBER_OUTPUT_TOKENS] = "output_tokens",
	                                     [MEMBER_SESSION] = "session",
	                                     [MEMBER_MODEL] = "model",
	                                     [MEMBER_SAMPLING] = NULL};
	if (!n->prompt_at)
		return;
	if (is_joinable(n, note))
		print_join(n, note, to);
	else if (fields[note->kind])
		fprintf(to, "; --field %s=%s%s%s%s uses it", fields[note->kind], shown(note->what).text,
		        *n->prompt_at ? " --field prompt=" : "", n->prompt_at, n->other_fields);
}

static void print_note(const struct record_notes *n, const struct record_note *note, int64_t of, FILE *to)
{
	fprintf(to, "ipf-prep: %s: ", shown(note->file).text);
	if (note->kind != MEMBER_OTHER) {
		fprintf(to, "\"%s\" in %lld of %lld records was not used", shown(note->what).text, (long long)note->count,
		        (long long)of);
		print_hint(n, note, to);
	} else if (note->line) {
		fprintf(to, "%lld of %lld records left out, first at line %lld: %s", (long long)note->count, (long long)of,
		        (long long)note->line, note->what);
	} else {
		fprintf(to, "%lld request%s left out: %s", (long long)note->count, note->count == 1 ? "" : "s", note->what);
	}
	fputc('\n', to);
}

static int64_t records_of(const struct record_notes *n, size_t i)
{
	return i < n->first ? n->list[i].of : n->records;
}

void record_notes_print(const struct record_notes *n, FILE *to)
{
	size_t printed = 0, more = 0;
	for (size_t i = 0; i < n->count; i++) {
		if (n->list[i].count == 0)
			continue;
		if (printed == PRINTED_MAX) {
			more++;
			continue;
		}
		print_note(n, &n->list[i], records_of(n, i), to);
		printed++;
	}
	if (more)
		fprintf(to, "ipf-prep: %zu more such notes: ipf-prep stat shows them\n", more);
}

static json_t *notes_json(const struct record_notes *n, bool members)
{
	json_t *list = NULL;
	for (size_t i = 0; i < n->count; i++) {
		const struct record_note *note = &n->list[i];
		const char *slash = strrchr(note->file, '/');
		if (note->count == 0 || (note->kind != MEMBER_OTHER) != members)
			continue;
		list = list ? list : json_array();
		json_t *one = json_pack("{s:s, s:s, s:I, s:I}", "file", slash ? slash + 1 : note->file,
		                        members ? "member" : "why", note->what, "records", (json_int_t)note->count, "of",
		                        (json_int_t)records_of(n, i));
		if (one && note->line)
			json_object_set_new(one, "line", json_integer((json_int_t)note->line));
		json_array_append_new(list, one);
	}
	return list;
}

json_t *record_notes_left_out_json(const struct record_notes *n)
{
	return notes_json(n, false);
}

json_t *record_notes_unread_json(const struct record_notes *n)
{
	return notes_json(n, true);
}

void record_notes_release(struct record_notes *n)
{
	for (size_t i = 0; i < n->count; i++) {
		free(n->list[i].file);
		free(n->list[i].what);
	}
	free(n->list);
	free(n->file);
	*n = (struct record_notes){0};
}

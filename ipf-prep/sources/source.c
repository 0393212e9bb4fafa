#include "sources/source.h"

#include "array.h"
#include "cli/nearest.h"
#include "sources/builtin_formats.h"
#include "sources/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The formats that C reads, in the order in which `auto` asks them: specific ones before general ones. --list has them
 * by group. */
/* clang-format off */
#define EACH_FORMAT(F) \
	F(stories, DATASET) \
	F(sonnet, DATASET) \
	F(aiperf_dag, AGENTS) \
	F(oasst, DATASET) \
	F(claude_code, AGENTS) \
	F(codex, AGENTS) \
	F(agentic_mooncake, AGENTS) \
	F(mooncake, TRACE) \
	F(mooncake_delta, AGENTS) \
	F(qwen_bailian, AGENTS) \
	F(weka, AGENTS) \
	F(rl_rollout, AGENTS) \
	F(trie, AGENTS) \
	F(scaffolding, AGENTS) \
	F(tracelab, AGENTS) \
	F(ragpulse, AGENTS) \
	F(otel, AGENTS) \
	F(servegen, TRACE) \
	F(mlperf_agentic, AGENTS) \
	F(swe_rebench, AGENTS) \
	F(vllm_log, LOG) \
	F(sglang_log, LOG) \
	F(tgi_log, LOG) \
	F(envoy_tap, LOG) \
	F(envoy_access, LOG) \
	F(litellm_log, LOG) \
	F(sagemaker_capture, LOG) \
	F(dynamo_trace, LOG) \
	F(capture, LOG) \
	F(trace, TRACE) \
	F(text, DATASET) \
	F(synthetic, GENERATED) \
	F(canaries, GENERATED) \
	F(prefix, GENERATED)
/* clang-format on */

#define DESCRIPTION_MAX (1 << 20) /* bytes */

#define DECLARE(name_, group_) extern const struct source_format source_##name_;
#define ADDRESS(name_, group_) &source_##name_,
#define GROUP(name_, group_)   SOURCE_GROUP_##group_,
EACH_FORMAT(DECLARE)

static const struct source_format *const coded[] = {EACH_FORMAT(ADDRESS)};
static const enum source_group groups[] = {EACH_FORMAT(GROUP)};

#define CODED (sizeof coded / sizeof *coded)

/* ---- formats that files describe ---- */

static int read_file_start(const char *path, size_t most, struct buffer *text, struct ipf_error *err)
{
	char block[4096];
	size_t got;
	FILE *file = fopen(path, "re");
	if (!file)
		return errno == ENOENT || errno == ENOTDIR ? 0 : ipf_error_errno(err, errno, path, "cannot open");
	errno = 0;
	while (text->len < most && (got = fread(block, 1, sizeof block, file)) > 0)
		buffer_append(text, block, got);
	const int why = ferror(file) && errno != EISDIR ? errno : 0;
	fclose(file);
	buffer_byte(text, '\0');
	text->len -= text->len > 0;
	if (why)
		return ipf_error_errno(err, why, path, "cannot read");
	return text->failed ? ipf_error_memory(err) : 0;
}

/* All layouts: the built-in ones by name, with those guessed at the end, then the user's. */
static struct layout **layouts;
static size_t layout_count, builtin_count, specific_count;

static int add_layout(const char *file, const char *text, struct ipf_error *err)
{
	if (!array_one_more(layouts, layout_count))
		return ipf_error_memory(err);
	layouts[layout_count] = layout_load(file, text, err);
	return layouts[layout_count] ? (layout_count++, 0) : -1;
}

/* The built-in ones. Their descriptions are tested, so only memory can lack. */
static void load_builtins(void)
{
	struct ipf_error err = {0};
	for (size_t i = 0; format_builtins[i].name && err.kind == IPF_OK; i++)
		add_layout(format_builtins[i].name, format_builtins[i].json, &err);
	builtin_count = layout_count;
	for (size_t i = 0; i < layout_count; i++) {
		struct layout *one = layouts[i];
		if (one->guessed)
			continue;
		memmove(layouts + specific_count + 1, layouts + specific_count, (i - specific_count) * sizeof *layouts);
		layouts[specific_count++] = one;
	}
	if (err.kind != IPF_OK) {
		ipf_error_report(&err, stderr, "ipf-prep");
		exit(1);
	}
}

static bool is_description(const char *name)
{
	size_t len = strlen(name);
	return strchr(name, '/') || (len > 5 && strcmp(name + len - 5, ".json") == 0);
}

/* The format a file describes: NULL without an error if it is another file. */
static const struct source_format *load_description(const char *path, struct ipf_error *err)
{
	struct buffer text = {0};
	const struct source_format *format = NULL;
	for (size_t i = builtin_count; i < layout_count; i++)
		if (strcmp(layouts[i]->path, path) == 0)
			return &layouts[i]->format;
	if (read_file_start(path, DESCRIPTION_MAX + 1, &text, err) == 0 && text.len > 0 &&
	    memmem(text.data, text.len, "\"prep-format\"", 13)) {
		if (text.len > DESCRIPTION_MAX)
			ipf_error_at(err, IPF_INPUT, path, 0, "a description of a format has at most %d bytes", DESCRIPTION_MAX);
		else if (add_layout(path, text.data, err) == 0)
			format = &layouts[layout_count - 1]->format;
	}
	buffer_release(&text);
	return format;
}

/* ---- all formats ---- */

int source_open(const struct source_format *format, const struct source_settings *settings, void **state,
                struct ipf_error *err)
{
	*state = NULL;
	if (format->state_size == 0)
		return 0;
	void *made = calloc(1, format->state_size);
	if (!made)
		return ipf_error_memory(err);
	if (format->layout)
		memcpy(made, &format->layout, sizeof format->layout);
	if (format->open && format->open(made, settings, err) < 0) {
		source_close(format, made);
		return -1;
	}
	*state = made;
	return 0;
}

bool source_recognises(const struct source_format *format, const struct sniff *sniff)
{
	return format->layout ? layout_recognises(format->layout, sniff) : format->recognises && format->recognises(sniff);
}

void source_close(const struct source_format *format, void *state)
{
	if (state && format->close)
		format->close(state);
	free(state);
}

const struct source_format *source_at(size_t i)
{
	if (builtin_count == 0)
		load_builtins();
	if (i < specific_count)
		return &layouts[i]->format;
	if (i < specific_count + CODED)
		return coded[i - specific_count];
	return i < CODED + builtin_count ? &layouts[i - CODED]->format : NULL;
}

enum source_group source_group_of(const struct source_format *format)
{
	for (size_t i = 0; i < CODED; i++)
		if (coded[i] == format)
			return groups[i];
	return format->layout->group;
}

static void unknown_format(const char *name, struct ipf_error *err)
{
	struct buffer known = {0};
	struct nearest near = {0};
	const struct source_format *format;
	for (size_t i = 0; (format = source_at(i)); i++) {
		buffer_format(&known, "%s%s", i ? " " : "", format->name);
		nearest_try(&near, name, strlen(name), format->name);
	}
	ipf_error_set(err, IPF_USAGE, "unknown format \"%s\"%s%s%s (known: %s)", name, near.name ? ", did you mean \"" : "",
	              near.name ? near.name : "", near.name ? "\"?" : "", known.data ? known.data : "");
	buffer_release(&known);
}

const struct source_format *source_find(const char *name, struct ipf_error *err)
{
	const struct source_format *format;
	for (size_t i = 0; (format = source_at(i)); i++)
		if (strcmp(format->name, name) == 0)
			return format;
	if (is_description(name) && ((format = load_description(name, err)) || err->kind != IPF_OK))
		return format;
	unknown_format(name, err);
	return NULL;
}

#include "json_text.h"

#include <stddef.h>

const char *const json_text_names[] = {"object", "list", "fenced", "cut", NULL};

#define W(text)                                                                                                        \
	{                                                                                                                  \
		text, text                                                                                                     \
	}

/* By the place: alone, first, last of two, second, last. */
enum { ALONE, FIRST, LAST_OF_TWO, SECOND, LAST, PLACES };

static const struct token_bytes object[PLACES] = {
	W("{}  "), {"{\\\"q\\\"", "{\"q\""}, W(": 1}"), {": \\\"a", ": \"a"}, {"ok\\\"}", "ok\"}"}};
static const struct token_bytes list[PLACES] = {
	W("[]  "), {"[\\\"q\\\"", "[\"q\""}, W(", 1]"), {", \\\"a", ", \"a"}, {"ok\\\"]", "ok\"]"}};
static const struct token_bytes fence[] = {W("```j"), {"son\\n", "son\n"}, {"\\n```", "\n```"}};

static struct token_bytes value_at(const struct token_bytes places[], uint64_t start, int64_t i, int64_t count)
{
	if (count == 1)
		return places[ALONE];
	if (i == 0)
		return places[FIRST];
	if (count == 2)
		return places[LAST_OF_TWO];
	if (i == 1)
		return places[SECOND];
	return i == count - 1 ? places[LAST] : token_text_at(TOKEN_TEXT_PLAIN, start, i);
}

struct token_bytes json_text_at(enum json_text form, uint64_t start, int64_t i, int64_t count)
{
	switch (form) {
	case JSON_TEXT_LIST:
		return value_at(list, start, i, count);
	case JSON_TEXT_CUT:
		return value_at(object, start, i, count + 1);
	case JSON_TEXT_FENCED:
		if (count < 4)
			break;
		if (i < 2 || i == count - 1)
			return fence[i < 2 ? i : 2];
		return value_at(object, start, i - 2, count - 3);
	case JSON_TEXT_OBJECT:
		break;
	}
	return value_at(object, start, i, count);
}

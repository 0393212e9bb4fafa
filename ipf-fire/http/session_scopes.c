#include "http/session_scopes.h"

#include <stdbool.h>
#include <stdlib.h>

#define FIRST_SIZE 4096 /* a power of two */

struct entry {
	uint64_t key; /* 0: free */
	uint32_t scope, held;
};

/* A hash table with linear probing, at most half full. */
struct session_scopes {
	struct entry *entries;
	size_t size, count;
	uint32_t last;
};

struct session_scopes *session_scopes_new(void)
{
	struct session_scopes *s = calloc(1, sizeof *s);
	if (s && !(s->entries = calloc(s->size = FIRST_SIZE, sizeof *s->entries))) {
		free(s);
		return NULL;
	}
	return s;
}

void session_scopes_free(struct session_scopes *s)
{
	if (s)
		free(s->entries);
	free(s);
}

static size_t home(const struct session_scopes *s, uint64_t key)
{
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (s->size - 1);
}

/* The index of the key, or of the free entry where it belongs. */
static size_t find(const struct session_scopes *s, uint64_t key)
{
	size_t i = home(s, key);
	while (s->entries[i].key && s->entries[i].key != key)
		i = (i + 1) & (s->size - 1);
	return i;
}

static bool grow(struct session_scopes *s)
{
	struct session_scopes larger = {.size = 2 * s->size, .count = s->count, .last = s->last};
	if (!(larger.entries = calloc(larger.size, sizeof *larger.entries)))
		return false;
	for (size_t i = 0; i < s->size; i++)
		if (s->entries[i].key)
			larger.entries[find(&larger, s->entries[i].key)] = s->entries[i];
	free(s->entries);
	*s = larger;
	return true;
}

uint32_t session_scopes_take(struct session_scopes *s, uint64_t key)
{
	struct entry *e = &s->entries[find(s, key)];
	if (!e->key) {
		if (2 * (s->count + 1) > s->size) {
			if (!grow(s))
				return 0;
			e = &s->entries[find(s, key)];
		}
		s->last += s->last == UINT32_MAX ? 2 : 1;
		*e = (struct entry){.key = key, .scope = s->last};
		s->count++;
	}
	e->held++;
	return e->scope;
}

void session_scopes_leave(struct session_scopes *s, uint64_t key)
{
	size_t hole = find(s, key), mask = s->size - 1;
	if (!s->entries[hole].key || --s->entries[hole].held)
		return;
	s->count--;
	/* move up the entries behind it that would not be found any more */
	for (size_t i = (hole + 1) & mask; s->entries[i].key; i = (i + 1) & mask)
		if (((i - home(s, s->entries[i].key)) & mask) >= ((i - hole) & mask)) {
			s->entries[hole] = s->entries[i];
			hole = i;
		}
	s->entries[hole] = (struct entry){0};
}

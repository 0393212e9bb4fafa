#include "api/api_roots.h"

#define OTHERS (UINT64_C(1) << API_ROOTS_MAX)

static uint64_t bit_of(struct api_roots *roots, const char *name)
{
	size_t i = 0;
	while (i < roots->count && name && !slice_is(roots->names[i], name))
		i++;
	if (!name || i == API_ROOTS_MAX)
		return OTHERS;
	if (i == roots->count)
		roots->names[roots->count++] = slice_of(name);
	return UINT64_C(1) << i;
}

void api_roots_note(struct api_roots *roots, struct api_pointers *pointers)
{
	for (size_t i = 0; i < pointers->count; i++)
		pointers->roots |= bit_of(roots, api_pointer_root(pointers->list[i]));
	if (pointers->sum) {
		api_roots_note(roots, pointers->sum);
		pointers->roots |= pointers->sum->roots;
	}
}

uint64_t api_roots_present(const struct api_roots *roots, const struct jdoc *doc)
{
	uint64_t present = OTHERS;
	if (jdoc_type_of(doc, JDOC_ROOT) != JDOC_MAP)
		return UINT64_MAX;
	for (size_t i = 0; i < roots->count; i++)
		if (!jdoc_is_null(doc, jdoc_member(doc, JDOC_ROOT, roots->names[i])))
			present |= UINT64_C(1) << i;
	return present;
}

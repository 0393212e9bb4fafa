#include "catalogue/definition_list.h"

#include <string.h>

const char *definition_find(const char *name)
{
	for (size_t i = 0; i < definition_count; i++)
		if (definitions[i].name && strcmp(definitions[i].name, name) == 0)
			return definitions[i].text;
	return NULL;
}

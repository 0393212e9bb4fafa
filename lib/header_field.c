#include "header_field.h"

#include <string.h>

bool header_name_is_valid(const char *name, size_t len)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~";
	for (size_t i = 0; i < len; i++)
		if (!name[i] || !strchr(letters, name[i]))
			return false;
	return len > 0;
}

bool header_value_is_valid(const char *value)
{
	for (const unsigned char *at = (const unsigned char *)value; *at; at++)
		if ((*at < 0x20 && *at != '\t') || *at == 0x7f)
			return false;
	return true;
}

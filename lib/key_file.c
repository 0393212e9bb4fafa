#include "key_file.h"

#include <errno.h>
#include <stdio.h>

int key_file_read(const char *path, char *key, size_t size, size_t *len, struct ipf_error *err)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return ipf_error_errno(err, errno, path, "cannot open");
	*len = fread(key, 1, size - 1, file);
	int why = ferror(file) ? errno : 0;
	fclose(file);
	key[*len] = '\0';
	return why ? ipf_error_errno(err, why, path, "cannot read") : 0;
}

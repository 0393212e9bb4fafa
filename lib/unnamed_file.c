#include "unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

const char *unnamed_file_folder(void)
{
	const char *folder = getenv("TMPDIR");
	return folder && *folder ? folder : "/tmp";
}

int unnamed_file_full(struct ipf_error *err)
{
	return ipf_error_errno(err, errno, unnamed_file_folder(),
	                       "cannot write a temporary file (TMPDIR names another folder)");
}

int unnamed_file_open(struct ipf_error *err)
{
	char name[256];
	const char *folder = unnamed_file_folder();
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* a file system that cannot make one at once */
	if (fd < 0 && snprintf(name, sizeof name, "%s/ipf-XXXXXX", folder) < (int)sizeof name) {
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	return fd >= 0 ? fd : ipf_error_errno(err, errno, folder, "cannot create a temporary file");
}

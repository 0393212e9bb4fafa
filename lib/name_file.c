#include "name_file.h"

#include "array.h"
#include "unnamed_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE ((size_t)512) /* numbers read at once */

struct name_file {
	int fd;
	size_t count;    /* the numbers' */
	uint64_t *first; /* each page's */
	size_t pages, cap;
	uint64_t page[PAGE]; /* to be written; of a merged file, the page at hand */
	size_t filled;
};

static int read_page(const struct name_file *f, size_t page, uint64_t numbers[PAGE], size_t *count,
                     struct ipf_error *err)
{
	*count = f->count - page * PAGE < PAGE ? f->count - page * PAGE : PAGE;
	size_t len = *count * sizeof *numbers;
	for (size_t done = 0; done < len;) {
		ssize_t got = pread(f->fd, (char *)numbers + done, len - done, (off_t)(page * PAGE * sizeof *numbers + done));
		if (got == 0 || (got < 0 && errno != EINTR))
			return ipf_error_errno(err, got == 0 ? EIO : errno, unnamed_file_folder(), "cannot read temporary data");
		done += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static int write_page(struct name_file *f, struct ipf_error *err)
{
	const size_t len = f->filled * sizeof *f->page;
	for (size_t done = 0; done < len;) {
		ssize_t wrote = write(f->fd, (const char *)f->page + done, len - done);
		if (wrote < 0 && errno != EINTR)
			return unnamed_file_full(err);
		done += wrote > 0 ? (size_t)wrote : 0;
	}
	f->filled = 0;
	return 0;
}

static int add(struct name_file *f, uint64_t number, struct ipf_error *err)
{
	if (f->filled == 0) {
		if (!array_room(f->first, f->cap, f->pages + 1))
			return ipf_error_memory(err);
		f->first[f->pages++] = number;
	}
	f->page[f->filled++] = number;
	f->count++;
	return f->filled < PAGE ? 0 : write_page(f, err);
}

/* Adds the numbers of both, in their order. */
static int add_both(struct name_file *to, const struct name_file *from, const uint64_t *numbers, size_t count,
                    struct ipf_error *err)
{
	uint64_t page[PAGE];
	size_t n, next = 0;
	for (size_t i = 0; from && i < from->pages; i++) {
		if (read_page(from, i, page, &n, err) < 0)
			return -1;
		for (size_t k = 0; k < n; k++) {
			for (; next < count && numbers[next] < page[k]; next++)
				if (add(to, numbers[next], err) < 0)
					return -1;
			if (add(to, page[k], err) < 0)
				return -1;
		}
	}
	for (; next < count; next++)
		if (add(to, numbers[next], err) < 0)
			return -1;
	return to->filled > 0 ? write_page(to, err) : 0;
}

int name_file_merge(struct name_file **file, const uint64_t *numbers, size_t count, struct ipf_error *err)
{
	struct name_file *to = calloc(1, sizeof *to);
	if (!to)
		return ipf_error_memory(err);
	to->fd = unnamed_file_open(err);
	if (to->fd < 0 || add_both(to, *file, numbers, count, err) < 0) {
		name_file_free(to);
		return -1;
	}
	name_file_free(*file);
	*file = to;
	return 0;
}

int name_file_has(const struct name_file *f, uint64_t number, struct ipf_error *err)
{
	uint64_t page[PAGE];
	size_t low = 0, high = f->pages, count;
	while (low < high) { /* the first page beginning behind the number */
		size_t middle = low + (high - low) / 2;
		if (f->first[middle] <= number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	if (read_page(f, low - 1, page, &count, err) < 0)
		return -1;
	for (low = 0, high = count; low < high;) {
		size_t middle = low + (high - low) / 2;
		if (page[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && page[low] == number;
}

void name_file_free(struct name_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	free(f->first);
	free(f);
}

/* The cache of the Hugging Face hub's own clients, in their layout: a file fetched by one program is found by all:
 *
 *     models--OWNER--NAME/refs/REVISION            the commit
 *     models--OWNER--NAME/snapshots/COMMIT/FILE    a link to ../../blobs/ETAG
 *     models--OWNER--NAME/blobs/ETAG               the file
 *     models--OWNER--NAME/blobs/ETAG.incomplete    an interrupted download, to be resumed
 *     .locks/models--OWNER--NAME/ETAG.lock         locked by the program that downloads
 *
 * Everything appears by rename, complete or not at all. Datasets are in datasets--OWNER--NAME.
 */
#ifndef IPF_HUB_CACHE_H
#define IPF_HUB_CACHE_H

#include "error.h"
#include "hub/hub_repository.h"

#include <stdbool.h>
#include <stdint.h>

/* A file in the cache. */
struct hub_place {
	char *path;       /* free() it */
	char commit[129]; /* the commit of its snapshot */
};

/* Finds a file of the repository's revision. 1: found; 0: not there; -1: out of memory. A `file` of NULL finds the
 * first file of the snapshot, in alphabetical order, for which `wanted` is true. */
int hub_cache_find(const char *cache, const struct hub_repository *r, const char *file,
                   bool (*wanted)(const char *name), struct hub_place *place, struct ipf_error *err);

/* A blob that is to be downloaded. */
struct hub_blob {
	char *folder, *path, *part; /* the repository's; its place; the incomplete file */
	int lock, fd;               /* fd: the incomplete file, opened; -1: the blob is there */
	int64_t had;                /* bytes in the incomplete file */
};
/* Waits until no other program downloads this blob, and opens the incomplete file if it is still needed. `etag` is a
 * file name. */
int hub_blob_open(struct hub_blob *blob, const char *cache, const struct hub_repository *r, const char *etag,
                  struct ipf_error *err);
/* The incomplete file is complete: it becomes the blob. */
int hub_blob_finish(struct hub_blob *blob, struct ipf_error *err);
/* Links the file into the snapshot of the commit, and the revision to the commit. Sets the place. */
int hub_blob_link(const struct hub_blob *blob, const struct hub_repository *r, const char *file, const char *commit,
                  struct hub_place *place, struct ipf_error *err);
void hub_blob_close(struct hub_blob *blob);

/* The name in the cache that is nearest to the repository's, which is not there; empty: none is near. */
void hub_cache_nearest(const char *cache, const struct hub_repository *r, char near[196]);

#endif

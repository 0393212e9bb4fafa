/* Where --upload goes: s3://BUCKET/KEY or gs://BUCKET/KEY. A key without a name or ending in a slash is a folder, as
 * for other tools; the key is taken as it is, so no character of it is an escape.
 *
 *     struct upload_target t = {0};
 *     if (upload_target_parse("s3://runs/nightly/", &t, &err) < 0) …
 *     upload_target_key(&t, "report.html", &key);          // nightly/report.html
 *     upload_target_release(&t);
 */
#ifndef REPORT_UPLOAD_TARGET_H
#define REPORT_UPLOAD_TARGET_H

#include "buffer.h"
#include "error.h"

#include <stdbool.h>

enum store_kind { STORE_S3, STORE_GCS };

struct upload_target {
	enum store_kind kind;
	char *bucket, *key;
};

#define UPLOAD_KEY_MOST 1024 /* bytes, in both stores */

/* IPF_USAGE; release the target all the same. */
int upload_target_parse(const char *url, struct upload_target *target, struct ipf_error *err);
void upload_target_release(struct upload_target *target);

bool upload_target_is_folder(const struct upload_target *target);
/* Appends the key of a file of this name in the folder: that of the target, or the one that its key is in. */
void upload_target_key(const struct upload_target *target, const char *name, struct buffer *key);
/* Appends the URL of a key, for people: s3://BUCKET/KEY. */
void upload_target_url(const struct upload_target *target, const char *key, struct buffer *out);

#endif

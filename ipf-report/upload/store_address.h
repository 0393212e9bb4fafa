/* Where a bucket is: the beginning of its URLs, by the environment.
 *
 *     AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL    another store than Amazon's, with the bucket in the path
 *     AWS_REGION, AWS_DEFAULT_REGION           us-east-1 by default
 *     STORAGE_EMULATOR_HOST                    another one than https://storage.googleapis.com, for gs://
 */
#ifndef REPORT_STORE_ADDRESS_H
#define REPORT_STORE_ADDRESS_H

#include "upload/upload_target.h"

struct store_address {
	struct buffer base; /* https://HOST/BUCKET or https://BUCKET.HOST, without a slash at its end */
	const char *region; /* borrowed from the environment */
};

/* IPF_USAGE: an endpoint other than a URL. */
int store_address_find(const struct upload_target *target, struct store_address *address, struct ipf_error *err);
void store_address_release(struct store_address *address);

#endif

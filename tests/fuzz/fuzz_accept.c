/* Accept headers and addresses: any text gives a format, and an address or a reason. */
#include "publish/accept_header.h"
#include "publish/listen_address.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct listen_address address;
	struct ipf_error err = {0};
	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if ((unsigned)accept_format(text) >= METRICS_FORMATS)
		abort();
	/* names would ask a name server */
	if (strspn(text, "0123456789.:[]") == size &&
	    (listen_address_parse(text, &address, &err) < 0) != (err.kind == IPF_USAGE))
		abort();
	free(text);
	return 0;
}

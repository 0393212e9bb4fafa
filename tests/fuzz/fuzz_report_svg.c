/* SVG on its way into a page: whatever comes in, all result is one picture. */
#include "plots/svg_finish.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plot p = {.name = "n", .width = 640, .height = 400};
	struct buffer out = {0};
	plot_title(&p, "a title");
	plot_say(&p, "and what it is.");
	svg_finish((struct slice){size ? (const char *)data : "", size}, &p, SVG_INLINE, &out);
	buffer_byte(&out, 0);
	if (out.failed || memcmp(out.data, "<svg ", 5) != 0 || strcmp(out.data + out.len - 8, "</svg>\n") != 0)
		abort();
	if (strlen(out.data) + 1 == out.len && strstr(out.data, "</svg>") != out.data + out.len - 8)
		abort();
	buffer_release(&out);
	plot_release(&p);
	return 0;
}

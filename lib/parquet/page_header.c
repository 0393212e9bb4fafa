#include "parquet/page_header.h"

static void data_page(struct thrift *t, struct page_header *h, int type)
{
	thrift_struct(t, type);
	for (struct thrift_field f = {0}; thrift_next(t, &f);)
		switch (f.id) {
		case 1:
			h->values = thrift_integer(t, f.type);
			break;
		case 2:
			h->encoding = thrift_integer(t, f.type);
			break;
		case 3:
			h->def_encoding = thrift_integer(t, f.type);
			break;
		case 4:
			h->rep_encoding = thrift_integer(t, f.type);
			break;
		default:
			thrift_skip(t, f.type);
		}
}

static void dictionary_page(struct thrift *t, struct page_header *h, int type)
{
	thrift_struct(t, type);
	for (struct thrift_field f = {0}; thrift_next(t, &f);)
		if (f.id == 1)
			h->values = thrift_integer(t, f.type);
		else if (f.id == 2)
			h->encoding = thrift_integer(t, f.type);
		else
			thrift_skip(t, f.type);
}

static void data_page_v2(struct thrift *t, struct page_header *h, int type)
{
	thrift_struct(t, type);
	for (struct thrift_field f = {0}; thrift_next(t, &f);)
		switch (f.id) {
		case 1:
			h->values = thrift_integer(t, f.type);
			break;
		case 4:
			h->encoding = thrift_integer(t, f.type);
			break;
		case 5:
			h->def_bytes = thrift_integer(t, f.type);
			break;
		case 6:
			h->rep_bytes = thrift_integer(t, f.type);
			break;
		case 7:
			h->plain = !thrift_bool(t, f.type);
			break;
		default:
			thrift_skip(t, f.type);
		}
}

void page_header_read(struct thrift *t, struct page_header *h)
{
	*h = (struct page_header){.kind = -1};
	for (struct thrift_field f = {0}; thrift_next(t, &f);)
		switch (f.id) {
		case 1:
			h->kind = thrift_integer(t, f.type);
			break;
		case 2:
			h->size = thrift_integer(t, f.type);
			break;
		case 3:
			h->bytes = thrift_integer(t, f.type);
			break;
		case 5:
			data_page(t, h, f.type);
			break;
		case 7:
			dictionary_page(t, h, f.type);
			break;
		case 8:
			data_page_v2(t, h, f.type);
			break;
		default:
			thrift_skip(t, f.type);
		}
}

#include "upload/xml_reader.h"

#include <expat.h>
#include <limits.h>
#include <stdlib.h>

struct walk {
	XML_Parser parser;
	xml_element *element;
	void *data;
	struct buffer text;
};

static void begin(void *data, const XML_Char *name, const XML_Char **attributes)
{
	struct walk *w = data;
	(void)name;
	(void)attributes;
	buffer_clear(&w->text);
}

static void take_text(void *data, const XML_Char *text, int len)
{
	struct walk *w = data;
	size_t room = w->text.len < XML_TEXT_MOST ? XML_TEXT_MOST - w->text.len : 0;
	buffer_append(&w->text, text, (size_t)len < room ? (size_t)len : room);
}

static void end(void *data, const XML_Char *name)
{
	struct walk *w = data;
	w->element(w->data, name, w->text.data && !w->text.failed ? w->text.data : "");
	buffer_clear(&w->text);
}

static void refuse(void *data, const XML_Char *name, const XML_Char *system, const XML_Char *public, int internal)
{
	struct walk *w = data;
	(void)name;
	(void)system;
	(void)public;
	(void)internal;
	XML_StopParser(w->parser, XML_FALSE);
}

int xml_read(struct slice document, xml_element *element, void *data)
{
	const XML_Memory_Handling_Suite memory = {malloc, realloc, free};
	struct walk w = {.parser = XML_ParserCreate_MM(NULL, &memory, NULL), .element = element, .data = data};
	if (!w.parser || document.len > INT_MAX) {
		XML_ParserFree(w.parser);
		return -1;
	}
	XML_SetUserData(w.parser, &w);
	XML_SetElementHandler(w.parser, begin, end);
	XML_SetCharacterDataHandler(w.parser, take_text);
	XML_SetStartDoctypeDeclHandler(w.parser, refuse);
	enum XML_Status status = XML_Parse(w.parser, document.data ? document.data : "", (int)document.len, 1);
	XML_ParserFree(w.parser);
	buffer_release(&w.text);
	return status == XML_STATUS_OK ? 0 : -1;
}

const char *xml_library(void)
{
	return XML_ExpatVersion();
}

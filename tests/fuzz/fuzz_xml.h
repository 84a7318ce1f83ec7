/*
 * A naive test of whether a text is well-formed XML, as far as Maar writes XML: elements,
 * attributes in double quotes, text, four entities, UTF-8 without control characters.
 */
#ifndef MAAR_TESTS_FUZZ_FUZZ_XML_H
#define MAAR_TESTS_FUZZ_FUZZ_XML_H

#include <stddef.h>

/* NULL, or what is wrong. */
const char* fuzz_xml_check(const char* text, size_t size);

#endif

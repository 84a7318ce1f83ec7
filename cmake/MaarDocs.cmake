# maar_docs: makes the API reference in build/.../reference/html by Doxygen, if it is installed.
# Only an explicit build of this target runs Doxygen. A warning fails the target.
find_program(MAAR_DOXYGEN doxygen DOC "Doxygen, for the API reference; optional")
mark_as_advanced(MAAR_DOXYGEN)
set(MAAR_DOCS_DIR ${PROJECT_BINARY_DIR}/reference)
if(MAAR_DOXYGEN)
    configure_file(${PROJECT_SOURCE_DIR}/docs/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
    add_custom_target(maar_docs
        COMMAND ${CMAKE_COMMAND} -E rm -rf ${MAAR_DOCS_DIR}
        COMMAND ${MAAR_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile
        COMMENT "Making the API reference: ${MAAR_DOCS_DIR}/html/index.html"
        VERBATIM)
endif()

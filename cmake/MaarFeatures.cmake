# Which of the libraries of MaarLibraries.cmake libmaar is built with: maar_used_libraries. A library that
# is wanted and missing, or cannot be linked, is left out.
include(MaarLibraries)
include(CheckCSourceCompiles)

set(maar_zstd_probe "#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
int main(int count, char** texts) { return ZSTD_initStaticCCtx(texts, (size_t)count) != NULL; }")
set(maar_lz4_probe "#include <lz4.h>
int main(void) { return LZ4_sizeofState(); }")

set(maar_used_libraries "")
foreach(library IN ITEMS zstd lz4)
    string(TOUPPER ${library} upper)
    if(NOT MAAR_${upper})
        continue()
    endif()
    maar_find_library(${library} ${maar_${library}_header})
    if(TARGET maar::${library})
        set(CMAKE_REQUIRED_LIBRARIES maar::${library})
        check_c_source_compiles("${maar_${library}_probe}" MAAR_LINKS_${upper})
        unset(CMAKE_REQUIRED_LIBRARIES)
    endif()
    if(MAAR_LINKS_${upper})
        list(APPEND maar_used_libraries ${library})
    elseif(PROJECT_IS_TOP_LEVEL)
        message(STATUS "Maar is built without ${library}")
    endif()
endforeach()

# maar_use_libraries(target): links a build of libmaar with them.
function(maar_use_libraries target)
    foreach(library IN LISTS maar_used_libraries)
        string(TOUPPER ${library} upper)
        target_compile_definitions(${target} PRIVATE MAAR_HAVE_${upper}=1)
        target_link_libraries(${target} PRIVATE maar::${library})
    endforeach()
endfunction()

# Libraries that libmaar may be built with, as imported targets maar::zstd and so on. The installed package
# includes this file too: who links a static libmaar also links them.
#
# maar_find_library(name header): defines maar::NAME where the header and the library are found.
function(maar_find_library name header)
    string(TOUPPER ${name} upper)
    find_path(MAAR_${upper}_INCLUDE_DIR ${header} DOC "Folder that holds ${header}")
    find_library(MAAR_${upper}_LIBRARY ${name} DOC "The ${name} library")
    mark_as_advanced(MAAR_${upper}_INCLUDE_DIR MAAR_${upper}_LIBRARY)
    if(MAAR_${upper}_INCLUDE_DIR AND MAAR_${upper}_LIBRARY AND NOT TARGET maar::${name})
        add_library(maar::${name} INTERFACE IMPORTED)
        set_target_properties(maar::${name} PROPERTIES
            INTERFACE_INCLUDE_DIRECTORIES ${MAAR_${upper}_INCLUDE_DIR}
            INTERFACE_LINK_LIBRARIES ${MAAR_${upper}_LIBRARY})
    endif()
endfunction()

set(maar_zstd_header zstd.h)
set(maar_lz4_header lz4.h)
set(maar_uring_header liburing.h)

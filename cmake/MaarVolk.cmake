# maar_volk: volk, compiled for Maar's own programs. The library itself neither links nor includes
# volk. No program of Maar links the loader.
find_path(MAAR_VOLK_INCLUDE_DIR volk.h DOC "Folder that holds volk.h and volk.c")
mark_as_advanced(MAAR_VOLK_INCLUDE_DIR)
if(NOT MAAR_VOLK_INCLUDE_DIR OR NOT EXISTS ${MAAR_VOLK_INCLUDE_DIR}/volk.c)
    message(FATAL_ERROR
        "Maar's tools, tests and samples need volk. Install it (Debian: libvulkan-volk-dev), set "
        "MAAR_VOLK_INCLUDE_DIR, or turn MAAR_BUILD_TOOLS, MAAR_BUILD_TESTS, MAAR_BUILD_SAMPLES "
        "and MAAR_BUILD_BENCH off.")
endif()
add_library(maar_volk STATIC ${MAAR_VOLK_INCLUDE_DIR}/volk.c)
set_target_properties(maar_volk PROPERTIES C_STANDARD 11 POSITION_INDEPENDENT_CODE ON)
target_include_directories(maar_volk SYSTEM PUBLIC ${MAAR_VOLK_INCLUDE_DIR})
if(TARGET Vulkan::Headers)
    target_link_libraries(maar_volk PUBLIC Vulkan::Headers)
else()
    target_include_directories(maar_volk BEFORE PUBLIC ${MAAR_VULKAN_INCLUDE_DIR})
endif()
target_link_libraries(maar_volk PUBLIC ${CMAKE_DL_LIBS})

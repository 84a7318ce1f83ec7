# VulkanMemoryAllocator, a peer, if its header is installed: the target maar_peer_vma with its
# implementation, and MAAR_VMA_HEADER for tests. Benchmarks measure it, maar replay compares with it,
# and samples/from_vma shows the port from it. Nothing else needs C++. MemorySanitizer does not see the writes of the C++
# library, so builds with it omit this target.
find_path(MAAR_VMA_INCLUDE_DIR vk_mem_alloc.h
    PATH_SUFFIXES vma
    DOC "Folder that holds vk_mem_alloc.h, to compare with")
mark_as_advanced(MAAR_VMA_INCLUDE_DIR)
set(MAAR_VMA_HEADER "")
if(MAAR_VMA_INCLUDE_DIR)
    set(MAAR_VMA_HEADER ${MAAR_VMA_INCLUDE_DIR}/vk_mem_alloc.h)
endif()
if(MAAR_VMA_INCLUDE_DIR AND NOT MAAR_SANITIZE MATCHES "memory" AND NOT WIN32)
    include(CheckLanguage)
    check_language(CXX)
    if(CMAKE_CXX_COMPILER)
        enable_language(CXX)
        add_library(maar_peer_vma STATIC support/vma_unit.cpp)
        set_target_properties(maar_peer_vma PROPERTIES CXX_STANDARD 17)
        target_compile_definitions(maar_peer_vma PUBLIC
            VMA_STATIC_VULKAN_FUNCTIONS=0
            VMA_DYNAMIC_VULKAN_FUNCTIONS=1
            VK_NO_PROTOTYPES=1)
        target_include_directories(maar_peer_vma SYSTEM PUBLIC ${MAAR_VMA_INCLUDE_DIR})
        target_link_libraries(maar_peer_vma PUBLIC maar_volk)
    endif()
endif()

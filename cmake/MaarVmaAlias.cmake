# MAAR_VMA_ALIAS: maar::vma under the names that VulkanMemoryAllocator's own build gives its target, for
# projects that add Maar in its place. Their find_package(VulkanMemoryAllocator) then finds Maar, too:
# in this build through the folder that CMake 3.24 and later look into first, elsewhere through an
# installed package.
include(CMakePackageConfigHelpers)

foreach(maar_name IN ITEMS GPUOpen::VulkanMemoryAllocator VulkanMemoryAllocator)
    if(TARGET ${maar_name})
        message(FATAL_ERROR
            "MAAR_VMA_ALIAS: the project has a target ${maar_name} already. Add Maar before it, or "
            "in its place.")
    endif()
    add_library(${maar_name} ALIAS maar_vma)
endforeach()

# The version of the interface, which only vk_mem_alloc.h contains.
file(STRINGS ${PROJECT_SOURCE_DIR}/vma/include/vma/vk_mem_alloc.h maar_vma_version
    REGEX "^#define VMA_VERSION \\(VK_MAKE_VERSION\\([0-9]+, [0-9]+, [0-9]+\\)\\)$")
string(REGEX REPLACE ".*\\(([0-9]+), ([0-9]+), ([0-9]+)\\).*" "\\1.\\2.\\3" maar_vma_version
    "${maar_vma_version}")

if(CMAKE_FIND_PACKAGE_REDIRECTS_DIR)
    file(WRITE ${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/vulkanmemoryallocator-config.cmake
        "# Maar has made the targets.\n")
    write_basic_package_version_file(
        ${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/vulkanmemoryallocator-config-version.cmake
        VERSION ${maar_vma_version} COMPATIBILITY SameMajorVersion)
endif()

if(MAAR_INSTALL)
    set(maar_alias_dir ${CMAKE_INSTALL_LIBDIR}/cmake/VulkanMemoryAllocator)
    write_basic_package_version_file(
        ${PROJECT_BINARY_DIR}/VulkanMemoryAllocatorConfigVersion.cmake
        VERSION ${maar_vma_version} COMPATIBILITY SameMajorVersion)
    install(FILES
        ${PROJECT_SOURCE_DIR}/cmake/VulkanMemoryAllocatorConfig.cmake
        ${PROJECT_BINARY_DIR}/VulkanMemoryAllocatorConfigVersion.cmake
        DESTINATION ${maar_alias_dir})
endif()

# find_package(VulkanMemoryAllocator CONFIG), answered by the Maar that is installed beside this file:
# GPUOpen::VulkanMemoryAllocator is maar::vma.
include(CMakeFindDependencyMacro)
find_dependency(maar CONFIG COMPONENTS vma
    PATHS ${CMAKE_CURRENT_LIST_DIR}/../maar NO_DEFAULT_PATH)
if(NOT TARGET GPUOpen::VulkanMemoryAllocator)
    add_library(GPUOpen::VulkanMemoryAllocator INTERFACE IMPORTED)
    set_target_properties(GPUOpen::VulkanMemoryAllocator PROPERTIES
        INTERFACE_LINK_LIBRARIES maar::vma)
endif()

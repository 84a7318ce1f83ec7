# The options of Maar. All begin with MAAR_. BUILD_SHARED_LIBS is honoured where Maar is the top-level
# project; inside another project it says how that one's own libraries are built.
if(NOT PROJECT_IS_TOP_LEVEL)
    option(MAAR_BUILD_SHARED
        "Build Maar as shared libraries inside another project, whatever its BUILD_SHARED_LIBS" OFF)
    set(BUILD_SHARED_LIBS ${MAAR_BUILD_SHARED})
endif()

option(MAAR_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(MAAR_BUILD_TOOLS "Build the maar command" ${PROJECT_IS_TOP_LEVEL})
option(MAAR_TOOL_VMA "Let maar replay compare with VulkanMemoryAllocator where its header is found" ON)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND MAAR_BUILD_TOOLS)
    set(maar_layer_default ${PROJECT_IS_TOP_LEVEL})
else()
    set(maar_layer_default OFF)
endif()
option(MAAR_BUILD_LAYER "Build the Vulkan layer that captures programs; only on Linux"
    ${maar_layer_default})
option(MAAR_BUILD_VMA "Build maar::vma, VulkanMemoryAllocator's interface on Maar"
    ${PROJECT_IS_TOP_LEVEL})
if(PROJECT_IS_TOP_LEVEL AND MAAR_BUILD_VMA)
    set(maar_names_default ON)
else()
    set(maar_names_default OFF)
endif()
option(MAAR_BUILD_VMA_NAMES
    "Build maar::vma_names, a library that defines VulkanMemoryAllocator's own names"
    ${maar_names_default})
option(MAAR_VMA_ALIAS
    "Build maar::vma, and let it be GPUOpen::VulkanMemoryAllocator for this and other projects" OFF)
if(MAAR_VMA_ALIAS OR MAAR_BUILD_VMA_NAMES)
    set(MAAR_BUILD_VMA ON)
endif()
option(MAAR_BUILD_SIMULATED
    "Build and install maar::simulated; if off, it is built only for a target that links it"
    ${PROJECT_IS_TOP_LEVEL})
option(MAAR_BUILD_SAMPLES "Build the samples" ${PROJECT_IS_TOP_LEVEL})
option(MAAR_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(MAAR_BUILD_GPU_CHECKS "Build the programs of scripts/gpu-check; not on Windows"
    ${MAAR_BUILD_TESTS})
option(MAAR_ZSTD "Build libmaar with Zstandard where it is found" ${MAAR_BUILD_TESTS})
option(MAAR_LZ4 "Build libmaar with LZ4 where it is found" ${MAAR_BUILD_TESTS})
option(MAAR_INSTALL "Install Maar with the project" ${PROJECT_IS_TOP_LEVEL})
option(MAAR_INSTALL_DATA "Install the data of the maar command, below share/maar" ${MAAR_BUILD_TOOLS})
option(MAAR_WARNINGS "Compile with Maar's warnings" ${PROJECT_IS_TOP_LEVEL})
option(MAAR_WERROR "Treat warnings as errors" OFF)
option(MAAR_UNITY "Compile maar and maar_simulated in a few large units" OFF)
option(MAAR_HEAVY_CHECKS "Walk whole data structures after each change (slow)" OFF)
option(MAAR_LOCK_HOLDS "Measure how long locks are held, for bench_defragmentation_slices" OFF)
option(MAAR_TESTS_ALL_PACKAGES "Try each way in which projects use Maar, Meson's too" OFF)
option(MAAR_TESTS_SHARED "Link the tests with a shared build of the library that hides nothing" OFF)
option(MAAR_COVERAGE "Instrument for coverage" OFF)
set(MAAR_SANITIZE "" CACHE STRING
    "Sanitizers, as the compiler's -fsanitize takes them: address,undefined or thread or memory")

# No part of Maar links a Vulkan loader. Maar needs only the Vulkan headers, 1.3.239 or later.
find_path(MAAR_VULKAN_INCLUDE_DIR vulkan/vulkan_core.h
    HINTS ENV VULKAN_SDK
    PATH_SUFFIXES include Include
    DOC "Folder that holds vulkan/vulkan_core.h")
mark_as_advanced(MAAR_VULKAN_INCLUDE_DIR)
if(NOT MAAR_VULKAN_INCLUDE_DIR AND NOT TARGET Vulkan::Headers)
    message(FATAL_ERROR
        "Maar needs the Vulkan headers. Install them (Debian: libvulkan-dev) or set "
        "MAAR_VULKAN_INCLUDE_DIR to the folder that holds vulkan/vulkan_core.h.")
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()
if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

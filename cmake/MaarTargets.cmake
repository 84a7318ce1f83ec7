# The common properties of Maar's targets. Programs (tests, tools, samples, bench) and the internal
# libraries call maar_target_defaults. The libraries that users link call maar_library_defaults.

set(MAAR_ROOT_DIR ${PROJECT_SOURCE_DIR})

# While the major version is 0, each minor version has interfaces of its own: its shared libraries have
# other names, and its CMake package serves no other minor version.
set(maar_soversion ${PROJECT_VERSION_MAJOR})
set(maar_compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(maar_soversion 0.${PROJECT_VERSION_MINOR})
    set(maar_compatibility SameMinorVersion)
endif()

function(maar_target_defaults target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11
        C_STANDARD_REQUIRED ON
        C_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden)
    target_include_directories(${target} PRIVATE ${MAAR_ROOT_DIR})
    # The experimental API is always compiled, but declared only on request.
    target_compile_definitions(${target} PRIVATE MAAR_ENABLE_EXPERIMENTAL=1)
    if(TARGET Vulkan::Headers)
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:Vulkan::Headers>)
    else()
        target_include_directories(${target} PRIVATE ${MAAR_VULKAN_INCLUDE_DIR})
    endif()
    if(MAAR_HEAVY_CHECKS)
        target_compile_definitions(${target} PRIVATE MAAR_HEAVY_CHECKS=1)
    endif()
    if(MAAR_LOCK_HOLDS)
        target_compile_definitions(${target} PRIVATE MAAR_LOCK_HOLDS=1)
    elseif(MAAR_BUILD_TESTS)
        target_compile_definitions(${target} PRIVATE $<$<CONFIG:Debug>:MAAR_LOCK_CHECKS=1>)
    endif()
    if(MSVC)
        if(MAAR_WARNINGS)
            target_compile_options(${target} PRIVATE /W4)
        endif()
        if(MAAR_WERROR)
            target_compile_options(${target} PRIVATE /WX)
        endif()
        return()
    endif()
    if(MAAR_WARNINGS)
        target_compile_options(${target} PRIVATE
            -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
            $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
            -Wundef -Wvla)
    endif()
    if(MAAR_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(MAAR_SANITIZE)
        string(REPLACE ";" "," sanitizers "${MAAR_SANITIZE}")
        target_compile_options(${target} PRIVATE
            -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
        target_link_options(${target} PUBLIC $<BUILD_INTERFACE:-fsanitize=${sanitizers}>)
    endif()
endfunction()

# Compiles the sources of a library in a few large units, which takes less time. Sources that
# ask the system's headers for more than C11, and those that another library has too, are compiled
# alone; so are the drop-in's, whose macros differ.
function(maar_compile_together target)
    if(target MATCHES "vma")
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "/((sim_)?port[a-z_]*|host_memory|lock_rank)\\.c$")
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target}
        PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 100)
endfunction()

function(maar_library_defaults target)
    maar_target_defaults(${target})
    set_target_properties(${target} PROPERTIES
        VERSION ${PROJECT_VERSION}
        SOVERSION ${maar_soversion}
        POSITION_INDEPENDENT_CODE ON
        UNITY_BUILD OFF)
    if(MAAR_UNITY)
        # Once all sources are known. A deferred call evaluates its arguments late.
        cmake_language(EVAL CODE
            "cmake_language(DEFER DIRECTORY [[${MAAR_ROOT_DIR}]] CALL maar_compile_together ${target})")
    endif()
    if(MAAR_COVERAGE)
        # Only the libraries are measured. -O1 halves the time of the suite and does not merge
        # lines.
        target_compile_options(${target} PRIVATE --coverage -fprofile-update=atomic -O1)
        target_link_options(${target} PUBLIC $<BUILD_INTERFACE:--coverage>)
    endif()
    target_compile_definitions(${target} PRIVATE MAAR_BUILDING=1)
    if(BUILD_SHARED_LIBS)
        target_compile_definitions(${target} PUBLIC MAAR_SHARED=1)
    endif()
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${MAAR_ROOT_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    if(TARGET Vulkan::Headers)
        target_link_libraries(${target} PUBLIC $<BUILD_INTERFACE:Vulkan::Headers>)
    else()
        target_include_directories(${target} PUBLIC
            $<BUILD_INTERFACE:${MAAR_VULKAN_INCLUDE_DIR}>)
    endif()
endfunction()

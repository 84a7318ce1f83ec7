# maar_add_test(NAME name SOURCES file... [LIBRARIES target...] [ENVIRONMENT VAR=value...]
#               [RIG rig...] [OWN_RIGS] [ARGUMENTS argument...] [LABELS label...]
#               [TIMEOUT seconds])
#
# Adds one program, linked with the library's internals, cmocka and maar_support, and one ctest
# entry for each rig. The entry's name is NAME on none and simulated, and NAME.RIG on the other
# rigs, which MaarRigs.cmake lists. A rig that this machine does not have still gets an entry, which
# is skipped with the reason.
#
# OWN_RIGS: only the given rigs, without those of MAAR_EXTRA_RIGS.
#
# The environment of each test contains MAAR_SHARED_DATA (the shared data's folder) and MAAR_RIG.
# The compile definition MAAR_SOURCE_DIR is the root of the sources.

find_path(MAAR_CMOCKA_INCLUDE_DIR cmocka.h DOC "Folder that holds cmocka.h")
find_library(MAAR_CMOCKA_LIBRARY cmocka DOC "The cmocka library")
mark_as_advanced(MAAR_CMOCKA_INCLUDE_DIR MAAR_CMOCKA_LIBRARY)
if(NOT MAAR_CMOCKA_INCLUDE_DIR OR NOT MAAR_CMOCKA_LIBRARY)
    message(FATAL_ERROR "The tests need cmocka (Debian: libcmocka-dev); or set MAAR_BUILD_TESTS=OFF.")
endif()

# Tests use the library's hidden symbols. Therefore they always link it statically, or, with
# MAAR_TESTS_SHARED, a shared build that hides nothing. Repeated changes of the library
# (tests/mutation) then relink only the shared build.
set(maar_test_libraries "")
if(BUILD_SHARED_LIBS)
    set(maar_test_libraries maar maar_simulated)
elseif(MAAR_TESTS_SHARED)
    set(maar_test_libraries maar)
endif()
foreach(library IN LISTS maar_test_libraries)
    if(TARGET ${library})
        get_target_property(sources ${library} SOURCES)
        set(kind STATIC)
        set(visibility hidden)
        if(MAAR_TESTS_SHARED AND library STREQUAL "maar")
            set(kind SHARED)
            set(visibility default)
        endif()
        add_library(${library}_inside ${kind} ${sources})
        maar_target_defaults(${library}_inside)
        set_target_properties(${library}_inside PROPERTIES C_VISIBILITY_PRESET ${visibility})
        target_include_directories(${library}_inside PUBLIC ${PROJECT_SOURCE_DIR}/include)
        target_link_libraries(${library}_inside PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
        maar_use_libraries(${library}_inside)
    endif()
endforeach()
add_library(maar_test_base INTERFACE)
foreach(library IN ITEMS maar_simulated maar)
    if(TARGET ${library}_inside)
        target_link_libraries(maar_test_base INTERFACE ${library}_inside)
    elseif(TARGET ${library})
        target_link_libraries(maar_test_base INTERFACE ${library})
    endif()
endforeach()
target_link_libraries(maar_test_base INTERFACE ${MAAR_CMOCKA_LIBRARY})
target_include_directories(maar_test_base SYSTEM INTERFACE ${MAAR_CMOCKA_INCLUDE_DIR})
if(TARGET maar_support)
    target_link_libraries(maar_test_base INTERFACE maar_support)
endif()
# Tests use POSIX threads, which MinGW provides as a library.
if(WIN32)
    target_link_libraries(maar_test_base INTERFACE pthread)
endif()

include(MaarRigs)
set(MAAR_TIMEOUT_FACTOR 1 CACHE STRING "Time limits of tests times this, for busy machines")
mark_as_advanced(MAAR_TIMEOUT_FACTOR)

# maar_add_rig_entry(NAME entry RIG rig COMMAND program argument... [ENVIRONMENT ...] [TIMEOUT s]
#                    [LABELS ...]): adds one ctest entry on one rig.
function(maar_add_rig_entry)
    cmake_parse_arguments(arg "" "NAME;RIG;TIMEOUT" "COMMAND;ENVIRONMENT;LABELS" ${ARGN})
    if(NOT arg_RIG)
        set(arg_RIG none)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * ${MAAR_TIMEOUT_FACTOR}")
    if(MAAR_SANITIZE OR MAAR_HEAVY_CHECKS)
        math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 5")
    endif()
    maar_rig_environment(${arg_RIG} environment missing)
    if(missing)
        add_test(NAME ${arg_NAME} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${missing}")
        set_tests_properties(${arg_NAME} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
        set(environment "")
    else()
        add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND})
        list(GET arg_COMMAND 0 program)
        maar_rig_is_noop(${arg_RIG} noop)
        if(TARGET ${program} AND noop)
            add_dependencies(${program} maar_ioctl_faults maar_noop_time)
        endif()
        if(TARGET ${program} AND NOT arg_RIG MATCHES "^(none|simulated)$")
            add_dependencies(maar_driver_tests ${program})
        endif()
    endif()
    string(REGEX REPLACE ":.*" "" rig_label ${arg_RIG})
    set_tests_properties(${arg_NAME} PROPERTIES
        ENVIRONMENT "${environment};${arg_ENVIRONMENT}"
        SKIP_RETURN_CODE 77
        TIMEOUT ${arg_TIMEOUT}
        LABELS "${rig_label};${arg_LABELS}")
endfunction()

function(maar_add_test)
    cmake_parse_arguments(arg "OWN_RIGS" "NAME;TIMEOUT"
        "SOURCES;LIBRARIES;ENVIRONMENT;RIG;ARGUMENTS;LABELS" ${ARGN})
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "maar_add_test(${arg_NAME}): unknown ${arg_UNPARSED_ARGUMENTS}")
    endif()
    add_executable(maar_test_${arg_NAME} ${arg_SOURCES})
    set_target_properties(maar_test_${arg_NAME} PROPERTIES OUTPUT_NAME ${arg_NAME})
    maar_target_defaults(maar_test_${arg_NAME})
    target_compile_definitions(maar_test_${arg_NAME} PRIVATE
        MAAR_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(maar_test_${arg_NAME} PRIVATE ${arg_LIBRARIES} maar_test_base)
    if(NOT arg_RIG)
        set(arg_RIG none)
    endif()
    if(NOT arg_OWN_RIGS)
        maar_extend_rigs(arg_RIG)
    endif()
    foreach(rig IN LISTS arg_RIG)
        set(entry ${arg_NAME})
        if(NOT rig MATCHES "^(none|simulated)$")
            maar_rig_suffix(${rig} suffix)
            string(APPEND entry ".${suffix}")
        endif()
        maar_add_rig_entry(NAME ${entry} RIG ${rig}
            COMMAND maar_test_${arg_NAME} ${arg_ARGUMENTS}
            ENVIRONMENT ${arg_ENVIRONMENT}
            TIMEOUT ${arg_TIMEOUT}
            LABELS ${arg_LABELS})
    endforeach()
endfunction()

# maar_add_skipped_entry(entry reason label): adds an entry that is skipped with a reason.
function(maar_add_skipped_entry entry reason label)
    add_test(NAME ${entry} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${reason}")
    set_tests_properties(${entry} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: " LABELS ${label})
endfunction()

# maar_take_blocks(target [LANGUAGE cpp] page...): writes the blocks of C, or of C++, of documents to
# headers NAME.inc, which a test includes. A comment before each block names its place. docs.blocks
# reads these calls to learn which pages have compiled blocks of C.
function(maar_take_blocks target)
    cmake_parse_arguments(arg "" "LANGUAGE" "" ${ARGN})
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(script ${PROJECT_SOURCE_DIR}/tests/docs/extract_blocks.py)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_blocks)
    file(MAKE_DIRECTORY ${folder})
    foreach(page IN LISTS arg_UNPARSED_ARGUMENTS)
        get_filename_component(name ${page} NAME_WE)
        add_custom_command(OUTPUT ${folder}/${name}.inc
            COMMAND ${Python3_EXECUTABLE} -B ${script} ${PROJECT_SOURCE_DIR}/${page}
                ${folder}/${name}.inc ${arg_LANGUAGE}
            DEPENDS ${PROJECT_SOURCE_DIR}/${page} ${script}
            VERBATIM)
        target_sources(${target} PRIVATE ${folder}/${name}.inc)
        if(NOT arg_LANGUAGE)
            set_property(GLOBAL APPEND PROPERTY MAAR_COMPILED_PAGES ${page})
        endif()
    endforeach()
    target_include_directories(${target} PRIVATE ${folder})
endfunction()

# maar_add_test(NAME name SOURCES file... [LIBRARIES target...] [ENVIRONMENT VAR=value...]
#               [RIG rig...] [ARGUMENTS argument...] [LABELS label...] [TIMEOUT seconds])
#
# One program, linked with the library's internals, cmocka and maar_support; one ctest entry for
# each rig. Rigs: none and simulated (the entry is called NAME), lavapipe and radv:GPU (NAME.RIG).
# A rig that this machine lacks still has an entry, which is skipped and says why.
#
# In the environment of each test: MAAR_SHARED_DATA (the shared data's folder), MAAR_RIG. As a
# compile definition: MAAR_SOURCE_DIR, the root of the sources.

find_path(MAAR_CMOCKA_INCLUDE_DIR cmocka.h DOC "Folder that holds cmocka.h")
find_library(MAAR_CMOCKA_LIBRARY cmocka DOC "The cmocka library")
mark_as_advanced(MAAR_CMOCKA_INCLUDE_DIR MAAR_CMOCKA_LIBRARY)
if(NOT MAAR_CMOCKA_INCLUDE_DIR OR NOT MAAR_CMOCKA_LIBRARY)
    message(FATAL_ERROR "The tests need cmocka (Debian: libcmocka-dev); or set MAAR_BUILD_TESTS=OFF.")
endif()

# Tests reach into the library, whose symbols are hidden: they link it statically always.
if(BUILD_SHARED_LIBS)
    foreach(library IN ITEMS maar maar_simulated)
        if(TARGET ${library})
            get_target_property(sources ${library} SOURCES)
            add_library(${library}_static STATIC ${sources})
            maar_target_defaults(${library}_static)
            target_include_directories(${library}_static PUBLIC ${PROJECT_SOURCE_DIR}/include)
            target_link_libraries(${library}_static PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
        endif()
    endforeach()
endif()
add_library(maar_test_base INTERFACE)
foreach(library IN ITEMS maar_simulated maar)
    if(BUILD_SHARED_LIBS AND TARGET ${library}_static)
        target_link_libraries(maar_test_base INTERFACE ${library}_static)
    elseif(TARGET ${library})
        target_link_libraries(maar_test_base INTERFACE ${library})
    endif()
endforeach()
target_link_libraries(maar_test_base INTERFACE ${MAAR_CMOCKA_LIBRARY})
target_include_directories(maar_test_base SYSTEM INTERFACE ${MAAR_CMOCKA_INCLUDE_DIR})
if(TARGET maar_support)
    target_link_libraries(maar_test_base INTERFACE maar_support)
endif()

file(GLOB maar_lavapipe_icd /usr/share/vulkan/icd.d/lvp_icd*.json)
file(GLOB maar_radv_icd /usr/share/vulkan/icd.d/radeon_icd*.json)
file(GLOB maar_radv_shim
    /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libamdgpu_noop_drm_shim.so
    /usr/lib/*/libamdgpu_noop_drm_shim.so)
if(maar_lavapipe_icd)
    list(GET maar_lavapipe_icd 0 maar_lavapipe_icd)
endif()
if(maar_radv_icd AND maar_radv_shim)
    list(GET maar_radv_icd 0 maar_radv_icd)
    list(GET maar_radv_shim 0 maar_radv_shim)
endif()

# Under a sanitizer drivers stay loaded: AddressSanitizer knows whose a leak is, and ThreadSanitizer
# whose a lock, only while the module is there. AddressSanitizer's runtime must be preloaded first.
set(maar_preload "")
if(MAAR_SANITIZE MATCHES "address|thread")
    add_library(maar_keep_loaded MODULE ${CMAKE_CURRENT_LIST_DIR}/../tests/keep_loaded.c)
    set_target_properties(maar_keep_loaded PROPERTIES
        C_STANDARD 11 LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    set(maar_preload ${PROJECT_BINARY_DIR}/tests/libmaar_keep_loaded.so)
    if(MAAR_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
        execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so
            OUTPUT_VARIABLE maar_asan_runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
        string(PREPEND maar_preload "${maar_asan_runtime}:")
    endif()
endif()

set(maar_default_shared_data ${PROJECT_SOURCE_DIR}/../shared/data)
cmake_path(NORMAL_PATH maar_default_shared_data)
if(DEFINED ENV{MAAR_SHARED_DATA})
    set(maar_default_shared_data $ENV{MAAR_SHARED_DATA})
endif()
set(MAAR_SHARED_DATA ${maar_default_shared_data} CACHE PATH "Data for tests outside the sources")

# Sets ${out} to the environment of a rig, ${missing} to the reason why it cannot run here.
function(maar_rig_environment rig out missing)
    set(environment
        "MAAR_RIG=${rig}"
        "MAAR_SHARED_DATA=${MAAR_SHARED_DATA}"
        "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0"
        "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp:second_deadlock_stack=1"
        "UBSAN_OPTIONS=print_stacktrace=1")
    set(reason "")
    # The detector of deadlocks loses count of a driver's locks: it sees them taken, not released.
    if(NOT rig MATCHES "^(none|simulated)$")
        list(TRANSFORM environment REPLACE "^(TSAN_OPTIONS=.*)$" "\\1:detect_deadlocks=0")
    endif()
    if(rig STREQUAL "lavapipe")
        if(NOT maar_lavapipe_icd)
            set(reason "no lavapipe driver found (Debian: mesa-vulkan-drivers)")
        endif()
        list(APPEND environment "VK_ICD_FILENAMES=${maar_lavapipe_icd}")
        if(maar_preload)
            list(APPEND environment "LD_PRELOAD=${maar_preload}")
        endif()
    elseif(rig MATCHES "^radv:(.+)$")
        set(gpu ${CMAKE_MATCH_1})
        if(NOT maar_radv_icd OR NOT maar_radv_shim)
            set(reason "no RADV driver with the no-op shim found (Debian: mesa-drm-shim)")
        elseif(MAAR_SANITIZE MATCHES "thread")
            set(reason "under ThreadSanitizer the shim starts before it can see which GPU to be")
        endif()
        # The shim alone says that a submission has been executed before RADV's own threads have read
        # it; our preload right before it sees to that.
        set(preload "$<TARGET_FILE:maar_ioctl_faults>:${maar_radv_shim}")
        if(maar_preload)
            string(PREPEND preload "${maar_preload}:")
        endif()
        list(APPEND environment
            "AMDGPU_GPU_ID=${gpu}"
            "LD_PRELOAD=${preload}"
            "VK_ICD_FILENAMES=${maar_radv_icd}")
    elseif(NOT rig MATCHES "^(none|simulated|gpu)$")
        message(FATAL_ERROR "unknown rig: ${rig}")
    endif()
    set(${out} "${environment}" PARENT_SCOPE)
    set(${missing} "${reason}" PARENT_SCOPE)
endfunction()

# maar_add_rig_entry(NAME entry RIG rig COMMAND program argument... [ENVIRONMENT ...] [TIMEOUT s]
#                    [LABELS ...]): one ctest entry on one rig.
function(maar_add_rig_entry)
    cmake_parse_arguments(arg "" "NAME;RIG;TIMEOUT" "COMMAND;ENVIRONMENT;LABELS" ${ARGN})
    if(NOT arg_RIG)
        set(arg_RIG none)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()
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
        if(TARGET ${program} AND arg_RIG MATCHES "^radv:")
            add_dependencies(${program} maar_ioctl_faults)
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
    cmake_parse_arguments(arg "" "NAME;TIMEOUT"
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
    foreach(rig IN LISTS arg_RIG)
        set(entry ${arg_NAME})
        if(NOT rig MATCHES "^(none|simulated)$")
            string(REPLACE ":" "-" suffix ${rig})
            string(APPEND entry ".${suffix}")
        endif()
        maar_add_rig_entry(NAME ${entry} RIG ${rig}
            COMMAND maar_test_${arg_NAME} ${arg_ARGUMENTS}
            ENVIRONMENT ${arg_ENVIRONMENT}
            TIMEOUT ${arg_TIMEOUT}
            LABELS ${arg_LABELS})
    endforeach()
endfunction()

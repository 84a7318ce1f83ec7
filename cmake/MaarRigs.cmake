# Rigs: the environments of test programs. Each rig selects one Vulkan driver:
#
#   none, simulated      no driver, or the simulated one
#   lavapipe             Mesa's driver that runs on the CPU
#   swiftshader          Chromium's driver that runs on the CPU; MAAR_SWIFTSHADER_ICD names its
#                        manifest
#   radv:GPU  nvk:CHIPSET  anv:PLATFORM  turnip:GPU_ID  honeykrisp
#                        the real drivers for AMD, NVIDIA, Intel, Qualcomm and Apple, over a no-op
#                        kernel interface (Debian: mesa-drm-shim) that executes nothing. Intel's is
#                        not packaged; MAAR_INTEL_SHIM names it
#   gpu                  the drivers that the loader finds
#
# A program that is declared for lavapipe also gets an entry for each rig of MAAR_EXTRA_RIGS that
# executes commands. A program that is declared for radv gets one for each rig that executes
# nothing.

set(MAAR_EXTRA_RIGS "" CACHE STRING
    "More rigs for each program that runs on a real driver, as nvk:172;turnip:740")
set(MAAR_SWIFTSHADER_ICD "" CACHE FILEPATH "Manifest of SwiftShader (vk_swiftshader_icd.json)")
set(MAAR_INTEL_SHIM "" CACHE FILEPATH "Intel's no-op kernel interface (libintel_noop_drm_shim.so)")

# Sets ${out} to the first file that matches one of the patterns, or to nothing.
function(maar_find_first out)
    set(found "")
    foreach(pattern IN LISTS ARGN)
        file(GLOB found ${pattern})
        if(found)
            list(GET found 0 found)
            break()
        endif()
    endforeach()
    set(${out} "${found}" PARENT_SCOPE)
endfunction()

function(maar_find_shim out name)
    set(found "")
    if(CMAKE_SYSTEM_NAME STREQUAL "Linux") # not where its programs are made for another system
        maar_find_first(found
            /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/lib${name}_noop_drm_shim.so
            /usr/lib/*/lib${name}_noop_drm_shim.so)
    endif()
    set(${out} "${found}" PARENT_SCOPE)
endfunction()

function(maar_find_driver out name)
    maar_find_first(found
        /usr/share/vulkan/icd.d/${name}_icd.${CMAKE_SYSTEM_PROCESSOR}.json
        /usr/share/vulkan/icd.d/${name}_icd*.json)
    set(${out} "${found}" PARENT_SCOPE)
endfunction()

maar_find_driver(maar_lavapipe_icd lvp)
# Finds, by the first word of a rig, the driver's manifest, its no-op kernel, and the variable that
# names the device.
foreach(row IN ITEMS radv:radeon:amdgpu:AMDGPU_GPU_ID nvk:nouveau:nouveau:NOUVEAU_CHIPSET
        anv:intel:intel:INTEL_STUB_GPU_PLATFORM turnip:freedreno:freedreno:FD_GPU_ID
        honeykrisp:asahi:asahi:)
    string(REPLACE ":" ";" row "${row}")
    list(GET row 0 rig)
    list(GET row 1 driver)
    list(GET row 2 shim)
    list(GET row 3 maar_${rig}_variable)
    maar_find_driver(maar_${rig}_icd ${driver})
    maar_find_shim(maar_${rig}_shim ${shim})
    list(APPEND maar_noop_rigs ${rig})
endforeach()
if(MAAR_INTEL_SHIM)
    set(maar_anv_shim ${MAAR_INTEL_SHIM})
endif()

# Newer validation layers skip a part of the synchronization checks unless a settings file requests
# it. Without this file, 1.4.309 does not follow chains of barriers; 1.4.363 does.
set(maar_layer_settings "")
maar_find_first(maar_layer_manifest
    /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json)
if(maar_layer_manifest)
    file(STRINGS ${maar_layer_manifest} maar_layer_version REGEX "\"api_version\"")
    string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" maar_layer_version "${maar_layer_version}")
    if(maar_layer_version VERSION_GREATER_EQUAL 1.4.363)
        set(maar_layer_settings ${CMAKE_CURRENT_LIST_DIR}/../tests/rig/vk_layer_settings.txt)
        cmake_path(NORMAL_PATH maar_layer_settings)
    endif()
endif()

# Drivers stay loaded under a sanitizer. AddressSanitizer finds the owner of a leak, and
# ThreadSanitizer that of a lock, only while the module is loaded. AddressSanitizer's runtime must
# be preloaded first.
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

set(MAAR_SHARED_DATA "$ENV{MAAR_SHARED_DATA}" CACHE PATH
    "Folder of further traces and planner instances for tests; empty for those of the sources alone")

# Returns whether a rig is a real driver over a no-op kernel interface.
function(maar_rig_is_noop rig out)
    string(REGEX REPLACE ":.*" "" family "${rig}")
    if(family IN_LIST maar_noop_rigs)
        set(${out} TRUE PARENT_SCOPE)
    else()
        set(${out} FALSE PARENT_SCOPE)
    endif()
endfunction()

# Returns the driver's part of the environment of a rig over a no-op kernel.
function(maar_noop_environment rig out missing)
    string(REGEX REPLACE ":.*" "" family "${rig}")
    string(REGEX REPLACE "^${family}:?" "" model "${rig}")
    set(variable "${maar_${family}_variable}")
    set(reason "")
    if((variable AND NOT model) OR (model AND NOT variable))
        message(FATAL_ERROR "rig ${rig}: ${family} takes ${variable}")
    endif()
    if(NOT maar_${family}_icd OR NOT maar_${family}_shim)
        string(TOUPPER ${family} driver)
        set(reason "no ${driver} driver with the no-op shim found (Debian: mesa-drm-shim)")
    elseif(MAAR_SANITIZE MATCHES "thread")
        set(reason "under ThreadSanitizer the shim starts before it can see which GPU to be")
    endif()
    set(preload "${maar_${family}_shim}")
    # The shims have no synchronization objects: a wait ends before the driver's own threads have
    # read the awaited object, and timelines have no values. Our preload, directly before them,
    # supplies both.
    if(family STREQUAL "radv")
        string(PREPEND preload "$<TARGET_FILE:maar_ioctl_faults>:")
    else()
        string(PREPEND preload "$<TARGET_FILE:maar_noop_time>:")
    endif()
    if(maar_preload)
        string(PREPEND preload "${maar_preload}:")
    endif()
    set(environment "LD_PRELOAD=${preload}" "VK_ICD_FILENAMES=${maar_${family}_icd}")
    if(variable)
        list(APPEND environment "${variable}=${model}")
    endif()
    if(family STREQUAL "nvk")
        list(APPEND environment "NVK_I_WANT_A_BROKEN_VULKAN_DRIVER=1")
    endif()
    set(${out} "${environment}" PARENT_SCOPE)
    set(${missing} "${reason}" PARENT_SCOPE)
endfunction()

# Sets ${out} to the environment of a rig, and ${missing} to the reason if the rig cannot run here.
function(maar_rig_environment rig out missing)
    set(environment
        "MAAR_RIG=${rig}"
        "MAAR_SHARED_DATA=${MAAR_SHARED_DATA}"
        "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0"
        "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp:second_deadlock_stack=1"
        "UBSAN_OPTIONS=print_stacktrace=1")
    set(reason "")
    if(NOT rig MATCHES "^(none|simulated)$")
        # Mesa's shader cache opens and closes files on its own thread, which would disturb tests
        # that count descriptors.
        list(APPEND environment "MESA_SHADER_CACHE_DISABLE=true")
        # The deadlock detector loses track of a driver's locks: it sees their acquisition but not
        # their release.
        list(TRANSFORM environment REPLACE "^(TSAN_OPTIONS=.*)$" "\\1:detect_deadlocks=0")
        if(maar_layer_settings)
            list(APPEND environment "VK_LAYER_SETTINGS_PATH=${maar_layer_settings}")
        endif()
    endif()
    maar_rig_is_noop(${rig} noop)
    if(noop)
        maar_noop_environment(${rig} more reason)
        list(APPEND environment ${more})
    elseif(rig MATCHES "^(lavapipe|swiftshader)$")
        if(rig STREQUAL "lavapipe")
            set(icd "${maar_lavapipe_icd}")
            set(source "Debian: mesa-vulkan-drivers")
        else()
            set(icd "${MAAR_SWIFTSHADER_ICD}")
            set(source "set MAAR_SWIFTSHADER_ICD")
        endif()
        if(NOT icd)
            set(reason "no ${rig} driver found (${source})")
        endif()
        list(APPEND environment "VK_ICD_FILENAMES=${icd}")
        if(maar_preload)
            list(APPEND environment "LD_PRELOAD=${maar_preload}")
        endif()
    elseif(NOT rig MATCHES "^(none|simulated|gpu)$")
        message(FATAL_ERROR "unknown rig: ${rig}")
    endif()
    set(${out} "${environment}" PARENT_SCOPE)
    set(${missing} "${reason}" PARENT_SCOPE)
endfunction()

# Appends to a list of rigs those of MAAR_EXTRA_RIGS whose kind the list contains.
function(maar_extend_rigs list)
    set(rigs ${${list}})
    foreach(rig IN LISTS MAAR_EXTRA_RIGS)
        maar_rig_is_noop(${rig} noop)
        if((noop AND "${${list}}" MATCHES "radv:") OR
                (NOT noop AND "${${list}}" MATCHES "lavapipe"))
            list(APPEND rigs ${rig})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES rigs)
    set(${list} ${rigs} PARENT_SCOPE)
endfunction()

# Returns the text behind the dot in the name of a rig's entry.
function(maar_rig_suffix rig out)
    string(REPLACE ":" "-" suffix "${rig}")
    set(${out} "${suffix}" PARENT_SCOPE)
endfunction()

# All programs that have an entry on a real driver.
add_custom_target(maar_driver_tests)

# Writes rigs/SUFFIX.env, the environment of each rig, for programs that people run by hand. This
# function is called last, when the preload is known.
function(maar_write_rig_environments)
    set(rigs lavapipe radv:navi31 ${MAAR_EXTRA_RIGS})
    list(REMOVE_DUPLICATES rigs)
    foreach(rig IN LISTS rigs)
        maar_rig_environment(${rig} environment missing)
        maar_rig_suffix(${rig} suffix)
        list(FILTER environment EXCLUDE REGEX "^(LSAN|TSAN|UBSAN)_OPTIONS=")
        list(TRANSFORM environment REPLACE "^([A-Za-z0-9_]+)=(.*)$" "export \\1='\\2'")
        list(JOIN environment "\n" text)
        if(missing)
            set(text "echo 'skipped: ${missing}' >&2\nexit 77")
        endif()
        file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/rigs/${suffix}.env CONTENT "${text}\n")
    endforeach()
endfunction()

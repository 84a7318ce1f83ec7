# What package.cmake and amalgamation.cmake share.

# Runs a command; its output is in `output`, and in the message should it fail.
function(run)
    execute_process(COMMAND ${ARGN}
        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(result)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}\nfailed (${result}):\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

# The options that find Vulkan's headers; /usr/include, named, would come before C++'s own.
macro(set_system_includes)
    set(system_includes "")
    if(NOT VULKAN STREQUAL "/usr/include")
        set(system_includes -isystem ${VULKAN})
    endif()
endmacro()

# Compiles and links the consumers of CONSUMER below `folder` without a build system. Of `flags`
# those of the amalgamation say so.
function(build_consumers_by_hand folder flags libraries)
    file(MAKE_DIRECTORY ${folder})
    set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror)
    list(APPEND flags -I${folder} ${system_includes})
    set(suffix "")
    if(COMPILER MATCHES "mingw")
        set(suffix .exe)
    endif()
    foreach(source IN ITEMS consumer consumer_device consumer_vma consumer_vma_unit)
        run(${COMPILER} -std=c99 ${warnings} ${flags}
            -c ${CONSUMER}/${source}.c -o ${folder}/${source}.o)
    endforeach()
    run(${COMPILER} ${flags} ${folder}/consumer.o ${folder}/consumer_device.o
        -o ${folder}/consumer_c99${suffix} ${libraries})
    run(${COMPILER} ${flags} ${folder}/consumer_vma.o ${folder}/consumer_vma_unit.o
        ${folder}/consumer_device.o -o ${folder}/consumer_vma_c99${suffix} ${libraries})
    if(NOT CXX)
        return()
    endif()
    set(consumer_includes "")
    if(VOLK)
        string(APPEND consumer_includes "#define VK_NO_PROTOTYPES\n#include <volk.h>\n")
        if(NOT VOLK STREQUAL "/usr/include")
            list(APPEND flags -isystem ${VOLK})
        endif()
    endif()
    if("-DCONSUMER_AMALGAMATED=1" IN_LIST flags)
        string(APPEND consumer_includes "#include \"maar.h\"\n#include \"maar_simulated.h\"\n")
    else()
        string(REPLACE "," ";" headers ${HEADERS})
        foreach(header IN LISTS headers)
            if(VOLK OR NOT header STREQUAL "volk.h")
                string(APPEND consumer_includes "#include <maar/${header}>\n")
            endif()
        endforeach()
    endif()
    configure_file(${CONSUMER}/consumer_headers.h.in ${folder}/consumer_headers.h @ONLY)
    run(${CXX} -std=c++20 ${warnings} -Wno-missing-field-initializers ${flags}
        ${CONSUMER}/consumer.cpp ${folder}/consumer_device.o
        -o ${folder}/consumer_cxx20${suffix} ${libraries})
    run(${CXX} -std=c++11 ${warnings} ${flags} -x c++ -c ${CONSUMER}/consumer_vma_unit.c
        -o ${folder}/consumer_vma_unit_cxx.o)
    run(${CXX} ${flags} ${folder}/consumer_vma.o ${folder}/consumer_vma_unit_cxx.o
        ${folder}/consumer_device.o -o ${folder}/consumer_vma_cxx11${suffix} ${libraries})
endfunction()

# Runs the consumers that were built, on Windows' side by RUNNER.
function(run_consumers folder)
    set(wanted consumer_c99 consumer_vma_c99)
    if(CXX)
        list(APPEND wanted consumer_cxx20 consumer_vma_cxx11)
    endif()
    if(ARGN)
        set(wanted ${ARGN})
    endif()
    foreach(name IN LISTS wanted)
        file(GLOB consumer ${folder}/${name} ${folder}/${name}.exe)
        if(NOT consumer)
            message(FATAL_ERROR "${name} was not built")
        endif()
        run(${RUNNER} ${consumer})
        if(NOT output STREQUAL "")
            message(STATUS "${output}")
        endif()
    endforeach()
endfunction()

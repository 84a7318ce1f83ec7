# Use Maar from another project in the way WAY, as a KIND (static or shared) library, and run what
# came of it. All below BUILD; install goes first for those that need an installed Maar.
set(here ${BUILD}/${WAY}-${KIND})
set(prefix ${BUILD}/prefix-${KIND})
set(configure
    -G ${GENERATOR}
    -DCMAKE_C_COMPILER=${COMPILER}
    -DCMAKE_BUILD_TYPE=Debug
    -DMAAR_VULKAN_INCLUDE_DIR=${VULKAN})
if(KIND STREQUAL "shared")
    list(APPEND configure -DBUILD_SHARED_LIBS=ON)
endif()

function(run)
    execute_process(COMMAND ${ARGN}
        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(result)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}\nfailed (${result}):\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${here})
if(WAY STREQUAL "install")
    # Moved after its installation: an installed Maar must not know where it lies.
    file(REMOVE_RECURSE ${prefix} ${prefix}.staged)
    # From a copy of the sources that is gone afterwards: nor where those lay.
    file(REMOVE_RECURSE ${here}.sources)
    foreach(part IN ITEMS CMakeLists.txt backends interop cmake core data include shaders support tools)
        file(COPY ${SOURCE}/${part} DESTINATION ${here}.sources)
    endforeach()
    run(${CMAKE_COMMAND} -S ${here}.sources -B ${here} ${configure}
        -DCMAKE_INSTALL_PREFIX=${prefix}.staged
        -DMAAR_BUILD_TOOLS=${TOOLS}
        -DMAAR_BUILD_TESTS=OFF -DMAAR_BUILD_SAMPLES=OFF -DMAAR_BUILD_BENCH=OFF)
    run(${CMAKE_COMMAND} --build ${here} --target install)
    file(RENAME ${prefix}.staged ${prefix})
    file(REMOVE_RECURSE ${here}.sources)
    foreach(wanted IN ITEMS
            include/maar/maar.h share/maar/profiles/cpu-lavapipe25.0.json
            share/maar/traces/captured-vkcube.csv)
        if(NOT EXISTS ${prefix}/${wanted})
            message(FATAL_ERROR "${wanted} was not installed")
        endif()
    endforeach()
    if(TOOLS)
        run(${prefix}/bin/maar info --device simulated:cpu-swiftshader)
        run(${prefix}/bin/maar replay captured-vkcube --device simulated:cpu-swiftshader)
        run(${prefix}/bin/maar replay ${prefix}/share/maar/traces/captured-vkcube.csv
            --device simulated:${prefix}/share/maar/profiles/cpu-swiftshader.json)
        execute_process(COMMAND ${prefix}/bin/maar info --device simulated:nvidia
            RESULT_VARIABLE result ERROR_VARIABLE output)
        string(FIND "${output}" "nvidia: no such profile; looked for the file \"nvidia\" and in \
${prefix}/share/maar/profiles (49 profiles; see maar info --list-profiles)" at)
        if(NOT result EQUAL 2 OR at EQUAL -1)
            message(FATAL_ERROR "for a profile that is not there (${result}): ${output}")
        endif()
    endif()
    file(GLOB_RECURSE installed RELATIVE ${prefix} ${prefix}/*)
    foreach(file IN LISTS installed)
        if(file MATCHES "\\.(c|glsl|comp)$" OR file MATCHES "include/(core|support)")
            message(FATAL_ERROR "${file} was installed, but is internal")
        endif()
    endforeach()
elseif(WAY STREQUAL "pkgconfig")
    find_program(pkg_config pkg-config)
    if(NOT pkg_config)
        message(STATUS "skipped: no pkg-config")
        return()
    endif()
    file(GLOB_RECURSE pc ${prefix}/maar.pc)
    get_filename_component(pc_dir ${pc} DIRECTORY)
    get_filename_component(lib_dir ${pc_dir} DIRECTORY)
    set(ENV{PKG_CONFIG_PATH} ${pc_dir})
    set(static "")
    if(KIND STREQUAL "static")
        set(static --static)
    endif()
    run(${pkg_config} --exact-version=${VERSION} maar)
    run(${pkg_config} --exact-version=${VERSION} maar_simulated)
    run(${pkg_config} ${static} --cflags --libs maar maar_simulated)
    separate_arguments(flags UNIX_COMMAND "${output}")
    file(MAKE_DIRECTORY ${here})
    run(${COMPILER} -std=c11 -isystem ${VULKAN} -DCONSUMER_SIMULATED=1 ${CONSUMER}/consumer.c -o ${here}/consumer
        ${flags} -Wl,-rpath,${lib_dir})
    run(${here}/consumer)
else()
    run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${here} ${configure}
        -DWAY=${WAY} -DMAAR_SOURCE=${SOURCE} -DMAAR_VERSION=${VERSION}
        -DCMAKE_PREFIX_PATH=${prefix})
    run(${CMAKE_COMMAND} --build ${here} --target consumer)
    run(${here}/consumer)
endif()

# Use Maar from another project in the way WAY, as a KIND (static or shared) library, from C99 and,
# where CXX names a compiler, from C++20, and run what came of it. All below BUILD; install goes
# first for those that need an installed Maar.
cmake_policy(VERSION 3.21)
set(here ${BUILD}/${WAY}-${KIND})
set(prefix ${BUILD}/prefix-${KIND})
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(configure
    -G ${GENERATOR}
    -DCMAKE_C_COMPILER=${COMPILER}
    -DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER}
    -DCMAKE_BUILD_TYPE=Debug
    -DMAAR_VULKAN_INCLUDE_DIR=${VULKAN})
if(KIND STREQUAL "shared")
    list(APPEND configure -DBUILD_SHARED_LIBS=ON)
endif()
if(NOT CXX)
    message(STATUS "not tried from C++20: no C++ compiler")
endif()

function(use_installed_command)
    run(${prefix}/bin/maar info --device simulated:cpu-swiftshader)
    run(${prefix}/bin/maar replay captured-vkcube --device simulated:cpu-swiftshader)
    run(${prefix}/bin/maar replay ${prefix}/share/maar/traces/captured-vkcube.csv
        --device simulated:${prefix}/share/maar/profiles/cpu-swiftshader.json)
    if(EXISTS ${prefix}/share/vulkan/implicit_layer.d/VkLayer_MAAR_capture.json)
        file(READ ${prefix}/share/vulkan/implicit_layer.d/VkLayer_MAAR_capture.json manifest)
        string(JSON library GET "${manifest}" layer library_path)
        if(IS_ABSOLUTE ${library} OR
                NOT EXISTS ${prefix}/share/vulkan/implicit_layer.d/${library})
            message(FATAL_ERROR "the layer's manifest names ${library}")
        endif()
        run(${prefix}/bin/maar capture --output ${here}.capture -- ${CMAKE_COMMAND} -E true)
    elseif(CMAKE_HOST_SYSTEM_NAME STREQUAL "Linux")
        message(FATAL_ERROR "the layer's manifest was not installed")
    endif()
    execute_process(COMMAND ${prefix}/bin/maar info --device simulated:nvidia
        RESULT_VARIABLE result ERROR_VARIABLE output)
    string(FIND "${output}" "nvidia: no such profile; looked for the file \"nvidia\" and in \
${prefix}/share/maar/profiles (49 profiles; see maar info --list-profiles)" at)
    if(NOT result EQUAL 2 OR at EQUAL -1)
        message(FATAL_ERROR "for a profile that is not there (${result}): ${output}")
    endif()
endfunction()

file(REMOVE_RECURSE ${here})
if(WAY STREQUAL "install")
    # Moved after its installation: an installed Maar must not know where it lies.
    file(REMOVE_RECURSE ${prefix} ${prefix}.staged)
    # From a copy of the sources that is gone afterwards: nor where those lay.
    file(REMOVE_RECURSE ${here}.sources)
    foreach(part IN ITEMS CMakeLists.txt LICENSE backends interop cmake core data include
            layer shaders support tools vma)
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
            include/maar/maar.h share/doc/maar/LICENSE share/maar/profiles/cpu-lavapipe25.0.json
            share/maar/traces/captured-vkcube.csv share/maar/grafana/maar.json)
        if(NOT EXISTS ${prefix}/${wanted})
            message(FATAL_ERROR "${wanted} was not installed")
        endif()
    endforeach()
    if(TOOLS)
        use_installed_command()
    endif()
    file(GLOB_RECURSE installed RELATIVE ${prefix} ${prefix}/*)
    foreach(file IN LISTS installed)
        if(file MATCHES "\\.(c|glsl|comp)$" OR file MATCHES "include/(core|support)")
            message(FATAL_ERROR "${file} was installed, but is internal")
        endif()
    endforeach()
    return()
endif()

if(WAY STREQUAL "pkgconfig")
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
    # In this order they link, were they static ones.
    run(${pkg_config} ${static} --cflags maar maar_simulated)
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(${pkg_config} ${static} --libs maar maar_simulated)
    separate_arguments(libraries UNIX_COMMAND "${output}")
    list(APPEND libraries -Wl,-rpath,${lib_dir})
    set_system_includes()
    build_consumers_by_hand(${here} "${flags}" "${libraries}")
    run_consumers(${here})
    return()
endif()

run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${here} ${configure}
    -DWAY=${WAY} -DMAAR_SOURCE=${SOURCE} -DMAAR_VERSION=${VERSION} -DMAAR_HEADERS=${HEADERS}
    -DCONSUMER_CXX=${CXX} -DCMAKE_CXX_COMPILER=${CXX} -DCONSUMER_VOLK=${VOLK}
    -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${here})
run_consumers(${here})

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
    -DCMAKE_C_FLAGS_DEBUG=-O0
    -DCMAKE_CXX_FLAGS_DEBUG=-O0
    -DMAAR_VULKAN_INCLUDE_DIR=${VULKAN})
if(KIND STREQUAL "shared")
    list(APPEND configure -DBUILD_SHARED_LIBS=ON -DMAAR_BUILD_SHARED=ON)
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
        -DMAAR_BUILD_TOOLS=${TOOLS} -DMAAR_VMA_ALIAS=ON -DMAAR_BUILD_VMA_NAMES=ON
        -DMAAR_BUILD_TESTS=OFF -DMAAR_BUILD_SAMPLES=OFF -DMAAR_BUILD_BENCH=OFF)
    run(${CMAKE_COMMAND} --build ${here} --target install)
    file(RENAME ${prefix}.staged ${prefix})
    file(REMOVE_RECURSE ${here}.sources)
    foreach(wanted IN ITEMS
            include/maar/maar.h share/doc/maar/LICENSE share/maar/profiles/cpu-lavapipe25.0.json
            share/maar/traces/captured-vkcube.csv share/maar/grafana/maar.json
            include/maar-vma/vma/vk_mem_alloc.h)
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

# As a subproject, and, shared, built alone and installed for pkg-config below.
if(WAY STREQUAL "meson")
    find_program(meson meson)
    if(NOT meson)
        message(STATUS "skipped: no meson (Debian: meson)")
        return()
    endif()
    set(ENV{CC} ${COMPILER})
    set(vulkan "")
    if(NOT VULKAN STREQUAL "/usr/include")
        set(vulkan maar:vulkan_include=${VULKAN})
    endif()
    if(KIND STREQUAL "static")
        file(COPY ${CONSUMER}/ DESTINATION ${here}/project)
        file(MAKE_DIRECTORY ${here}/project/subprojects)
        file(CREATE_LINK ${SOURCE} ${here}/project/subprojects/maar SYMBOLIC)
        file(WRITE ${here}/project/subprojects/maar.wrap
            "[wrap-file]\ndirectory = maar\n\n[provide]\n"
            "dependency_names = maar, maar-vma, maar_simulated\n")
        list(TRANSFORM vulkan PREPEND -D)
        run(${meson} setup ${vulkan} ${here}/build ${here}/project)
        run(${meson} compile -C ${here}/build)
        set(CXX "")
        run_consumers(${here}/build)
        return()
    endif()
    list(TRANSFORM vulkan REPLACE "^maar:" "-D")
    run(${meson} setup ${vulkan} -Ddefault_library=shared --prefix ${here}/prefix --libdir lib
        ${here}/build ${SOURCE})
    run(${meson} compile -C ${here}/build)
    run(${meson} install -C ${here}/build)
    if(NM)
        foreach(library IN ITEMS maar maar-simulated maar-vma)
            string(REPLACE "-" "_" file lib${library}.so)
            string(REGEX REPLACE "^maar" "symbols" list ${library})
            run(${CMAKE_COMMAND} -DNM=${NM} -DLIBRARY=${here}/prefix/lib/${file}
                -DEXPECTED=${SOURCE}/tests/abi/${list}.txt -P ${SOURCE}/tests/abi/symbols.cmake)
        endforeach()
    endif()
    set(prefix ${here}/prefix)
endif()

if(WAY STREQUAL "pkgconfig" OR WAY STREQUAL "meson")
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
    set(names "")
    if(WAY STREQUAL "pkgconfig")
        set(names maar-vma-names)
    endif()
    # In this order they link, were they static ones.
    set(packages maar-vma maar maar_simulated)
    foreach(package IN LISTS packages ITEMS ${names})
        run(${pkg_config} --exact-version=${VERSION} ${package})
    endforeach()
    run(${pkg_config} ${static} --cflags ${packages})
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(${pkg_config} ${static} --libs ${packages})
    separate_arguments(libraries UNIX_COMMAND "${output}")
    list(APPEND libraries -Wl,-rpath,${lib_dir})
    set_system_includes()
    build_consumers_by_hand(${here} "${flags}" "${libraries}")
    run_consumers(${here})
    return()
endif()

# A shared library that holds Maar exports its own functions alone, inside another project nothing is
# built that nobody uses, and what is installed is what that project says.
function(check_parent build installed)
    file(GLOB_RECURSE others ${build}/*maar_simulated.* ${build}/*libmaar_vma*)
    list(FILTER others EXCLUDE REGEX "CMakeFiles")
    list(FILTER others INCLUDE REGEX "\\.(a|so|lib|dll)")
    if(others)
        message(FATAL_ERROR "built, but not asked for: ${others}")
    endif()
    if(NM)
        run(${NM} -D --defined-only ${installed}/lib/libengine.so)
        if(NOT output MATCHES "engine_use" OR output MATCHES "maar")
            message(FATAL_ERROR "the shared library exports\n${output}")
        endif()
    endif()
    file(READ ${installed}/share/doc/engine/LICENSE licence)
    if(NOT licence MATCHES "ENGINE_H")
        message(FATAL_ERROR "Maar's licence took the place of the project's")
    endif()
endfunction()

# Whoever builds the libraries alone builds them to ship: no debug information of some 26 MB.
if(WAY STREQUAL "preset")
    run(${CMAKE_COMMAND} --preset library -S ${SOURCE} -B ${here} -G ${GENERATOR}
        -DCMAKE_C_COMPILER=${COMPILER} -DMAAR_VULKAN_INCLUDE_DIR=${VULKAN})
    file(READ ${here}/compile_commands.json commands)
    if(commands MATCHES " -g[0-9a-z]* " OR NOT commands MATCHES " -O[23] ")
        message(FATAL_ERROR "the preset library compiles with ${CMAKE_MATCH_0}")
    endif()
    return()
endif()

if(WAY STREQUAL "parent")
    foreach(too IN ITEMS OFF ON)
        set(installed ${here}/installed-${too})
        run(${CMAKE_COMMAND} -S ${CONSUMER}/../parent -B ${here}/${too} ${configure}
            -DMAAR_SOURCE=${SOURCE} -DENGINE_MAAR_TOO=${too} -DCMAKE_INSTALL_LIBDIR=lib
            -DCMAKE_INSTALL_PREFIX=${installed})
        run(${CMAKE_COMMAND} --build ${here}/${too} --target install)
        check_parent(${here}/${too} ${installed})
        run(${CMAKE_COMMAND} -S ${CONSUMER}/../parent -B ${here}/${too}-user ${configure}
            -DWAY=find -DENGINE_MAAR_TOO=${too} -DENGINE_PREFIX=${installed} -DCMAKE_PREFIX_PATH=${installed})
        run(${CMAKE_COMMAND} --build ${here}/${too}-user)
        run(${here}/${too}-user/program)
        run(${here}/${too}-user/program_static)
        file(GLOB headers ${installed}/include/maar/*.h ${installed}/share/doc/maar/LICENSE)
        if(too AND NOT headers OR headers AND NOT too)
            message(FATAL_ERROR "with MAAR_INSTALL ${too}: ${headers}")
        endif()
    endforeach()
    return()
endif()

if(WAY MATCHES "^alias_")
    if(NOT CXX)
        message(STATUS "skipped: no C++ compiler")
        return()
    endif()
    set(CONSUMER ${CONSUMER}/../vma_client)
endif()
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${here} ${configure}
    -DWAY=${WAY} -DMAAR_SOURCE=${SOURCE} -DMAAR_VERSION=${VERSION} -DMAAR_HEADERS=${HEADERS}
    -DCONSUMER_CXX=${CXX} -DCMAKE_CXX_COMPILER=${CXX} -DCONSUMER_VOLK=${VOLK}
    -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${here})
if(WAY MATCHES "^alias_")
    run_consumers(${here} consumer_vma_cxx11)
else()
    run_consumers(${here})
    run_consumers(${here} consumer_vma_names)
endif()

# Builds the tree that this port lies in: --overlay-ports=MAAR/packaging/vcpkg/ports.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)
if(NOT EXISTS "${SOURCE_PATH}/include/maar/base.h")
    message(FATAL_ERROR "This port builds the sources that it lies in, and there are none in ${SOURCE_PATH}.")
endif()

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        lz4 MAAR_LZ4
        simulated MAAR_BUILD_SIMULATED
        vma MAAR_BUILD_VMA
        vma MAAR_BUILD_VMA_NAMES
        zstd MAAR_ZSTD)
set(TOOL_OPTIONS -DMAAR_BUILD_TOOLS=OFF)
if("tools" IN_LIST FEATURES)
    # Installed where vcpkg has tools, from where the command finds its data and its libraries.
    set(TOOL_OPTIONS -DMAAR_BUILD_TOOLS=ON -DMAAR_TOOL_VMA=OFF -DMAAR_TOOL_SOURCE_DATA=
        -DCMAKE_INSTALL_BINDIR=tools/maar)
    # The layer is there once, for programs of either kind.
    set(VCPKG_POLICY_MISMATCHED_NUMBER_OF_BINARIES enabled)
endif()

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DMAAR_BUILD_TESTS=OFF
        -DMAAR_BUILD_SAMPLES=OFF
        -DMAAR_BUILD_BENCH=OFF
        -DMAAR_BUILD_GPU_CHECKS=OFF
        -DMAAR_WARNINGS=OFF
    OPTIONS_RELEASE
        ${TOOL_OPTIONS}
    OPTIONS_DEBUG
        -DMAAR_BUILD_TOOLS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/maar)
vcpkg_fixup_pkgconfig()
vcpkg_copy_pdbs()

file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")

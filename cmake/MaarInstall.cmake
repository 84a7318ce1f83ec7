# Installation: headers, libraries, the CMake package, pkg-config files, the command and its data.
include(CMakePackageConfigHelpers)

if(TARGET maar_layer)
    get_directory_property(maar_layer_manifest_dir DIRECTORY layer DEFINITION maar_layer_manifest_dir)
endif()
set(maar_installed maar)
if(TARGET maar_vma)
    list(APPEND maar_installed maar_vma)
    install(DIRECTORY vma/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/maar-vma
        FILES_MATCHING PATTERN "*.h")
endif()
if(TARGET maar_vma_names)
    list(APPEND maar_installed maar_vma_names)
endif()
if(MAAR_BUILD_SIMULATED)
    list(APPEND maar_installed maar_simulated)
    set_target_properties(maar_simulated PROPERTIES EXPORT_NAME simulated)
endif()
install(TARGETS ${maar_installed} EXPORT maarTargets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET maar_tool)
    # The command finds its libraries even after the installed tree has been moved.
    file(RELATIVE_PATH maar_libraries_from_program
        ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(maar_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${maar_libraries_from_program}")
    install(TARGETS maar_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES tools/maar.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
if(TARGET maar_layer)
    install(TARGETS maar_layer LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES ${PROJECT_BINARY_DIR}/layer/installed/VkLayer_MAAR_capture.json
        DESTINATION ${maar_layer_manifest_dir})
endif()
install(DIRECTORY include/maar DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
# Inside another project CMAKE_INSTALL_DOCDIR is that project's folder, which has its own LICENSE.
set(maar_doc_dir ${CMAKE_INSTALL_DATAROOTDIR}/doc/maar)
if(PROJECT_IS_TOP_LEVEL)
    set(maar_doc_dir ${CMAKE_INSTALL_DOCDIR})
endif()
install(FILES LICENSE DESTINATION ${maar_doc_dir})
if(MAAR_INSTALL_DATA)
    install(DIRECTORY data/frames data/grafana data/profiles data/traces
        DESTINATION ${CMAKE_INSTALL_DATADIR}/maar)
endif()

# A shared libmaar links the libraries that it was built with by itself.
set(maar_linked_libraries "")
if(NOT BUILD_SHARED_LIBS)
    set(maar_linked_libraries ${maar_used_libraries})
    list(TRANSFORM maar_used_libraries PREPEND "lib" OUTPUT_VARIABLE maar_pc_requires)
    list(JOIN maar_pc_requires " " maar_pc_requires)
endif()
set(maar_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/maar)
install(EXPORT maarTargets NAMESPACE maar:: DESTINATION ${maar_package_dir})
configure_package_config_file(cmake/maarConfig.cmake.in ${PROJECT_BINARY_DIR}/maarConfig.cmake
    INSTALL_DESTINATION ${maar_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/maarConfigVersion.cmake
    COMPATIBILITY ${maar_compatibility})
install(FILES
    ${PROJECT_BINARY_DIR}/maarConfig.cmake
    ${PROJECT_BINARY_DIR}/maarConfigVersion.cmake
    cmake/MaarLibraries.cmake
    DESTINATION ${maar_package_dir})

# Paths in these files are relative to the files, so that an installed tree may be moved.
file(RELATIVE_PATH maar_pc_prefix
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
if(BUILD_SHARED_LIBS)
    set(maar_pc_cflags "-DMAAR_SHARED=1")
endif()
if(CMAKE_DL_LIBS)
    set(maar_pc_dl "-l${CMAKE_DL_LIBS}")
endif()
foreach(maar_library IN LISTS maar_installed)
    string(REGEX REPLACE "_(vma|names)" "-\\1" maar_pc ${maar_library})
    configure_file(cmake/${maar_pc}.pc.in ${PROJECT_BINARY_DIR}/${maar_pc}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${maar_pc}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# Compile the libraries and the command against the Vulkan headers in HEADERS, and the volk beside
# them if there is one, warnings as errors.
set(volk "")
if(EXISTS ${HEADERS}/volk.c)
    set(volk -DMAAR_VOLK_INCLUDE_DIR=${HEADERS})
endif()
foreach(step IN ITEMS configure build)
    if(step STREQUAL "configure")
        set(command ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR}
            -DCMAKE_C_COMPILER=${COMPILER} -DMAAR_VULKAN_INCLUDE_DIR=${HEADERS}
            ${volk} -DMAAR_WERROR=ON -DMAAR_BUILD_TESTS=OFF -DMAAR_BUILD_SAMPLES=OFF -DMAAR_BUILD_BENCH=OFF)
    else()
        set(command ${CMAKE_COMMAND} --build ${BUILD})
    endif()
    execute_process(COMMAND ${command}
        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(result)
        message(FATAL_ERROR "${step} failed:\n${output}")
    endif()
endforeach()

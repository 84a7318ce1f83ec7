# Kernels in CUDA C, for samples and checks on a GPU. nvcc compiles them for every architecture that
# it supports. The result is an array in the program, which loads it by the CUDA driver at run time.
# No program links CUDA. Without nvcc, everything else is built.
#
# maar_add_kernels(target folder/file.cu): gives `target` the header "kernels/file_cu.h" with
#
#     static const uint32_t maar_kernels_file_cu[]
#
# and the definition MAAR_HAS_KERNELS=1. Without nvcc the definition is 0, and the header does not
# exist. MAAR_KERNEL_HEADERS names a folder of such headers from another build; where there is no
# nvcc, they are used.
option(MAAR_CUDA_KERNELS "Compile CUDA kernels of samples and checks where nvcc is found" ON)
set(MAAR_KERNEL_HEADERS "" CACHE PATH
    "Folder with kernels/*.h from another build (its kernels/include), used where nvcc is missing")
mark_as_advanced(MAAR_KERNEL_HEADERS)
find_program(MAAR_NVCC nvcc
    HINTS ENV CUDA_PATH /usr/local/cuda
    PATH_SUFFIXES bin
    DOC "CUDA compiler, for kernels of samples and checks; optional")
mark_as_advanced(MAAR_NVCC)

# nvcc rejects host compilers that are newer than itself, and may be installed without its own
# dependencies.
if(MAAR_CUDA_KERNELS AND MAAR_NVCC AND NOT DEFINED MAAR_NVCC_WORKS)
    set(attempt ${CMAKE_BINARY_DIR}/nvcc_attempt)
    file(WRITE ${attempt}.cu "extern \"C\" __global__ void attempt(float* x) { *x = 1.0f; }\n")
    execute_process(
        COMMAND ${MAAR_NVCC} --fatbin -arch=all-major -o ${attempt}.fatbin ${attempt}.cu
        RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(result EQUAL 0)
        set(works TRUE)
    else()
        set(works FALSE)
        message(STATUS "${MAAR_NVCC} cannot compile a kernel: samples are built without CUDA's")
    endif()
    set(MAAR_NVCC_WORKS ${works} CACHE INTERNAL "whether nvcc can compile a kernel")
endif()

set_property(GLOBAL PROPERTY MAAR_KERNEL_ROOT ${CMAKE_BINARY_DIR}/kernels)

function(maar_add_kernels target file)
    get_filename_component(name ${file} NAME)
    string(REPLACE "." "_" name ${name})
    if(MAAR_CUDA_KERNELS AND NOT MAAR_NVCC_WORKS AND MAAR_KERNEL_HEADERS AND
            EXISTS ${MAAR_KERNEL_HEADERS}/kernels/${name}.h)
        target_include_directories(${target} PRIVATE ${MAAR_KERNEL_HEADERS})
        target_compile_definitions(${target} PRIVATE MAAR_HAS_KERNELS=1)
        return()
    endif()
    if(NOT MAAR_CUDA_KERNELS OR NOT MAAR_NVCC_WORKS)
        target_compile_definitions(${target} PRIVATE MAAR_HAS_KERNELS=0)
        return()
    endif()
    get_property(root GLOBAL PROPERTY MAAR_KERNEL_ROOT)
    set(base ${root}/include/kernels/${name})
    file(MAKE_DIRECTORY ${root}/include/kernels)
    add_custom_command(
        OUTPUT ${base}.h
        BYPRODUCTS ${base}.fatbin
        DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${PROJECT_SOURCE_DIR}/shaders/embed.cmake
        DEPFILE ${base}.d
        COMMAND ${MAAR_NVCC} --fatbin -arch=all-major -MD -MF ${base}.d -MT ${base}.h
            -o ${base}.fatbin ${CMAKE_CURRENT_SOURCE_DIR}/${file}
        COMMAND ${CMAKE_COMMAND} -DINPUT=${base}.fatbin -DOUTPUT=${base}.h
            -DNAME=maar_kernels_${name} -P ${PROJECT_SOURCE_DIR}/shaders/embed.cmake
        COMMENT "Compiling kernels ${file}"
        VERBATIM)
    add_custom_target(maar_kernels_${name}_of_${target} DEPENDS ${base}.h)
    add_dependencies(${target} maar_kernels_${name}_of_${target})
    target_include_directories(${target} PRIVATE ${root}/include)
    target_compile_definitions(${target} PRIVATE MAAR_HAS_KERNELS=1)
endfunction()

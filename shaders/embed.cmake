# cmake -DINPUT=file.spv -DOUTPUT=file.h -DNAME=array -P embed.cmake
#
# Writes SPIR-V, or any other file whose size is a multiple of four bytes, as an array of 32-bit
# words. The compiler's SPIR-V is little-endian.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1, " words "${bytes}")
set(word "0x[0-9a-f]+, ")
string(REGEX REPLACE "(${word}${word}${word}${word}${word}${word}${word}${word})" "\\1\n    "
    words "${words}")
string(REPLACE ", \n" ",\n" words "${words}")
string(STRIP "${words}" words)
file(WRITE ${OUTPUT}
    "/* Generated. */\n#include <stdint.h>\n\n"
    "static const uint32_t ${NAME}[] = {\n    ${words}\n};\n")

# Makes a C file of the page of reports: report.html with report.css and report.js inside, as bytes.
# cmake -DFOLDER=... -DOUTPUT=... -P MaarReportPage.cmake
function(read_hex path variable)
    file(READ ${path} hex HEX)
    set(${variable} ${hex} PARENT_SCOPE)
endfunction()

function(to_hex text variable)
    string(HEX "${text}" hex)
    set(${variable} ${hex} PARENT_SCOPE)
endfunction()

# Replaces the line of a mark. Hexadecimal text has no characters that CMake treats in its own way.
function(insert page mark path variable)
    read_hex(${path} content)
    to_hex("${mark}" hex_mark)
    string(FIND "${page}" "${hex_mark}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "the page has no ${mark}")
    endif()
    string(LENGTH "${hex_mark}" length)
    string(SUBSTRING "${page}" 0 ${at} before)
    math(EXPR rest "${at} + ${length}")
    string(SUBSTRING "${page}" ${rest} -1 after)
    set(${variable} "${before}${content}${after}" PARENT_SCOPE)
endfunction()

read_hex(${FOLDER}/report.html page)
insert("${page}" "@CSS@" ${FOLDER}/report.css page)
insert("${page}" "@JS@" ${FOLDER}/report.js page)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," page "${page}")
string(REGEX REPLACE "((0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],)(0x[0-9a-f][0-9a-f],))" "\\1\n" page "${page}")
file(WRITE ${OUTPUT}
    "#include \"support/report_page.h\"\n\nconst unsigned char support_report_page[] = {\n${page}0x00};\n")

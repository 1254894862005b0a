# Turns a text file into a .cc that defines `std::string_view layerscope::model::<FUNCTION>()`.
# cmake -DINPUT=… -DOUTPUT=… -DFUNCTION=… -P embed_text.cmake
file(READ ${INPUT} text)
string(LENGTH "${text}" length)
if(length GREATER 60000)
  message(FATAL_ERROR "${INPUT}: ${length} bytes; C++ promises string literals up to 65536")
endif()
file(WRITE ${OUTPUT} "// Made from ${INPUT}.
#include \"src/model/rules.h\"

namespace layerscope::model {

std::string_view ${FUNCTION}() { return R\"embedded(${text})embedded\"; }

}  // namespace layerscope::model
")

# Turns profiles/*.toml (all but universal.toml, which is rules only) into a .cc that defines
# `layerscope::model::EmbeddedProfiles()`. cmake -DFOLDER=… -DOUTPUT=… -P embed_profiles.cmake
file(GLOB files ${FOLDER}/*.toml)
list(FILTER files EXCLUDE REGEX "/universal\\.toml$")
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(LENGTH "${text}" length)
  if(length GREATER 60000)
    message(FATAL_ERROR "${file}: ${length} bytes; C++ promises string literals up to 65536")
  endif()
  get_filename_component(name ${file} NAME)
  string(APPEND entries "      {\"profiles/${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made from the files of ${FOLDER}.
#include \"src/model/embedded_profiles.h\"

namespace layerscope::model {

const std::vector<EmbeddedFile>& EmbeddedProfiles() {
  static const std::vector<EmbeddedFile> kFiles = {
${entries}  };
  return kFiles;
}

}  // namespace layerscope::model
")

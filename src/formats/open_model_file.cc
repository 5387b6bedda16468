#include <new>

#include "formats/gguf/gguf_reader.h"
#include "formats/model_file.h"

namespace candor {

Result<std::shared_ptr<const ModelFile>> OpenModelFile(const std::string& path) {
  try {
    CANDOR_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
    return OpenGguf(file, MappedFile::Open);
  } catch (const std::bad_alloc&) {
    return ResourceExhaustedError(
        "{}: expected memory for the file's metadata, got none; free some memory or fetch the file again", path);
  }
}

}  // namespace candor

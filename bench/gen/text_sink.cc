#include "bench/gen/text_sink.h"

namespace layerscope::gen {

TextSink::~TextSink() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

bool TextSink::Open(const std::string& path) {
  file_ = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  buffer_.reserve(kFlushBytes + (1 << 16));
  return file_ != nullptr;
}

void TextSink::Flush() {
  failed_ |= std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size();
  written_ += static_cast<int64_t>(buffer_.size());
  buffer_.clear();
}

bool TextSink::Finish() {
  Flush();
  failed_ |= std::fflush(file_) != 0;
  if (file_ != stdout) failed_ |= std::fclose(file_) != 0;
  file_ = nullptr;
  return !failed_;
}

}  // namespace layerscope::gen

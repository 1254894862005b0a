#pragma once

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/io/byte_source.h"

namespace layerscope::io {

/// Text of `bytes` bytes that compresses about as well as a trace: repeated keys, varying numbers.
inline std::string TraceLikeText(size_t bytes) {
  std::string text;
  uint32_t state = 12345;
  while (text.size() < bytes) {
    state = state * 1664525U + 1013904223U;
    text += R"({"ph": "X", "cat": "kernel", "name": "gemm_)" + std::to_string(state >> 28) +
            R"(", "ts": )" + std::to_string(state) + "},\n";
  }
  text.resize(bytes);
  return text;
}

/// One gzip member.
inline std::string GzipMember(std::string_view text) {
  std::string member(text.size() + text.size() / 8 + 512, '\0');
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uint32_t>(text.size());
  stream.next_out = reinterpret_cast<uint8_t*>(member.data());
  stream.avail_out = static_cast<uint32_t>(member.size());
  isal_deflate(&stream);
  member.resize(stream.total_out);
  return member;
}

/// One zstd frame with a checksum.
inline std::string ZstdFrame(std::string_view text) {
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return frame;
}

/// Reads to the end in spans of `span_bytes`, or until `limit` bytes came. `*short_reads` counts
/// spans that were left partly empty; one at most, the last, may be.
inline std::string ReadAll(ByteSource& source, size_t span_bytes, int* short_reads = nullptr,
                           size_t limit = size_t{1} << 30) {
  std::string all;
  std::string span(span_bytes, '\0');
  while (all.size() < limit) {
    const base::Result<size_t> got = source.Read(std::span<char>(span.data(), span.size()));
    if (!got.ok()) return "error: " + got.error().message;
    if (*got == 0) break;
    if (*got < span.size() && short_reads != nullptr) ++*short_reads;
    all.append(span, 0, *got);
  }
  return all;
}

}  // namespace layerscope::io

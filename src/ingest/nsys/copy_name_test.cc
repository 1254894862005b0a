#include "src/ingest/nsys/copy_name.h"

#include <gtest/gtest.h>

namespace layerscope::ingest::nsys {
namespace {

// Ids are those of ENUM_CUDA_MEMCPY_OPER and ENUM_CUDA_MEM_KIND (formats/nsys_schema.md); names are
// those of the PyTorch traces in ../shared/traces.

TEST(CopyName, NamesAreThoseOfThePyTorchProfiler) {
  EXPECT_EQ(MemcpyName(1, 0, 2), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(MemcpyName(1, 1, 2), "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(MemcpyName(2, 2, 1), "Memcpy DtoH (Device -> Pinned)");
  EXPECT_EQ(MemcpyName(8, 2, 2), "Memcpy DtoD (Device -> Device)");
  EXPECT_EQ(MemcpyName(10, 2, 2), "Memcpy PtoP (Device -> Device)");
  EXPECT_EQ(MemsetName(2), "Memset (Device)");
}

TEST(CopyName, WhatIsNotRecordedIsUnknown) {
  EXPECT_EQ(MemcpyName(-1, -1, 99), "Memcpy Unknown (Unknown -> Unknown)");
  EXPECT_EQ(MemsetName(7), "Memset (Unknown)");
}

}  // namespace
}  // namespace layerscope::ingest::nsys

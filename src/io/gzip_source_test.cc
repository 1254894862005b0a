#include "src/io/gzip_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "src/io/raw_source.h"

#include "tests/support/compressed_fixture.h"

namespace layerscope::io {
namespace {

constexpr size_t kSpan = size_t{1} << 16;

GzipSource Open(std::string_view bytes, size_t capacity = InputBuffer::kDefaultCapacity) {
  return GzipSource(InputBuffer(OpenRawMemory(bytes), capacity));
}

TEST(GzipSource, ReadsWhatAnotherProgramWrote) {
  // Written by Python's gzip module (zlib), with a file name in the header.
  const std::string_view bytes(
      "\x1f\x8b\x08\x08\x00\x00\x00\x00\x02\xff\x61\x2e\x6a\x73\x6f\x6e\x00\xab\x56\x2a\x29\x4a\x4c"
      "\x4e\x75\x2d\x4b\xcd\x2b\x29\x56\xb2\x52\x88\x8e\xad\xe5\x02\x00\x3a\x10\xcf\x2a\x14\x00\x00"
      "\x00",
      47);
  GzipSource source = Open(bytes);
  EXPECT_EQ(ReadAll(source, kSpan), "{\"traceEvents\": []}\n");
  EXPECT_EQ(source.damage(), "");
  EXPECT_EQ(source.bytes_consumed(), 47);
  EXPECT_EQ(source.bytes_total(), 47);
}

TEST(GzipSource, AnyInputPieceAndAnySpanGiveTheSameText) {
  const std::string a = TraceLikeText(200'000);
  const std::string b = TraceLikeText(70'001);
  const std::string bytes = GzipMember(a) + GzipMember("") + GzipMember(b) + GzipMember("x");
  for (const size_t capacity : {1, 2, 3, 7, 19, 1000, 65536}) {
    for (const size_t span : {1, 17, 4096, 100'000, 1'000'000}) {
      GzipSource source = Open(bytes, capacity);
      int short_reads = 0;
      ASSERT_TRUE(ReadAll(source, span, &short_reads) == a + b + "x")
          << "capacity " << capacity << ", span " << span;
      EXPECT_LE(short_reads, 1);
      EXPECT_EQ(source.damage(), "");
    }
  }
}

TEST(GzipSource, CutAtEveryLengthGivesAPrefixAndSaysSo) {
  const std::string text = TraceLikeText(3000);
  const std::string member = GzipMember(text);
  const std::string bytes = member + member;
  for (size_t length = 1; length < bytes.size(); ++length) {
    for (const size_t capacity : {5, 100'000}) {
      GzipSource source = Open(std::string_view(bytes).substr(0, length), capacity);
      const std::string got = ReadAll(source, 1000);
      ASSERT_TRUE((text + text).starts_with(got)) << length;
      if (length >= member.size()) {
        ASSERT_GE(got.size(), text.size()) << length;
      }
      ASSERT_EQ(source.damage().empty(), length == member.size()) << length;
    }
  }
}

TEST(GzipSource, ACutLosesLittleOfALongText) {
  const std::string text = TraceLikeText(500'000);
  const std::string member = GzipMember(text);
  for (size_t length = 5000; length < member.size(); length += 9973) {
    GzipSource source = Open(std::string_view(member).substr(0, length), 4096);
    const std::string got = ReadAll(source, 100'000);
    ASSERT_TRUE(text.starts_with(got)) << length;
    // Deflate needs a few bytes beyond a symbol; what is before them must have come out.
    ASSERT_GE(got.size() + 2000, text.size() * length / member.size() * 9 / 10) << length;
    EXPECT_NE(source.damage().find("gzip member 1, at compressed byte " + std::to_string(length)),
              std::string::npos)
        << source.damage();
  }
}

TEST(GzipSource, ASpoiledByteAnywhereNeverCrashesAndIsAlwaysNoticed) {
  const std::string text = TraceLikeText(3000);
  const std::string good = GzipMember(text) + GzipMember(text);
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      GzipSource source = Open(bytes, 64);
      const std::string got = ReadAll(source, 777);
      // Header fields that carry no data (time, system, hints) may change unseen.
      ASSERT_TRUE(got == text + text || !source.damage().empty()) << at;
      ASSERT_LT(got.size(), size_t{4'000'000}) << at;
    }
  }
}

TEST(GzipSource, DeliversWhatCameBeforeASpoiledBlock) {
  const std::string text = TraceLikeText(300'000);
  std::string bytes = GzipMember(text);
  const size_t at = bytes.size() / 2;
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(at),
            bytes.begin() + static_cast<std::ptrdiff_t>(at) + 64, '\xff');
  GzipSource source = Open(bytes);
  const std::string got = ReadAll(source, 1 << 20);
  const auto same = std::mismatch(got.begin(), got.end(), text.begin(), text.end());
  EXPECT_GT(same.first - got.begin(), 100'000);
  EXPECT_NE(source.damage(), "");
}

TEST(GzipSource, ZerosAfterTheLastMemberArePadding) {
  const std::string text = TraceLikeText(1000);
  const std::string bytes = GzipMember(text) + std::string(10'000, '\0');
  GzipSource source = Open(bytes, 512);
  EXPECT_EQ(ReadAll(source, kSpan), text);
  EXPECT_EQ(source.damage(), "");
}

TEST(GzipSource, OtherBytesAfterTheLastMemberAreIgnoredAndReported) {
  const std::string text = TraceLikeText(1000);
  const std::string bytes = GzipMember(text) + std::string(3, '\0') + "junk";
  GzipSource source = Open(bytes);
  EXPECT_EQ(ReadAll(source, kSpan), text);
  EXPECT_NE(source.damage().find("gzip member 2"), std::string::npos) << source.damage();
  EXPECT_NE(source.damage().find("no gzip header"), std::string::npos) << source.damage();
}

TEST(GzipSource, AnUnknownMethodIsDamageWithoutText) {
  const std::string_view bytes("\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x03zzzz", 14);
  GzipSource source = Open(bytes);
  EXPECT_EQ(ReadAll(source, kSpan), "");
  EXPECT_NE(source.damage().find("unknown compression method"), std::string::npos)
      << source.damage();
}

TEST(GzipSource, AMegabyteOfZerosAMemberStreamsWithoutGrowth) {
  const std::string member = GzipMember(std::string(1'000'000, '\0'));
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += member;
  GzipSource source = Open(bytes);
  std::string span(kSpan, '\1');
  size_t total = 0;
  for (;;) {
    const base::Result<size_t> got = source.Read(std::span<char>(span.data(), span.size()));
    ASSERT_TRUE(got.ok());
    if (*got == 0) break;
    total += *got;
  }
  EXPECT_EQ(total, size_t{100'000'000});
  EXPECT_EQ(source.damage(), "");
}

}  // namespace
}  // namespace layerscope::io

#include "src/io/zstd_source.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "src/io/raw_source.h"

#include "tests/support/compressed_fixture.h"

namespace layerscope::io {
namespace {

constexpr size_t kSpan = size_t{1} << 16;

ZstdSource Open(std::string_view bytes, size_t capacity = InputBuffer::kDefaultCapacity) {
  return ZstdSource(InputBuffer(OpenRawMemory(bytes), capacity));
}

/// RFC 8878 section 3.1.2: magic 0x184D2A5x, four bytes of length, that many bytes.
std::string SkippableFrame() {
  return std::string("\x53\x2a\x4d\x18\x03\x00\x00\x00zzz", 11);
}

TEST(ZstdSource, AnyInputPieceAndAnySpanGiveTheSameText) {
  const std::string a = TraceLikeText(200'000);
  const std::string b = TraceLikeText(50'001);
  const std::string bytes =
      SkippableFrame() + ZstdFrame(a) + ZstdFrame("") + SkippableFrame() + ZstdFrame(b);
  for (const size_t capacity : {1, 3, 1000, 65536}) {
    for (const size_t span : {1, 17, 4096, 100'000, 1'000'000}) {
      ZstdSource source = Open(bytes, capacity);
      int short_reads = 0;
      ASSERT_TRUE(ReadAll(source, span, &short_reads) == a + b)
          << "capacity " << capacity << ", span " << span;
      EXPECT_LE(short_reads, 1);
      EXPECT_EQ(source.damage(), "");
    }
  }
}

TEST(ZstdSource, CutAtEveryLengthGivesAPrefixAndSaysSo) {
  const std::string text = TraceLikeText(3000);
  const std::string frame = ZstdFrame(text);
  const std::string bytes = frame + frame;
  for (size_t length = 1; length < bytes.size(); ++length) {
    for (const size_t capacity : {5, 100'000}) {
      ZstdSource source = Open(std::string_view(bytes).substr(0, length), capacity);
      const std::string got = ReadAll(source, 1000);
      ASSERT_TRUE((text + text).starts_with(got)) << length;
      if (length >= frame.size()) {
        ASSERT_GE(got.size(), text.size()) << length;
      }
      ASSERT_EQ(source.damage().empty(), length == frame.size()) << length;
    }
  }
}

TEST(ZstdSource, ASpoiledByteAnywhereNeverCrashesAndIsAlwaysNoticed) {
  const std::string text = TraceLikeText(3000);
  const std::string good = ZstdFrame(text) + ZstdFrame(text);
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      ZstdSource source = Open(bytes, 64);
      const std::string got = ReadAll(source, 777);
      // A frame turned into a skippable one is the one change that no format could notice.
      const bool skippable = ZstdSource::StartsFrame(reinterpret_cast<uint8_t*>(bytes.data())) &&
                             got.size() < 2 * text.size();
      ASSERT_TRUE(got == text + text || !source.damage().empty() || skippable) << at;
      ASSERT_LT(got.size(), size_t{4'000'000}) << at;
    }
  }
}

TEST(ZstdSource, ZerosAfterTheLastFrameArePaddingOtherBytesAreReported) {
  const std::string text = TraceLikeText(1000);
  const std::string padded = ZstdFrame(text) + std::string(10'000, '\0');
  ZstdSource quiet = Open(padded, 512);
  EXPECT_EQ(ReadAll(quiet, kSpan), text);
  EXPECT_EQ(quiet.damage(), "");

  const std::string spoiled = ZstdFrame(text) + "junk";
  ZstdSource loud = Open(spoiled);
  EXPECT_EQ(ReadAll(loud, kSpan), text);
  EXPECT_NE(loud.damage().find("zstd frame 2"), std::string::npos) << loud.damage();
}

}  // namespace
}  // namespace layerscope::io

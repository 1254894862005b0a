// layerscope-floor: the least that any reader of a trace must do, as the yardstick of `make bench`.
//
// The whole input is read (and, when it is gzip, decompressed with ISA-L) into memory; then one
// thread makes one simdjson on-demand pass that reads name, cat, ts, dur and args.correlation of
// every event and adds them up. Nothing is stored, nothing is repaired. Input under 4 GiB.

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace layerscope::bench {
namespace {

namespace od = simdjson::ondemand;

struct Text {
  std::unique_ptr<char[]> data;
  size_t size = 0;
  size_t capacity = 0;
};

struct Sums {
  uint64_t events = 0;
  uint64_t ts_ns = 0;  // modulo 2^64
  uint64_t dur_ns = 0;
  uint64_t correlation = 0;
  uint64_t name_bytes = 0;
  uint64_t cat_bytes = 0;
};

void Reserve(Text* text, size_t capacity) {
  if (capacity <= text->capacity) return;
  std::unique_ptr<char[]> larger(new char[capacity]);
  if (text->size > 0) std::memcpy(larger.get(), text->data.get(), text->size);
  text->data = std::move(larger);
  text->capacity = capacity;
}

bool ReadFile(const char* path, Text* text) {
  const int file = open(path, O_RDONLY);
  if (file < 0) return false;
  struct stat info = {};
  bool ok = fstat(file, &info) == 0;
  Reserve(text, static_cast<size_t>(info.st_size) + simdjson::SIMDJSON_PADDING);
  while (ok && text->size < static_cast<size_t>(info.st_size)) {
    const ssize_t got =
        read(file, text->data.get() + text->size, static_cast<size_t>(info.st_size) - text->size);
    ok = got > 0;
    if (ok) text->size += static_cast<size_t>(got);
  }
  close(file);
  return ok;
}

bool IsGzip(const Text& text) {
  return text.size > 18 && text.data[0] == '\x1f' && text.data[1] == '\x8b';
}

// The size that a gzip file of one member declares in its last four bytes.
size_t DeclaredSize(const Text& packed) {
  uint32_t size = 0;
  std::memcpy(&size, packed.data.get() + packed.size - sizeof(size), sizeof(size));
  return size;
}

bool Inflate(const Text& packed, Text* text) {
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<uint8_t*>(packed.data.get());
  state.avail_in = static_cast<uint32_t>(packed.size);
  Reserve(text, DeclaredSize(packed) + simdjson::SIMDJSON_PADDING + 1);
  while (true) {
    const size_t room = text->capacity - text->size - simdjson::SIMDJSON_PADDING;
    state.next_out = reinterpret_cast<uint8_t*>(text->data.get() + text->size);
    state.avail_out = static_cast<uint32_t>(std::min<size_t>(room, 1u << 30));
    const uint32_t offered = state.avail_out;
    if (isal_inflate(&state) != ISAL_DECOMP_OK) return false;
    text->size += offered - state.avail_out;
    if (state.block_state == ISAL_BLOCK_FINISH) {
      if (state.avail_in == 0) return true;
      isal_inflate_reset(&state);  // another member follows
      state.crc_flag = ISAL_GZIP;
    } else if (state.avail_in == 0 && state.avail_out > 0) {
      return false;  // cut short
    }
    if (text->capacity - text->size <= simdjson::SIMDJSON_PADDING + 1)
      Reserve(text, text->capacity * 2);
  }
}

// Decimal microseconds with up to three decimals as nanoseconds; the generator writes no others.
uint64_t Nanoseconds(std::string_view token) {
  uint64_t value = 0;
  int decimals = -1;
  for (const char c : token) {
    if (c == '.') {
      decimals = 0;
    } else if (c >= '0' && c <= '9') {
      value = value * 10 + static_cast<uint64_t>(c - '0');
      if (decimals >= 0) ++decimals;
    } else {
      break;
    }
  }
  for (int i = std::max(decimals, 0); i < 3; ++i) value *= 10;
  return value;
}

// The string as a reader needs it: escapes decoded.
uint64_t StringBytes(od::value value) {
  return std::string_view(value.get_string()).size();
}

void AddEvent(od::object event, Sums* sums) {
  ++sums->events;
  for (od::field field : event) {
    const od::raw_json_string key = field.key();
    if (key == "name") {
      sums->name_bytes += StringBytes(field.value());
    } else if (key == "cat") {
      sums->cat_bytes += StringBytes(field.value());
    } else if (key == "ts") {
      sums->ts_ns += Nanoseconds(field.value().raw_json_token());
    } else if (key == "dur") {
      sums->dur_ns += Nanoseconds(field.value().raw_json_token());
    } else if (key == "args") {
      uint64_t correlation = 0;
      if (field.value().get_object().find_field("correlation").get(correlation) ==
          simdjson::SUCCESS)
        sums->correlation += correlation;
    }
  }
}

Sums ReadTrace(const Text& text) {
  od::parser parser;
  od::document document = parser.iterate(text.data.get(), text.size, text.capacity);
  Sums sums;
  od::array events;
  if (document.type() == od::json_type::array) {
    events = document.get_array();
  } else {
    events = document.find_field("traceEvents").get_array();
  }
  for (od::object event : events) AddEvent(event, &sums);
  return sums;
}

int Run(const char* path) {
  Text text;
  if (!ReadFile(path, &text)) {
    std::fprintf(stderr, "layerscope-floor: cannot read %s\n", path);
    return 3;
  }
  if (IsGzip(text)) {
    const Text packed = std::move(text);
    text = Text();
    if (!Inflate(packed, &text)) {
      std::fprintf(stderr, "layerscope-floor: %s is not whole gzip data\n", path);
      return 3;
    }
  }
  const Sums sums = ReadTrace(text);
  std::printf(
      "{\"events\": %llu, \"sum_ts_ns\": \"%llu\", \"sum_dur_ns\": %llu, "
      "\"sum_correlation\": %llu, \"name_bytes\": %llu, \"cat_bytes\": %llu}\n",
      static_cast<unsigned long long>(sums.events), static_cast<unsigned long long>(sums.ts_ns),
      static_cast<unsigned long long>(sums.dur_ns),
      static_cast<unsigned long long>(sums.correlation),
      static_cast<unsigned long long>(sums.name_bytes),
      static_cast<unsigned long long>(sums.cat_bytes));
  return 0;
}

}  // namespace
}  // namespace layerscope::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: layerscope-floor TRACE(.gz)\n");
    return 2;
  }
  try {
    return layerscope::bench::Run(argv[1]);
  } catch (const simdjson::simdjson_error& error) {
    std::fprintf(stderr, "layerscope-floor: %s\n", error.what());
    return 3;
  }
}

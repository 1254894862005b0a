#include "src/ingest/kineto/event_parser.h"

#include <simdjson.h>

#include "src/ingest/kineto/event_fields.h"
#include "src/ingest/kineto/row_writer.h"
#include "src/ingest/kineto/token.h"

namespace layerscope::ingest::kineto {
namespace {

namespace ondemand = simdjson::ondemand;

/// `[` and `]` stand around the slice while this lives; the bytes that were there come back.
class Brackets {
 public:
  Brackets(char* text, size_t size) : before_(text - 1), after_(text + size) {
    saved_before_ = *before_;
    saved_after_ = *after_;
    *before_ = '[';
    *after_ = ']';
  }
  ~Brackets() {
    *before_ = saved_before_;
    *after_ = saved_after_;
  }
  Brackets(const Brackets&) = delete;
  Brackets& operator=(const Brackets&) = delete;

 private:
  char* before_;
  char* after_;
  char saved_before_;
  char saved_after_;
};

}  // namespace

struct EventParser::Impl {
  ondemand::parser parser;
  RowWriter writer;
  Dictionary::Extent taken;
  EventFields* kept_fields = nullptr;

  bool ReadArgs(ondemand::value value, ArgFields& args);
  bool ReadArgsAgain(ondemand::object& event, ArgFields& args);
  bool ReadEvent(ondemand::object& event, int64_t offset, Batch& batch);
  bool ReadElement(ondemand::value value, const char* text, int64_t offset, Batch& batch);
  bool ReadList(ondemand::document& document, const char* text, int64_t offset, Batch& batch);
};

namespace {

/// The token of a scalar, which is passed; containers give their first bracket. False where
/// simdjson's own skipping would go on although no value stands here: it takes a string that a
/// colon follows for a key, and any closing bracket for a scalar. An event must read the same in a
/// list and alone.
bool PassScalar(ondemand::value& value, std::string_view& token) {
  token = value.raw_json_token();
  if (token.empty()) return false;
  switch (token.front()) {
    case '"':
      return value.get_raw_json_string().error() == simdjson::SUCCESS;
    case ']':
    case '}':
    case ':':
    case ',':
      return false;
    default:
      return true;
  }
}

/// Does a value stand at `at` that a comma or bracket follows, as far as strings go?
bool IsItem(std::string_view text, size_t at) {
  if (at >= text.size() || std::string_view("}:,").find(text[at]) != std::string_view::npos) {
    return false;
  }
  if (text[at] != '"') return true;
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  const size_t next = text.find_first_not_of(" \t\r\n", at + 1);
  return next != std::string_view::npos && text[next] != ':';
}

/// The text of an array. Its first item is looked at for the same reason as above.
bool PassArray(ondemand::value& value, std::string_view& text) {
  ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return false;
  if (array.raw_json().get(text) != simdjson::SUCCESS) return false;
  return IsItem(text, text.find_first_not_of(" \t\r\n", 1));
}

/// The raw text of a value: tokens of scalars, whole arrays.
bool RawText(ondemand::value value, std::string_view& out) {
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) {
    // Neither a container nor a JSON scalar: bare NaN and its like. The token is kept as text.
    const bool passed = PassScalar(value, out);
    out = Trimmed(out);
    return passed;
  }
  if (type == ondemand::json_type::array) {
    if (!PassArray(value, out)) return false;
  } else if (type != ondemand::json_type::object && !PassScalar(value, out)) {
    return false;
  }
  out = Trimmed(out);
  return true;
}

}  // namespace

bool EventParser::Impl::ReadArgs(ondemand::value value, ArgFields& args) {
  ondemand::json_type type{};
  const bool is_object =
      value.type().get(type) == simdjson::SUCCESS && type == ondemand::json_type::object;
  std::string_view unused;
  if (!is_object) return PassScalar(value, unused);
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return false;
  for (auto field_result : object) {
    ondemand::field field;
    if (std::move(field_result).get(field) != simdjson::SUCCESS) return false;
    const auto target = FindArgField(field.key().raw());
    if (!(target != nullptr ? RawText(field.value(), args.*target)
                            : PassScalar(field.value(), unused))) {
      return false;
    }
  }
  return true;
}

/// Some writers sort their keys, so that `args` stands before `cat` and `ph`.
bool EventParser::Impl::ReadArgsAgain(ondemand::object& event, ArgFields& args) {
  if (event.reset().error() != simdjson::SUCCESS) return false;
  for (auto field_result : event) {
    ondemand::field field;
    if (std::move(field_result).get(field) != simdjson::SUCCESS) return false;
    if (IsArgsKey(field.key().raw()) && !ReadArgs(field.value(), args)) return false;
  }
  return true;
}

bool EventParser::Impl::ReadEvent(ondemand::object& event, int64_t offset, Batch& batch) {
  EventFields fields;
  ArgFields args;
  bool args_passed = false;
  for (auto field_result : event) {
    ondemand::field field;
    if (std::move(field_result).get(field) != simdjson::SUCCESS) return false;
    const char* const key = field.key().raw();
    const auto target = FindEventField(key);
    const bool is_args = target == nullptr && IsArgsKey(key);
    const bool kind_known = !fields.ph.empty() && (!fields.cat.empty() || fields.ph == "\"M\"");
    std::string_view unused;
    if (is_args && kind_known && writer.NeedsArgs(fields)) {
      if (!ReadArgs(field.value(), args)) return false;
    } else if (!PassScalar(field.value(), target != nullptr ? fields.*target : unused)) {
      return false;
    }
    if (target != nullptr) fields.*target = Trimmed(fields.*target);
    args_passed |= is_args && !kind_known;
  }
  if (args_passed && writer.NeedsArgs(fields) && !ReadArgsAgain(event, args)) return false;
  writer.Write(fields, args, offset, batch);
  if (kept_fields != nullptr) *kept_fields = fields;
  return true;
}

bool EventParser::Impl::ReadElement(ondemand::value value, const char* text, int64_t offset,
                                    Batch& batch) {
  const std::string_view token = value.raw_json_token();
  // Elements that are no objects are rare and simdjson is lenient about what follows them: the
  // caller takes such a list apart element by element.
  if (token.empty() || token.front() != '{') return false;
  const int64_t at = offset < 0 ? -1 : offset + (token.data() - text);
  ondemand::object event;
  if (value.get_object().get(event) != simdjson::SUCCESS) return false;
  return ReadEvent(event, at, batch);
}

bool EventParser::Impl::ReadList(ondemand::document& document, const char* text, int64_t offset,
                                 Batch& batch) {
  ondemand::array list;
  if (document.get_array().get(list) != simdjson::SUCCESS) return false;
  for (auto element : list) {
    ondemand::value value;
    if (std::move(element).get(value) != simdjson::SUCCESS) return false;
    if (!ReadElement(value, text, offset, batch)) return false;
  }
  return true;
}

EventParser::EventParser() : impl_(std::make_unique<Impl>()) {}
EventParser::~EventParser() = default;

SliceOutcome EventParser::Parse(char* text, size_t size, int64_t offset, Batch& batch) {
  const Brackets brackets(text, size);
  const simdjson::padded_string_view view(text - kBytesBefore, size + 2, size + 1 + kBytesAfter);
  ondemand::document document;
  SliceOutcome outcome;
  const bool scanned = impl_->parser.iterate(view).get(document) == simdjson::SUCCESS;
  outcome.ok = scanned && impl_->ReadList(document, text, offset, batch);
  impl_->writer.Flush(batch);
  if (!outcome.ok) return outcome;
  const char* next = nullptr;
  if (document.current_location().get(next) != simdjson::SUCCESS) next = text + size + 1;
  // Between a token and the next there is only white space: walk back to the bracket that ended the
  // list. It is either ours, behind the slice, or the document's own.
  const char* bracket = next - 1;
  while (bracket > text && *bracket != ']') --bracket;
  if (bracket < text + size) outcome.array_end = bracket - text;
  return outcome;
}

void EventParser::KeepFields(EventFields* fields) {
  impl_->kept_fields = fields;
}

void EventParser::TakeDelta(Batch& batch) {
  const Dictionary& all = impl_->writer.dictionary();
  const Dictionary::Extent now = all.extent();
  Dictionary::Extent& taken = impl_->taken;
  for (size_t i = taken.strings; i < now.strings; ++i) {
    batch.delta.strings.push_back(all.strings()[trace::StringId(i)]);
  }
  const auto copy = [](auto& to, const auto& from, size_t begin, size_t end) {
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
              from.begin() + static_cast<std::ptrdiff_t>(end));
  };
  copy(batch.delta.processes, all.processes(), taken.processes, now.processes);
  copy(batch.delta.threads, all.threads(), taken.threads, now.threads);
  copy(batch.delta.devices, all.devices(), taken.devices, now.devices);
  copy(batch.delta.streams, all.streams(), taken.streams, now.streams);
  copy(batch.delta.args, all.args(), taken.args, now.args);
  taken = now;
}

}  // namespace layerscope::ingest::kineto

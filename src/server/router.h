#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/server/access.h"
#include "src/server/answer_cache.h"
#include "src/session/view_source.h"

namespace layerscope::server {

/// What of a request decides the answer; absent headers are empty.
struct RequestHead {
  std::string_view method;
  std::string_view target;
  std::string_view host;
  std::string_view origin;
  std::string_view authorization;
  bool has_body = false;
};

/// What to do with a request.
struct Route {
  enum class Kind : uint8_t {
    kAnswer,   ///< `answer` is the whole of it
    kPage,     ///< the viewer
    kCompute,  ///< `compute` makes it; answers of one `key` are the same
  };
  Kind kind = Kind::kAnswer;
  Answer answer{};
  std::string key{};
  std::function<Answer()> compute{};  ///< may take long; does not throw
  bool close = false;                 ///< the rest of the connection cannot be trusted
};

/// Decides who may ask what. Nothing here opens a file: the paths are a fixed few, and options that
/// name files are refused.
class Router {
 public:
  /// Both outlive this. `has_page`: the program was built with the viewer.
  Router(const Access& access, const session::ViewSource& source, bool has_page);

  Route Decide(const RequestHead& request) const;

 private:
  Route Api(std::string_view path, std::map<std::string, std::string> query) const;

  const Access& access_;
  const session::ViewSource& source_;
  bool has_page_;
  std::string index_;  ///< /api/view
};

/// The HTTP status of an error: 400 usage, 404 not found, 422 what these inputs cannot answer.
int StatusOf(base::ErrorCode code);

/// An error as the envelope of CLI.md rule 3.
Answer ErrorAnswer(int status, std::string_view command, const base::Error& error);

}  // namespace layerscope::server

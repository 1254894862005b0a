#include "src/server/router.h"

#include <fmt/format.h>

#include <exception>
#include <map>
#include <new>
#include <utility>

#include "src/render/render.h"
#include "src/server/page.h"
#include "src/server/request_target.h"

namespace layerscope::server {
namespace {

constexpr std::string_view kAnalysisPath = "/api/analysis/";
constexpr std::string_view kDocumentPath = "/api/document/";

Route Answered(Answer answer) {
  Route route;
  route.answer = std::move(answer);
  return route;
}

Route Refuse(int status, std::string message, std::string hint, bool close = false) {
  Route route = Answered(
      ErrorAnswer(status, "view", {base::ErrorCode::kUsage, std::move(message), std::move(hint)}));
  route.close = close;
  return route;
}

/// No exception leaves it: an answer says what went wrong.
template <typename Ask>
Answer Computed(const std::string& command, Ask ask) {
  base::Error error;
  try {
    base::Result<std::string> text = ask();
    if (text.ok()) return {200, *std::move(text)};
    error = std::move(text).error();
  } catch (const std::bad_alloc&) {
    error = {base::ErrorCode::kFailed, "not enough memory", "ask for fewer rows or a part of it"};
  } catch (const std::exception& thrown) {
    error = {base::ErrorCode::kFailed, thrown.what(), {}};
  }
  return ErrorAnswer(StatusOf(error.code), command, error);
}

}  // namespace

int StatusOf(base::ErrorCode code) {
  switch (code) {
    case base::ErrorCode::kUsage:
      return 400;
    case base::ErrorCode::kNotFound:
      return 404;
    case base::ErrorCode::kFailed:
    case base::ErrorCode::kInvalidInput:
    case base::ErrorCode::kStrictViolated:
      return 422;
    case base::ErrorCode::kCancelled:
      return 503;
  }
  return 500;
}

Answer ErrorAnswer(int status, std::string_view command, const base::Error& error) {
  return {status, render::RenderError(command, error)};
}

Router::Router(const Access& access, const session::ViewSource& source, bool has_page)
    : access_(access), source_(source), has_page_(has_page), index_(source.IndexJson(true, {})) {}

Route Router::Decide(const RequestHead& request) const {
  if (!access_.AllowsHost(request.host)) {
    return Refuse(403, "the request names another host",
                  "open the address that `layerscope view` printed");
  }
  if (!access_.AllowsOrigin(request.origin)) {
    return Refuse(403, "a page of elsewhere may not ask", {});
  }
  if (request.method != "GET" && request.method != "HEAD") {
    return Refuse(405, "only GET and HEAD are answered: nothing here can be changed", {},
                  request.has_body);
  }
  if (request.has_body) return Refuse(413, "a request has no body here", {}, true);
  if (request.target.size() > kMaxTargetBytes) return Refuse(414, "the target is too long", {});
  base::Result<RequestTarget> target = ParseRequestTarget(request.target);
  if (!target.ok()) return Refuse(400, target.error().message, {});
  std::map<std::string, std::string> query = std::move(target->query);
  const auto token = query.find("token");
  const std::string given = token == query.end() ? std::string() : token->second;
  if (!access_.AllowsToken(request.authorization, given)) {
    return Refuse(403, "the token is wrong or missing",
                  "open the address that `layerscope view` printed");
  }
  if (token != query.end()) query.erase(token);
  const std::string& path = target->path;
  if (path == "/") {
    if (!has_page_) {
      return Refuse(404, std::string(kNoBundle), std::string(kNoBundleHint));
    }
    Route route;
    route.kind = Route::Kind::kPage;
    return route;
  }
  return Api(path, std::move(query));
}

Route Router::Api(std::string_view path, std::map<std::string, std::string> query) const {
  if (path == "/api/view") return Answered({200, index_});
  Route route;
  route.kind = Route::Kind::kCompute;
  if (path.starts_with(kAnalysisPath)) {
    const std::string verb(path.substr(kAnalysisPath.size()));
    if (base::Status known = source_.CheckAnalysis(verb); !known.ok()) {
      return Answered(ErrorAnswer(StatusOf(known.error().code), verb, known.error()));
    }
    route.key = "analysis/" + SliceKey(verb, query);
    route.compute = [&source = source_, verb, query = std::move(query)] {
      return Computed(verb, [&] { return source.Analysis(verb, query); });
    };
    return route;
  }
  if (path.starts_with(kDocumentPath)) {
    const std::string name(path.substr(kDocumentPath.size()));
    if (base::Status known = source_.CheckDocument(name, query); !known.ok()) {
      return Answered(ErrorAnswer(StatusOf(known.error().code), name, known.error()));
    }
    route.key = "document/" + SliceKey(name, query);
    route.compute = [&source = source_, name, query = std::move(query)] {
      return Computed(name, [&] { return source.Document(name, query); });
    };
    return route;
  }
  return Refuse(404, "there is nothing of that name", {});
}

}  // namespace layerscope::server

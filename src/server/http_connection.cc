#include "src/server/http_connection.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "src/server/beast.h"
#include "src/server/page.h"
#include "src/server/random_token.h"

namespace layerscope::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

/// A client that was refused in the middle of its request may still send: what it was told would be
/// lost if the connection were reset at once.
constexpr std::chrono::milliseconds kLinger{1'000};
constexpr size_t kLingerBytes = size_t{1} << 20;
constexpr size_t kNonceBytes = 16;

std::string_view View(beast::string_view text) {
  return {text.data(), text.size()};
}

SharedAnswer Shared(Answer answer) {
  return std::make_shared<const Answer>(std::move(answer));
}

}  // namespace

/// One answer with what the connection needs to send it.
struct HttpConnection::Reply {
  SharedAnswer answer;
  bool head_only = false;
  bool keep_alive = false;
  unsigned version = 11;
  bool is_page = false;
  std::string policy = "default-src 'none'; frame-ancestors 'none'";
};

HttpConnection::HttpConnection(ConnectionHub& hub, asio::ip::tcp::socket socket)
    : hub_(hub), stream_(std::move(socket)), buffer_(hub.limits.max_header_bytes * 2) {}

/// What throws in the middle of an answer (memory) leaves nothing to wait for: the client would be
/// kept for ever.
template <typename Step>
void HttpConnection::OrEnd(Step step) {
  try {
    step();
  } catch (const std::exception&) {
    End();
  }
}

void HttpConnection::Read() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(hub_.limits.max_header_bytes));
  waits_for_request_ = true;
  // One deadline for the whole request: bytes that trickle do not move it.
  stream_.expires_after(hub_.limits.read_time);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](ErrorCode error, size_t) { self->OnHeader(error); });
}

void HttpConnection::OnHeader(ErrorCode error) {
  waits_for_request_ = false;
  if (error) {
    OnBadHeader(error);
    return;
  }
  OrEnd([this] {
    stream_.expires_never();
    Decide();
  });
}

void HttpConnection::OnBadHeader(ErrorCode error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    Refuse(431, "the request's header is too large");
  } else if (error == http::error::body_limit) {
    Refuse(413, "a request has no body here");
  } else if (error.category() == make_error_code(http::error::bad_target).category() &&
             error != http::error::end_of_stream && error != http::error::partial_message) {
    Refuse(400, "this is no HTTP request");
  } else {
    End();
  }
}

void HttpConnection::Refuse(int status, const char* why) {
  Reply reply;
  reply.answer = Shared(ErrorAnswer(status, "view", {base::ErrorCode::kUsage, why, std::string()}));
  Send(std::move(reply));
}

RequestHead HttpConnection::HeadOf() const {
  const auto& request = parser_->get();
  RequestHead head;
  head.method = View(request.method_string());
  head.target = View(request.target());
  // Of two nobody knows which one counts.
  const auto only = [&request](http::field name, std::string_view of_several) {
    return request.count(name) > 1 ? of_several : View(request[name]);
  };
  head.host = only(http::field::host, {});
  head.origin = only(http::field::origin, "null");
  head.authorization = only(http::field::authorization, {});
  const auto length = parser_->content_length();
  head.has_body = request.chunked() || (length && *length > 0);
  return head;
}

void HttpConnection::Decide() {
  const RequestHead head = HeadOf();
  Route route = hub_.router->Decide(head);
  const auto& request = parser_->get();
  Reply reply;
  reply.head_only = request.method() == http::verb::head;
  reply.version = request.version();
  reply.keep_alive = request.keep_alive() && !route.close && !head.has_body;
  switch (route.kind) {
    case Route::Kind::kAnswer:
      reply.answer = Shared(std::move(route.answer));
      Send(std::move(reply));
      return;
    case Route::Kind::kPage:
      SendPage(std::move(reply));
      return;
    case Route::Kind::kCompute:
      Compute(std::move(route), std::move(reply));
      return;
  }
}

void HttpConnection::SendPage(Reply reply) {
  base::Result<std::string> nonce = RandomToken(kNonceBytes);
  if (!nonce.ok()) {
    reply.answer = Shared(ErrorAnswer(500, "view", nonce.error()));
    Send(std::move(reply));
    return;
  }
  reply.is_page = true;
  reply.policy = fmt::format(
      "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src data: blob:; "
      "font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'none'",
      *nonce);
  reply.answer = Shared({200, WithNonce(hub_.page, *nonce)});
  Send(std::move(reply));
}

/// The answer comes from another thread; the server may be gone by then.
void HttpConnection::Compute(Route route, Reply reply) {
  const std::weak_ptr<ConnectionHub> hub = hub_.weak_from_this();
  hub_.cache->Ask(
      route.key, std::move(route.compute),
      [hub, self = shared_from_this(), reply = std::move(reply)](SharedAnswer answer) mutable {
        const std::shared_ptr<ConnectionHub> alive = hub.lock();
        if (alive == nullptr) return;
        // Nothing of the connection stays behind in that thread.
        reply.answer = std::move(answer);
        asio::post(alive->io, [self = std::move(self), reply = std::move(reply)]() mutable {
          HttpConnection& connection = *self;
          connection.OrEnd([&] { connection.Send(std::move(reply)); });
        });
      });
}

void HttpConnection::Send(Reply reply) {
  const auto fill = [&reply](auto& message) {
    message.version(reply.version);
    message.result(static_cast<unsigned>(reply.answer->status));
    message.keep_alive(reply.keep_alive);
    message.set(http::field::content_type,
                reply.is_page ? "text/html; charset=utf-8" : "application/json; charset=utf-8");
    message.set(http::field::cache_control, "no-store");
    message.set("Content-Security-Policy", reply.policy);
    message.set("X-Content-Type-Options", "nosniff");
    message.set("X-Frame-Options", "DENY");
    message.set("Referrer-Policy", "no-referrer");
    message.set("Cross-Origin-Opener-Policy", "same-origin");
    message.set("Cross-Origin-Resource-Policy", "same-origin");
    if (reply.answer->status == 405) message.set(http::field::allow, "GET, HEAD");
    if (reply.answer->status == 503) message.set(http::field::retry_after, "1");
    message.content_length(reply.answer->body.size());
  };
  if (reply.head_only) {
    auto response = std::make_shared<http::response<http::empty_body>>();
    fill(*response);
    Write(std::move(response), std::move(reply));
    return;
  }
  auto response = std::make_shared<http::response<http::span_body<const char>>>();
  response->body() = beast::span<const char>(reply.answer->body.data(), reply.answer->body.size());
  fill(*response);
  Write(std::move(response), std::move(reply));
}

template <typename Body>
void HttpConnection::Write(std::shared_ptr<http::response<Body>> response, Reply reply) {
  stream_.expires_after(hub_.limits.write_time);
  auto& message = *response;
  http::async_write(stream_, message,
                    [self = shared_from_this(), response = std::move(response),
                     answer = std::move(reply.answer), keep_alive = reply.keep_alive](
                        ErrorCode error, size_t) { self->OnWritten(error, keep_alive); });
}

void HttpConnection::OnWritten(ErrorCode error, bool keep_alive) {
  if (error) {
    End();
    return;
  }
  OrEnd([&] {
    if (keep_alive) {
      Read();
      return;
    }
    ErrorCode ignored;
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kLinger);
    Drain();
  });
}

void HttpConnection::Drain() {
  drain_buffer_.resize(size_t{16} << 10);
  stream_.async_read_some(asio::buffer(drain_buffer_),
                          [self = shared_from_this()](ErrorCode error, size_t n) {
                            self->drained_ += n;
                            if (error || self->drained_ > kLingerBytes) {
                              self->End();
                            } else {
                              self->Drain();
                            }
                          });
}

void HttpConnection::Close() {
  ErrorCode ignored;
  stream_.socket().close(ignored);
}

/// The connection is over: the server forgets it.
void HttpConnection::End() {
  Close();
  hub_.connections.remove(shared_from_this());
}

}  // namespace layerscope::server

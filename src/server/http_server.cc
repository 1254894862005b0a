#include "src/server/http_server.h"

// Coroutines are not used, and Boost 1.74 finds those of clang 14 wrongly.
#define BOOST_ASIO_DISABLE_CO_AWAIT 1
#include <fmt/format.h>

#include <exception>
#include <list>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>

#include "src/server/page.h"
#include "src/server/random_token.h"

namespace layerscope::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr std::chrono::milliseconds kStopCheck{50};
constexpr std::chrono::milliseconds kAcceptPause{100};
/// A client that was refused in the middle of its request may still send: what it was told would be
/// lost if the connection were reset at once.
constexpr std::chrono::milliseconds kLinger{1'000};
constexpr size_t kLingerBytes = size_t{1} << 20;
constexpr size_t kNonceBytes = 16;

std::string_view View(beast::string_view text) {
  return {text.data(), text.size()};
}

/// One answer with what the connection needs to send it.
struct Reply {
  SharedAnswer answer;
  bool head_only = false;
  bool keep_alive = false;
  unsigned version = 11;
  bool is_page = false;
  std::string policy = "default-src 'none'; frame-ancestors 'none'";
};

SharedAnswer Shared(Answer answer) {
  return std::make_shared<const Answer>(std::move(answer));
}

}  // namespace

class HttpServer::Impl : public std::enable_shared_from_this<HttpServer::Impl> {
 public:
  explicit Impl(const Limits& limits) : limits_(limits), stop_timer_(io_), pause_(io_) {}

  base::Result<uint16_t> Listen(uint16_t port, int n_more);
  base::Status Run(const Router& router, AnswerCache& cache, std::string_view page,
                   const base::StopFlag& stop);

 private:
  class Connection;
  friend class Connection;
  using Connections = std::list<std::shared_ptr<Connection>>;

  base::Result<uint16_t> ListenAt(uint16_t port);
  void Accept(Tcp::acceptor& acceptor);
  void Add(Tcp::socket socket);
  void MakeRoom();
  void WatchStop();

  const Limits limits_;
  asio::io_context io_{1};
  std::list<Tcp::acceptor> acceptors_;
  asio::steady_timer stop_timer_;
  asio::steady_timer pause_;
  Connections connections_;  ///< the oldest first

  const Router* router_ = nullptr;
  AnswerCache* cache_ = nullptr;
  std::string_view page_;
  const base::StopFlag* stop_ = nullptr;
};

/// One client: reads a request, answers it, and reads the next.
class HttpServer::Impl::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Impl& server, Tcp::socket socket)
      : server_(server), stream_(std::move(socket)), buffer_(server.limits_.max_header_bytes * 2) {}

  void Read();
  void Refuse(int status, const char* why);
  void Close();
  bool waits_for_request() const { return waits_for_request_; }
  bool sends_refusal() const { return sends_refusal_; }

 private:
  using Parser = http::request_parser<http::empty_body>;

  void OnHeader(ErrorCode error);
  void OnBadHeader(ErrorCode error);
  RequestHead HeadOf() const;
  void Decide();
  void SendPage(Reply reply);
  void Compute(Route route, Reply reply);
  void Send(Reply reply);
  template <typename Body>
  void Write(std::shared_ptr<http::response<Body>> response, Reply reply);
  void OnWritten(ErrorCode error, bool keep_alive);
  void Drain();
  void End();

  Impl& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  size_t drained_ = 0;
  bool waits_for_request_ = false;
  bool sends_refusal_ = false;
  std::vector<char> drain_buffer_;
};

void HttpServer::Impl::Connection::Read() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(server_.limits_.max_header_bytes));
  waits_for_request_ = true;
  // One deadline for the whole request: bytes that trickle do not move it.
  stream_.expires_after(server_.limits_.read_time);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](ErrorCode error, size_t) { self->OnHeader(error); });
}

void HttpServer::Impl::Connection::OnHeader(ErrorCode error) {
  waits_for_request_ = false;
  if (error) {
    OnBadHeader(error);
    return;
  }
  stream_.expires_never();
  Decide();
}

void HttpServer::Impl::Connection::OnBadHeader(ErrorCode error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    Refuse(431, "the request's header is too large");
  } else if (error.category() == make_error_code(http::error::bad_target).category() &&
             error != http::error::end_of_stream && error != http::error::partial_message) {
    Refuse(400, "this is no HTTP request");
  } else {
    End();
  }
}

void HttpServer::Impl::Connection::Refuse(int status, const char* why) {
  Reply reply;
  reply.answer = Shared(ErrorAnswer(status, "view", {base::ErrorCode::kUsage, why, std::string()}));
  sends_refusal_ = true;
  Send(std::move(reply));
}

RequestHead HttpServer::Impl::Connection::HeadOf() const {
  const auto& request = parser_->get();
  RequestHead head;
  head.method = View(request.method_string());
  head.target = View(request.target());
  // Of two Host headers nobody knows which one counts.
  if (request.count(http::field::host) == 1) head.host = View(request[http::field::host]);
  head.origin = View(request[http::field::origin]);
  head.authorization = View(request[http::field::authorization]);
  const auto length = parser_->content_length();
  head.has_body = request.chunked() || (length && *length > 0);
  return head;
}

void HttpServer::Impl::Connection::Decide() {
  const RequestHead head = HeadOf();
  Route route = server_.router_->Decide(head);
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

void HttpServer::Impl::Connection::SendPage(Reply reply) {
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
  reply.answer = Shared({200, WithNonce(server_.page_, *nonce)});
  Send(std::move(reply));
}

/// The answer comes from another thread; the server may be gone by then.
void HttpServer::Impl::Connection::Compute(Route route, Reply reply) {
  const std::weak_ptr<Impl> server = server_.weak_from_this();
  server_.cache_->Ask(
      route.key, std::move(route.compute),
      [server, self = shared_from_this(), reply = std::move(reply)](SharedAnswer answer) {
        const std::shared_ptr<Impl> alive = server.lock();
        if (alive == nullptr) return;
        asio::post(alive->io_, [self, reply, answer = std::move(answer)]() mutable {
          reply.answer = std::move(answer);
          self->Send(std::move(reply));
        });
      });
}

void HttpServer::Impl::Connection::Send(Reply reply) {
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
void HttpServer::Impl::Connection::Write(std::shared_ptr<http::response<Body>> response,
                                         Reply reply) {
  stream_.expires_after(server_.limits_.write_time);
  auto& message = *response;
  http::async_write(stream_, message,
                    [self = shared_from_this(), response = std::move(response),
                     answer = std::move(reply.answer), keep_alive = reply.keep_alive](
                        ErrorCode error, size_t) { self->OnWritten(error, keep_alive); });
}

void HttpServer::Impl::Connection::OnWritten(ErrorCode error, bool keep_alive) {
  if (error) {
    End();
  } else if (keep_alive) {
    Read();
  } else {
    ErrorCode ignored;
    stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kLinger);
    Drain();
  }
}

void HttpServer::Impl::Connection::Drain() {
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

void HttpServer::Impl::Connection::Close() {
  ErrorCode ignored;
  stream_.socket().close(ignored);
}

/// The connection is over: the server forgets it.
void HttpServer::Impl::Connection::End() {
  Close();
  server_.connections_.remove(shared_from_this());
}

base::Result<uint16_t> HttpServer::Impl::ListenAt(uint16_t port) {
  std::list<Tcp::acceptor> acceptors;
  const auto open = [&](const asio::ip::address& address) -> ErrorCode {
    ErrorCode error;
    Tcp::acceptor acceptor(io_);
    acceptor.open(address.is_v6() ? Tcp::v6() : Tcp::v4(), error);
    if (error) return error;
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (address.is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
    acceptor.bind({address, port}, error);
    if (error) return error;
    acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return error;
    port = acceptor.local_endpoint(error).port();
    acceptors.push_back(std::move(acceptor));
    return error;
  };
  ErrorCode error = open(asio::ip::address_v4::loopback());
  if (!error) {
    error = open(asio::ip::address_v6::loopback());
    // A machine without IPv6 has nobody on ::1 who could be taken for this server.
    const bool has_ipv6 = error != asio::error::address_family_not_supported &&
                          error != boost::system::errc::address_not_available;
    if (!has_ipv6) error = {};
  }
  if (error) {
    return base::Error{base::ErrorCode::kFailed,
                       error == asio::error::address_in_use
                           ? fmt::format("port {} is taken", port)
                           : fmt::format("port {} cannot be opened: {}", port, error.message()),
                       "give another with --port N; without it a free one is chosen"};
  }
  acceptors_ = std::move(acceptors);
  return port;
}

base::Result<uint16_t> HttpServer::Impl::Listen(uint16_t port, int n_more) {
  base::Result<uint16_t> first = ListenAt(port);
  for (int i = 1; !first.ok() && i <= n_more && port + i <= 0xffff; ++i) {
    base::Result<uint16_t> other = ListenAt(static_cast<uint16_t>(port + i));
    if (other.ok()) return other;
  }
  return first;
}

void HttpServer::Impl::Accept(Tcp::acceptor& acceptor) {
  acceptor.async_accept([this, &acceptor](ErrorCode error, Tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {
      // Out of descriptors: connections that end make room.
      pause_.expires_after(kAcceptPause);
      pause_.async_wait([this, &acceptor](ErrorCode cancelled) {
        if (!cancelled) Accept(acceptor);
      });
      return;
    }
    // First, so that nothing that fails below ends the accepting.
    Accept(acceptor);
    Add(std::move(socket));
  });
}

void HttpServer::Impl::Add(Tcp::socket socket) {
  ErrorCode ignored;
  socket.set_option(Tcp::no_delay(true), ignored);
  MakeRoom();
  const bool is_full = connections_.size() >= limits_.max_connections;
  // Those who are told that all is full may be few, or they would be the flood.
  if (connections_.size() >= 2 * limits_.max_connections) return;
  auto connection = std::make_shared<Connection>(*this, std::move(socket));
  connections_.push_back(connection);
  if (is_full) {
    connection->Refuse(503, "too many connections; try again");
  } else {
    connection->Read();
  }
}

/// The connection that has waited longest for its request makes room for a new one: who holds many
/// half-sent requests keeps nobody out.
void HttpServer::Impl::MakeRoom() {
  if (connections_.size() < limits_.max_connections) return;
  for (const std::shared_ptr<Connection>& connection : connections_) {
    if (!connection->waits_for_request()) continue;
    const std::shared_ptr<Connection> oldest = connection;
    connections_.remove(oldest);
    oldest->Close();
    return;
  }
}

void HttpServer::Impl::WatchStop() {
  stop_timer_.expires_after(kStopCheck);
  stop_timer_.async_wait([this](ErrorCode error) {
    if (error) return;
    if (!stop_->requested()) {
      WatchStop();
      return;
    }
    ErrorCode ignored;
    for (Tcp::acceptor& acceptor : acceptors_) acceptor.close(ignored);
    for (const std::shared_ptr<Connection>& connection : connections_) connection->Close();
    connections_.clear();
    io_.stop();
  });
}

base::Status HttpServer::Impl::Run(const Router& router, AnswerCache& cache, std::string_view page,
                                   const base::StopFlag& stop) {
  router_ = &router;
  cache_ = &cache;
  page_ = page;
  stop_ = &stop;
  for (Tcp::acceptor& acceptor : acceptors_) Accept(acceptor);
  WatchStop();
  while (!io_.stopped()) {
    try {
      io_.run();
    } catch (const std::exception&) {
      // What threw was one connection's; the others go on.
    }
  }
  return {};
}

HttpServer::HttpServer(const Limits& limits) : impl_(std::make_shared<Impl>(limits)) {}

HttpServer::~HttpServer() = default;

base::Result<uint16_t> HttpServer::Listen(uint16_t port, int n_more) {
  try {
    return impl_->Listen(port, n_more);
  } catch (const std::exception& error) {
    return base::Error{base::ErrorCode::kFailed, error.what(), {}};
  }
}

base::Status HttpServer::Run(const Router& router, AnswerCache& cache, std::string_view page,
                             const base::StopFlag& stop) {
  try {
    return impl_->Run(router, cache, page, stop);
  } catch (const std::exception& error) {
    return base::Error{base::ErrorCode::kFailed, error.what(), {}};
  }
}

}  // namespace layerscope::server

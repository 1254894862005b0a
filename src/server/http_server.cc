#include "src/server/http_server.h"

#include <chrono>
#include <exception>
#include <list>
#include <utility>

#include "src/server/acceptor.h"
#include "src/server/beast.h"
#include "src/server/http_connection.h"

namespace layerscope::server {
namespace {

using ErrorCode = boost::system::error_code;
using Socket = boost::asio::ip::tcp::socket;

constexpr std::chrono::milliseconds kStopCheck{50};

}  // namespace

class HttpServer::Impl {
 public:
  explicit Impl(const Limits& limits)
      : hub_(std::make_shared<ConnectionHub>(limits)), stop_timer_(hub_->io) {}

  base::Result<uint16_t> Listen(uint16_t port, int n_more);
  base::Status Run(const Router& router, AnswerCache& cache, std::string_view page,
                   const base::StopFlag& stop);

 private:
  void Add(Socket socket);
  void MakeRoom();
  void WatchStop();

  // First, for all else is of its `io`.
  const std::shared_ptr<ConnectionHub> hub_;
  std::list<Acceptor> acceptors_;
  boost::asio::steady_timer stop_timer_;
  const base::StopFlag* stop_ = nullptr;
};

base::Result<uint16_t> HttpServer::Impl::Listen(uint16_t port, int n_more) {
  base::Result<uint16_t> first = OpenLoopback(hub_->io, port, acceptors_);
  for (int i = 1; !first.ok() && i <= n_more && port + i <= 0xffff; ++i) {
    base::Result<uint16_t> other =
        OpenLoopback(hub_->io, static_cast<uint16_t>(port + i), acceptors_);
    if (other.ok()) return other;
  }
  return first;
}

void HttpServer::Impl::Add(Socket socket) {
  ErrorCode ignored;
  socket.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  MakeRoom();
  const size_t n_open = hub_->connections.size();
  // Those who are told that all is full may be few, or they would be the flood.
  if (n_open >= 2 * hub_->limits.max_connections) return;
  auto connection = std::make_shared<HttpConnection>(*hub_, std::move(socket));
  hub_->connections.push_back(connection);
  if (n_open >= hub_->limits.max_connections) {
    connection->Refuse(503, "too many connections; try again");
  } else {
    connection->Read();
  }
}

/// The connection that has waited longest for its request makes room for a new one: who holds many
/// half-sent requests keeps nobody out.
void HttpServer::Impl::MakeRoom() {
  if (hub_->connections.size() < hub_->limits.max_connections) return;
  for (const std::shared_ptr<HttpConnection>& connection : hub_->connections) {
    if (!connection->waits_for_request()) continue;
    const std::shared_ptr<HttpConnection> oldest = connection;
    hub_->connections.remove(oldest);
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
    for (Acceptor& acceptor : acceptors_) acceptor.Close();
    for (const std::shared_ptr<HttpConnection>& connection : hub_->connections) {
      connection->Close();
    }
    hub_->connections.clear();
    hub_->io.stop();
  });
}

base::Status HttpServer::Impl::Run(const Router& router, AnswerCache& cache, std::string_view page,
                                   const base::StopFlag& stop) {
  hub_->router = &router;
  hub_->cache = &cache;
  hub_->page = page;
  stop_ = &stop;
  for (Acceptor& acceptor : acceptors_) {
    acceptor.Start([this](Socket socket) { Add(std::move(socket)); });
  }
  WatchStop();
  while (!hub_->io.stopped()) {
    try {
      hub_->io.run();
    } catch (const std::exception&) {
      // What threw was one connection's; the others go on.
    }
  }
  return {};
}

HttpServer::HttpServer(const Limits& limits) : impl_(std::make_unique<Impl>(limits)) {}

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

#include "src/server/acceptor.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "src/server/beast.h"

namespace layerscope::server {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

constexpr std::chrono::milliseconds kAcceptPause{100};

}  // namespace

ErrorCode Acceptor::Open(const asio::ip::address& address, uint16_t& port) {
  ErrorCode error;
  acceptor_.open(address.is_v6() ? Tcp::v6() : Tcp::v4(), error);
  if (error) return error;
  acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (address.is_v6()) acceptor_.set_option(asio::ip::v6_only(true), error);
  acceptor_.bind({address, port}, error);
  if (error) return error;
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) port = acceptor_.local_endpoint(error).port();
  return error;
}

void Acceptor::Start(OnSocket on_socket) {
  on_socket_ = std::move(on_socket);
  Accept();
}

void Acceptor::Close() {
  ErrorCode ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

void Acceptor::Accept() {
  acceptor_.async_accept([this](ErrorCode error, Tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {
      Pause();
      return;
    }
    // First, so that nothing that fails below ends the accepting.
    Accept();
    on_socket_(std::move(socket));
  });
}

/// Out of descriptors: connections that end make room.
void Acceptor::Pause() {
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](ErrorCode cancelled) {
    if (!cancelled) Accept();
  });
}

base::Result<uint16_t> OpenLoopback(asio::io_context& io, uint16_t port,
                                    std::list<Acceptor>& acceptors) {
  std::list<Acceptor> opened;
  ErrorCode error = opened.emplace_back(io).Open(asio::ip::address_v4::loopback(), port);
  if (!error) {
    error = opened.emplace_back(io).Open(asio::ip::address_v6::loopback(), port);
    // A machine without IPv6 has nobody on ::1 who could be taken for this server.
    const bool has_ipv6 = error != asio::error::address_family_not_supported &&
                          error != boost::system::errc::address_not_available;
    if (error && !has_ipv6) {
      opened.pop_back();
      error = {};
    }
  }
  if (error) {
    return base::Error{base::ErrorCode::kFailed,
                       error == asio::error::address_in_use
                           ? fmt::format("port {} is taken", port)
                           : fmt::format("port {} cannot be opened: {}", port, error.message()),
                       "give another with --port N; without it a free one is chosen"};
  }
  acceptors = std::move(opened);
  return port;
}

}  // namespace layerscope::server

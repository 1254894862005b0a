#pragma once

#include <cstdint>
#include <functional>
#include <list>

#include "src/base/result.h"
#include "src/server/beast.h"

namespace layerscope::server {

/// One listening socket. Where it cannot accept (no descriptors are left) it waits a little and
/// tries again, whatever others do meanwhile.
class Acceptor {
 public:
  using Tcp = boost::asio::ip::tcp;
  /// Takes a connection; what it throws ends nothing.
  using OnSocket = std::function<void(Tcp::socket)>;

  /// `io` outlives this.
  explicit Acceptor(boost::asio::io_context& io) : acceptor_(io), pause_(io) {}
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Listens at `port`; 0 becomes the one that the system chose.
  boost::system::error_code Open(const boost::asio::ip::address& address, uint16_t& port);
  /// Hands connections to `on_socket` from now on. Not to be moved or destroyed while `io` runs.
  void Start(OnSocket on_socket);
  void Close();

 private:
  void Accept();
  void Pause();

  Tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  OnSocket on_socket_;
};

/// Listens at one port of 127.0.0.1 and, where the machine has it, of ::1; 0 as above. kFailed
/// where one of them is taken.
base::Result<uint16_t> OpenLoopback(boost::asio::io_context& io, uint16_t port,
                                    std::list<Acceptor>& acceptors);

}  // namespace layerscope::server

#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "src/server/answer_cache.h"
#include "src/server/beast.h"
#include "src/server/limits.h"
#include "src/server/router.h"

namespace layerscope::server {

class HttpConnection;

/// What the connections of one server share. All but `io` and `connections` is set before the first
/// one, and does not change.
struct ConnectionHub : std::enable_shared_from_this<ConnectionHub> {
  explicit ConnectionHub(const Limits& some_limits) : limits(some_limits) {}

  const Limits limits;
  boost::asio::io_context io{1};
  const Router* router = nullptr;
  AnswerCache* cache = nullptr;
  std::string_view page;
  std::list<std::shared_ptr<HttpConnection>> connections;  ///< that are open, the oldest first
};

/// One client: reads a request, answers it, and reads the next. Lives while something is waited for
/// or the hub lists it; all of it runs in the thread of the hub's `io`.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  /// `hub` outlives this; answers that come from other threads may find neither.
  HttpConnection(ConnectionHub& hub, boost::asio::ip::tcp::socket socket);

  void Read();
  /// Answers whatever is asked with an error, and ends.
  void Refuse(int status, const char* why);
  void Close();
  bool waits_for_request() const { return waits_for_request_; }

 private:
  using ErrorCode = boost::system::error_code;
  using Parser = boost::beast::http::request_parser<boost::beast::http::empty_body>;
  struct Reply;

  template <typename Step>
  void OrEnd(Step step);
  void OnHeader(ErrorCode error);
  void OnBadHeader(ErrorCode error);
  RequestHead HeadOf() const;
  void Decide();
  void SendPage(Reply reply);
  void Compute(Route route, Reply reply);
  void Send(Reply reply);
  template <typename Body>
  void Write(std::shared_ptr<boost::beast::http::response<Body>> response, Reply reply);
  void OnWritten(ErrorCode error, bool keep_alive);
  void Drain();
  void End();

  ConnectionHub& hub_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  bool waits_for_request_ = false;
  size_t drained_ = 0;
  std::vector<char> drain_buffer_;
};

}  // namespace layerscope::server

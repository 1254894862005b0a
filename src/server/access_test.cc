#include "src/server/access.h"

#include <gtest/gtest.h>

namespace layerscope::server {
namespace {

TEST(Access, KnowsItsOwnNamesWithTheirPort) {
  const Access access("secret", 8787);
  for (const char* host : {"localhost:8787", "LOCALHOST:8787", "127.0.0.1:8787", "[::1]:8787"}) {
    EXPECT_TRUE(access.AllowsHost(host)) << host;
  }
}

TEST(Access, RefusesOtherHosts) {
  const Access access("secret", 8787);
  for (const char* host : {"", "localhost", "localhost:", "localhost:80", "localhost:87870",
                           ":8787", "evil.example:8787", "localhost.evil.example:8787",
                           "127.0.0.2:8787", "::1:8787", "localhost:8787:8787", "0.0.0.0:8787"}) {
    EXPECT_FALSE(access.AllowsHost(host)) << host;
  }
}

TEST(Access, ThePortOfHttpMayBeLeftOut) {
  const Access access("secret", 80);
  for (const char* host : {"localhost", "127.0.0.1", "[::1]", "localhost:80", "[::1]:80"}) {
    EXPECT_TRUE(access.AllowsHost(host)) << host;
  }
  EXPECT_TRUE(access.AllowsOrigin("http://localhost"));
  for (const char* host : {"", "evil.example", "localhost:8080", "localhost:", "::1", "[::1"}) {
    EXPECT_FALSE(access.AllowsHost(host)) << host;
  }
}

TEST(Access, AllowsNoOriginOrItsOwn) {
  const Access access("secret", 8787);
  EXPECT_TRUE(access.AllowsOrigin(""));
  EXPECT_TRUE(access.AllowsOrigin("http://localhost:8787"));
  for (const char* origin : {"null", "https://localhost:8787", "http://evil.example",
                             "http://localhost:8787.evil.example", "http://localhost:1"}) {
    EXPECT_FALSE(access.AllowsOrigin(origin)) << origin;
  }
}

TEST(Access, TakesTheTokenFromEitherPlace) {
  const Access access("secret", 8787);
  EXPECT_TRUE(access.AllowsToken("Bearer secret", ""));
  EXPECT_TRUE(access.AllowsToken("bearer secret", ""));
  EXPECT_TRUE(access.AllowsToken("", "secret"));
  EXPECT_FALSE(access.AllowsToken("", ""));
  EXPECT_FALSE(access.AllowsToken("Bearer ", "secret"));
  EXPECT_FALSE(access.AllowsToken("", "secre"));
  EXPECT_FALSE(access.AllowsToken("", "secrets"));
  EXPECT_FALSE(access.AllowsToken("", "Secret"));
}

TEST(Access, AnEmptyTokenOpensNothing) {
  EXPECT_FALSE(Access("", 8787).AllowsToken("Bearer ", ""));
}

}  // namespace
}  // namespace layerscope::server

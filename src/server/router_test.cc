#include "src/server/router.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace layerscope::server {
namespace {

/// A server of one finished document, without a trace.
class RouterTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) /
            (std::string("router_") + info->name() + ".json");
    std::ofstream(path_) << R"({"schema": "layerscope/workload/1", "requests": [], "x": NaN})";
    Open();
  }
  void OpenTrace() {
    std::ofstream(path_) << R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1,
        "dur": 1, "pid": 0, "tid": 7, "args": {"device": 0, "stream": 7}}]})";
    Open();
  }
  void Open() {
    session::ViewRequest request;
    request.inputs = {path_.string()};
    base::StageClock clock;
    base::Result<std::unique_ptr<session::ViewSource>> source =
        session::ViewSource::Open(request, {}, clock);
    ASSERT_TRUE(source.ok()) << source.error().message;
    source_ = *std::move(source);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  Route Decide(RequestHead head) const {
    if (head.method.empty()) head.method = "GET";
    if (head.host.empty()) head.host = "localhost:1";
    return Router(access_, *source_, true).Decide(head);
  }
  Route Get(std::string_view target) const {
    RequestHead head;
    head.target = target;
    head.authorization = "Bearer t";
    return Decide(head);
  }

  Access access_{"t", 1};
  std::filesystem::path path_;
  std::unique_ptr<session::ViewSource> source_;
};

TEST_F(RouterTest, GivesThePageAndTheIndexToWhoKnowsTheToken) {
  EXPECT_EQ(Get("/").kind, Route::Kind::kPage);
  RequestHead by_query;
  by_query.target = "/?token=t";
  EXPECT_EQ(Decide(by_query).kind, Route::Kind::kPage);
  const Route index = Get("/api/view");
  EXPECT_EQ(index.answer.status, 200);
  EXPECT_NE(index.answer.body.find("\"documents\": [\"workload\"]"), std::string::npos);
}

TEST_F(RouterTest, RefusesWithoutTheToken) {
  for (const char* target : {"/", "/api/view", "/?token=u", "/nothing", "/api/analysis/summary"}) {
    RequestHead head;
    head.target = target;
    EXPECT_EQ(Decide(head).answer.status, 403) << target;
  }
}

TEST_F(RouterTest, RefusesForeignHostsAndOriginsEvenWithTheToken) {
  RequestHead head;
  head.target = "/?token=t";
  head.host = "evil.example:1";
  EXPECT_EQ(Decide(head).answer.status, 403);
  head.host = {};
  head.origin = "http://evil.example";
  EXPECT_EQ(Decide(head).answer.status, 403);
}

TEST_F(RouterTest, RefusesOtherMethodsAndBodies) {
  RequestHead head;
  head.target = "/?token=t";
  head.method = "POST";
  EXPECT_EQ(Decide(head).answer.status, 405);
  head.method = "GET";
  head.has_body = true;
  EXPECT_EQ(Decide(head).answer.status, 413);
  EXPECT_TRUE(Decide(head).close);
}

TEST_F(RouterTest, KnowsAFixedFewPaths) {
  for (const char* target : {"/../etc/passwd", "/%2e%2e/", "//", "/index.html", "/api", "/api/",
                             "/api/view/", "/api/VIEW", "/api/view%00"}) {
    EXPECT_EQ(Get(target).answer.status, 404) << target;
  }
}

TEST_F(RouterTest, ComputesDocumentsAndSaysWhatThereIsNot) {
  const Route workload = Get("/api/document/workload");
  ASSERT_EQ(workload.kind, Route::Kind::kCompute);
  EXPECT_EQ(workload.compute().body,
            "{\"schema\": \"layerscope/workload/1\", \"requests\": [], \"x\": null}\n");
  EXPECT_EQ(Get("/api/document/map").answer.status, 404);
  EXPECT_EQ(Get("/api/document/../workload").answer.status, 404);
  EXPECT_EQ(Get("/api/document/workload?a=1").answer.status, 400);
  EXPECT_EQ(Get("/api/document/workload?run=0&a=1").answer.status, 400);
  EXPECT_EQ(Get("/api/document/map?run=0").answer.status, 400);
  const Route of_run = Get("/api/document/workload?run=0");
  EXPECT_EQ(of_run.key, "document/workload?run=0");
  EXPECT_EQ(of_run.compute().status, 404) << "a finished document has the run that it has";
  const Answer summary = Get("/api/analysis/summary").answer;
  EXPECT_EQ(summary.status, 404);
  EXPECT_NE(summary.body.find("needs a trace"), std::string::npos);
}

// It had the key of the document, whose answer it then got, or gave.
TEST_F(RouterTest, NoAnalysisTakesTheKeyOfADocument) {
  for (const char* target : {"/api/analysis/document/workload", "/api/analysis/nothing?a=1"}) {
    const Route route = Get(target);
    EXPECT_EQ(route.kind, Route::Kind::kAnswer) << target;
    EXPECT_EQ(route.answer.status, 404) << target;
    EXPECT_NE(route.answer.body.find("no analysis"), std::string::npos) << target;
  }
}

TEST_F(RouterTest, NamesTheSameSliceInEveryOrderOfItsOptions) {
  OpenTrace();
  EXPECT_EQ(Get("/api/analysis/modules?b=1&a=2").key, "analysis/modules?a=2&b=1");
  EXPECT_EQ(Get("/api/analysis/modules?b=1&a=2").key, Get("/api/analysis/modules?a=2&b=1").key);
}

}  // namespace
}  // namespace layerscope::server

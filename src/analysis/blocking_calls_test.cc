#include "src/analysis/blocking_calls.h"

#include <gtest/gtest.h>

namespace layerscope::analysis {
namespace {

TEST(BlockingCalls, SynchronisingCallsReturnWhenTheGpuIsDone) {
  for (const char* name :
       {"cudaStreamSynchronize", "cudaDeviceSynchronize_v3020", "cudaEventSynchronize",
        "cuCtxSynchronize", "hipStreamSynchronize", "hipDeviceSynchronize", "cudaMemcpy",
        "cudaMemcpy_v3020", "cudaMemcpy2D_ptds_v7000", "cudaMemcpyToSymbol", "cuMemcpyDtoH_v2",
        "hipMemcpyWithStream", "hipMemcpyDtoH"}) {
    EXPECT_TRUE(IsSynchronisingCall(name)) << name;
  }
}

TEST(BlockingCalls, OtherCallsDoNotSynchronise) {
  for (const char* name :
       {"cudaMemcpyAsync", "cudaMemcpyAsync_v3020", "cuMemcpyHtoDAsync_v2", "hipMemcpyAsync",
        "hipMemcpyDtoHAsync", "cudaStreamWaitEvent", "cudaLaunchKernel", "cudaGraphAddMemcpyNode",
        "cuGraphMemcpyNodeGetParams", "cudaMemset", "cudaFree", "aten::_local_scalar_dense",
        "Context Synchronize", "MemcpyDtoH", "cu", "cuda", ""}) {
    EXPECT_FALSE(IsSynchronisingCall(name)) << name;
  }
}

TEST(BlockingCalls, CallsThatWaitOrCopyMayBlock) {
  EXPECT_TRUE(MayBlock("cudaStreamWaitEvent"));
  EXPECT_TRUE(MayBlock("hipMemcpyWithStream"));
  EXPECT_TRUE(MayBlock("cudaStreamSynchronize"));
  EXPECT_FALSE(MayBlock("cudaLaunchKernel"));
}

}  // namespace
}  // namespace layerscope::analysis

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "src/kernel_names/kernel_name.h"
#include "src/kernel_names/mangled_outline.h"
#include "src/kernel_names/short_name.h"

namespace layerscope::kernel_names {
namespace {

using std::chrono::steady_clock;

double SecondsOf(const std::string& name) {
  const auto begin = steady_clock::now();
  const std::string text = Demangle(name);
  EXPECT_LE(text.size(), kMaxNameBytes);
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

TEST(Demangle, LeavesOrdinaryNamesAlone) {
  EXPECT_EQ(Demangle("nvjet_tst_128x64"), "nvjet_tst_128x64");
  EXPECT_EQ(Demangle("aten::mm"), "aten::mm");
  EXPECT_EQ(Demangle(""), "");
  EXPECT_EQ(Demangle("_Z"), "_Z");
  EXPECT_EQ(Demangle("_Zebra"), "_Zebra");
}

// c++filt (binutils 2.40) prints the same.
TEST(Demangle, ReadsItaniumNames) {
  EXPECT_EQ(Demangle("_ZN4vllm15rms_norm_kernelIfEEvPT_i"),
            "void vllm::rms_norm_kernel<float>(float*, int)");
}

TEST(Demangle, DropsRocmsDescriptorSuffix) {
  EXPECT_EQ(Demangle("_Z3fooi.kd"), "foo(int)");
  EXPECT_EQ(Demangle("Cijk_Alik_Bljk_BBS.kd"), "Cijk_Alik_Bljk_BBS");
}

// The name is from a real MI300 trace; DF16b is bfloat16 by the ABI, S4_ stands for the float* that
// is the fifth substitution, counted by hand.
TEST(Demangle, ReadsBfloat16ThatOldRuntimesDoNotKnow) {
  EXPECT_EQ(
      Demangle("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_"
               "PT_PfS4_S4_S4_diiiiiiib"),
      "void aiter::add_rmsnorm_quant_kernel<__bf16, __bf16, 256, 16, true, false, true, 1>("
      "__bf16*, __bf16*, float*, __bf16*, __bf16*, __bf16*, double, int, int, int, int, int, "
      "int, int, bool)");
}

TEST(Demangle, OutlinesManglingNewerThanTheRuntime) {
  EXPECT_EQ(
      Demangle("_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4s"
               "iluIS2_ES3_S5_EEEEvPS3_PS4_i"),
      "sgl_hip::activation::act_and_mul_kernel<__hip_bfloat16, silu, ...>(...)");
}

TEST(Demangle, OutlinesCutNames) {
  EXPECT_EQ(Demangle("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipe"),
            "ck_tile::kentry<Rmsnorm2dFwd, Rmsnorm2dFwdPipe, ...>(...)");
  EXPECT_EQ(Demangle("_ZN5aiter24add_rmsnorm_quant_ker"), "aiter::add_rmsnorm_quant_ker(...)");
}

TEST(OutlineMangledName, FollowsNestingAndKeepsTheMembersName) {
  EXPECT_EQ(OutlineMangledName("_ZN3foo3barIN3baz3quxEEEvi"), "foo::bar<baz::qux, ...>(...)");
  EXPECT_EQ(OutlineMangledName("_ZN3FooIiE3barEv"), "Foo::bar(...)");
  EXPECT_EQ(OutlineMangledName("_ZN12_GLOBAL__N_13fooEv"), "(anonymous namespace)::foo(...)");
  EXPECT_EQ(OutlineMangledName("_Z3fooIfEvT_"), "foo<...>(...)");
  EXPECT_EQ(OutlineMangledName("_ZTV3foo"), "");
  EXPECT_EQ(OutlineMangledName("foo"), "");
}

// Every prefix of a real name gives something, and nothing longer than a name may be.
TEST(Demangle, TakesANameCutAnywhere) {
  const std::string name =
      "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_"
      "S5_"
      "EEEEvPS3_PS4_i";
  for (size_t length = 0; length <= name.size(); ++length) {
    const std::string text = Demangle(name.substr(0, length));
    EXPECT_EQ(text.empty(), length == 0) << length;
    EXPECT_FALSE(ShortName(name.substr(0, length)).empty() && length > 0) << length;
  }
}

// Each level names the one before twice: 2^40 copies if written out.
TEST(Demangle, DoesNotExpandBackReferencesWithoutBound) {
  std::string name = "_Z1fSt4pairIiiE";
  std::string type = "St4pairIiiE";
  name = "_Z1f" + type;
  for (int level = 0; level < 40; ++level) {
    const std::string reference =
        level == 0
            ? "S_"
            : "S" + std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(level - 1) % 36]) + "_";
    name += "St4pairI" + reference + reference + "E";
  }
  EXPECT_LT(SecondsOf(name), 1.0);
}

TEST(Demangle, StaysFastOnHugeAndDeepNames) {
  constexpr size_t kMegabytes = size_t{3} << 20;
  EXPECT_LT(SecondsOf("_Z" + std::string(kMegabytes, 'N')), 1.0);
  EXPECT_LT(SecondsOf("_ZN3fooI" + std::string(kMegabytes, 'I')), 1.0);
  EXPECT_LT(SecondsOf("_Z3foo" + std::string(kMegabytes, 'P')), 1.0);
  EXPECT_LT(SecondsOf("_Z" + std::string(kMegabytes, '9')), 1.0);
  EXPECT_LT(SecondsOf("_Z3foo" + std::string(3000, 'P') + "i"), 1.0);
}

}  // namespace
}  // namespace layerscope::kernel_names

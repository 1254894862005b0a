#pragma once
// A model family as data: which kernels a layer of each type launches, in order, what stands before
// the first and after the last layer, and the config.json that belongs to it. The tables are in
// family_*.cc; this header is all that the rest of the generator knows of a model.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/gen/options.h"

namespace layerscope::gen {

// What a kernel does. `--neutral` hides the names of one of these.
enum class Work : uint8_t { kOther, kNorm, kMixer, kGemm, kFfn, kReduce, kEmbed, kSampler, kCache };

// When and where a row applies; several may be joined.
enum RowFlag : uint32_t {
  kFirstLayer = 1,       // only in layer 0
  kNotFirstLayer = 2,    // not in layer 0
  kLastLayer = 4,        // only in the last layer
  kNotLastLayer = 8,     // not in the last layer
  kPrefillOnly = 16,     // prompts
  kDecodeOnly = 32,      // one token a request
  kTp = 64,              // with --tp 2 or more
  kTpPlain = 128,        // the same, and all-reduces stand alone
  kTpFused = 256,        // the same, and --fused-allreduce
  kNotTpFused = 512,     // the opposite of kTpFused
  kSide = 1024,          // on a side stream, where there is one
  kAnchor = 2048,        // the profile's anchor
  kOutsideGraph = 4096,  // launched eagerly also when the pass is a graph
  kReduces = 8192,       // a norm that is an all-reduce as well
};

struct Row {
  std::string_view name;
  int32_t tenths_us;  // time of a decode, in tenths of a microsecond
  Work work = Work::kOther;
  uint32_t flags = 0;
};

using Rows = std::span<const Row>;

// A half of a layer, or whatever an anchor opens: lists of rows, one after the other.
using Block = std::vector<Rows>;

// One kind of layer.
struct Form {
  char letter;            // in Family::prefix, cycle and --pattern
  std::string_view type;  // as the config says it: "CSA_C4+HASH+MOE"
  int64_t ratio = -1;     // compress ratio, -1 = none
  std::string_view word;  // its entry in the config's per-layer list, JSON
  std::vector<Block> blocks;
};

// How a config says the types of its layers.
enum class LayerList : uint8_t {
  kNone,     // constant members say it
  kWords,    // key: [word of each layer]
  kPattern,  // key: "string of the words"
  kIdLists,  // `id_object`: {key: ids of the layers with word "1", second_key: the other ids}
};

struct ConfigText {
  std::string_view outer = {};  // members of a wrapper around `text_config`; empty = no wrapper
  // Members of the text model; $HASH and $DENSE stand for how many such layers come first.
  std::string_view members = {};
  std::string_view count_key = "num_hidden_layers";
  LayerList list = LayerList::kNone;
  std::string_view key = {};
  std::string_view second_key = {};
  std::string_view id_object = {};
  int64_t first_id = 0;       // ids of kIdLists count from here
  int64_t surplus_words = 0;  // entries beyond the layers, for the layers that predict ahead
  std::string_view surplus_word = {};
};

struct Family {
  std::string_view name;
  std::string_view profile;  // of ../../profiles
  std::string_view anchor;   // what --anchor-kernel would be given
  std::string_view model_class, layer_class, mixer_class, ffn_class;
  int64_t layers;   // of the real model
  Rows prelude;     // before each layer's first block, yet part of the interval before it
  Rows head, tail;  // before layer 0, after the last layer
  std::vector<Form> forms;
  std::string_view prefix, cycle;  // layer i has form prefix[i], beyond it the cycle's
  ConfigText config;
  bool has_config = true;
  bool side_stream = false;  // always uses one
};

// Null for an unknown name.
const Family* FindFamily(std::string_view name);
std::vector<std::string_view> FamilyNames();

// The family that the options ask for; --ambiguous and --amd choose a variant.
const Family& ChosenFamily(const Options& options);

// The form of each layer.
std::vector<const Form*> LayerForms(const Family& family, const Options& options);

// The config.json of a family with these layers; "null" when it has none.
std::string RenderConfig(const Family& family, const std::vector<const Form*>& forms);

// The tables.
const Family& DeepseekV4();
const Family& DeepseekV41();
const Family& DeepseekV3();
const Family& MlaDsa();
const Family& KimiK3();
const Family& Glm5Next();
const Family& HyV4();
const Family& Qwen4Exp();
const Family& NemotronH();
const Family& LongcatFlash();
const Family& Gemma4();
const Family& GptOss();
const Family& Dense();
const Family& DenseAmd();
const Family& HfEager();
const Family& Generic();
const Family& AlternatingMoe();
const Family& PostNorm();

}  // namespace layerscope::gen

#include "src/replay/forward_layout.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace layerscope::replay {
namespace {

/// Recordings of which letters stand for pieces; a launch may be every piece of its letter.
class Layout {
 public:
  explicit Layout(std::vector<std::string> recordings) : recordings_(std::move(recordings)) {}

  /// The chosen piece of each launch, `.` for none, `?` where others would be as cheap.
  std::string Lay(std::string_view launches) const {
    std::vector<LaunchChoices> choices;
    for (const char letter : launches) choices.push_back(ChoicesOf(letter));
    std::vector<const LaunchChoices*> pointers;
    for (const LaunchChoices& choice : choices) pointers.push_back(&choice);
    std::vector<uint32_t> n_pieces;
    for (const std::string& recording : recordings_) {
      n_pieces.push_back(static_cast<uint32_t>(recording.size()));
    }
    std::string text;
    const std::vector<LaunchLayout> layout = LayForwards(pointers, n_pieces, {true, true, 16});
    for (size_t i = 0; i < layout.size(); ++i) {
      if (layout[i].chosen == kNoPiece) {
        text += '.';
      } else if (!layout[i].also_best.empty()) {
        text += '?';
      } else {
        text += static_cast<char>('0' + choices[i].candidates[layout[i].chosen].piece);
      }
    }
    return text;
  }

 private:
  LaunchChoices ChoicesOf(char letter) const {
    LaunchChoices choices;
    choices.none_cost = 160;
    for (uint32_t r = 0; r < recordings_.size(); ++r) {
      for (uint32_t p = 0; p < recordings_[r].size(); ++p) {
        if (recordings_[r][p] == letter) choices.candidates.push_back({r, p, 0});
      }
    }
    return choices;
  }

  std::vector<std::string> recordings_;
};

TEST(LayForwards, ReadsPiecesThatAreAlikeByTheirOrder) {
  EXPECT_EQ(Layout({"ammmz"}).Lay("ammmz"), "01234");
  EXPECT_EQ(Layout({"ammmz"}).Lay("ammmzammmz"), "0123401234");
}

TEST(LayForwards, ReadsForwardsThatTheWindowCuts) {
  EXPECT_EQ(Layout({"ammmz"}).Lay("mmzamm"), "234012");
}

TEST(LayForwards, SaysWhenNothingTellsThePieces) {
  EXPECT_EQ(Layout({"ammmz"}).Lay("mm"), "??");
}

TEST(LayForwards, TakesWholeForwardsWherePiecesAreAllAlike) {
  EXPECT_EQ(Layout({"mmm"}).Lay("mmmmmm"), "012012");
}

TEST(LayForwards, KeepsRecordingsApart) {
  EXPECT_EQ(Layout({"ammz", "bmmy"}).Lay("ammzbmmy"), "01230123");
  EXPECT_EQ(Layout({"f", "ammz"}).Lay("fammzf"), "001230");
}

TEST(LayForwards, LeavesOutWhatIsNotRecorded) {
  EXPECT_EQ(Layout({"ammz"}).Lay("ammzXammz"), "0123.0123");
}

TEST(LayForwards, TakesNothingOfAForwardThatLacksAPiece) {
  EXPECT_EQ(Layout({"amnoz"}).Lay("amozamnoz"), "....01234");
  // A model of fewer layers has the same first and last pieces.
  EXPECT_EQ(Layout({"ammmmz"}).Lay("amzamz"), "......");
}

TEST(LayForwards, StandsNothing) {
  EXPECT_EQ(Layout({"ab"}).Lay(""), "");
  EXPECT_EQ(Layout({}).Lay("ab"), "..");
}

}  // namespace
}  // namespace layerscope::replay

#include "src/render/tree_guides.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layerscope::render {
namespace {

using Guides = std::vector<std::string>;

TEST(TreeGuidesTest, LastChildrenCloseTheirLine) {
  // root { a { b c } d } second root { e }
  EXPECT_EQ(TreeGuides({1, 2, 3, 3, 2, 1, 2}, 2),
            (Guides{"", "├─", "│ ├─", "│ └─", "└─", "", "└─"}));
  EXPECT_EQ(TreeGuides({1, 2, 3, 3, 2, 1, 2}, 1), (Guides{"", "├", "│├", "│└", "└", "", "└"}));
}

TEST(TreeGuidesTest, LevelsWithoutRowsAreBlank) {
  // A filter left the grandchild without its parent; the smallest depth is the root.
  EXPECT_EQ(TreeGuides({4, 6, 5}, 2), (Guides{"", "│ └─", "└─"}));
  EXPECT_EQ(TreeGuides({4, 6}, 2), (Guides{"", "  └─"}));
  EXPECT_EQ(TreeGuides({}, 2), Guides{});
}

}  // namespace
}  // namespace layerscope::render

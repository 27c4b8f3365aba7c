#include "engine/kv_memory.h"

#include <fstream>

#include <gtest/gtest.h>

namespace reprise {
namespace {
namespace fs = std::filesystem;

class AvailableMemory : public testing::Test {
 protected:
  AvailableMemory()
      : root(fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(root);
  }
  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  void group(const fs::path& folder, const std::string& limit, const std::string& usage,
             const std::string& stat) {
    write(folder / "memory.max", limit + "\n");
    write(folder / "memory.current", usage + "\n");
    write(folder / "memory.stat", stat);
  }
  fs::path root;
};

TEST_F(AvailableMemory, IsMemAvailableWithoutLimits) {
  write("proc/meminfo", "MemTotal:       100 kB\nMemFree:  10 kB\nMemAvailable:    50 kB\n");
  EXPECT_EQ(available_memory(root), 50u * 1024);
}

TEST_F(AvailableMemory, TightestAncestorCountsAndFileCacheIsFree) {
  write("proc/meminfo", "MemAvailable:  1000000 kB\n");
  write("proc/self/cgroup", "0::/outer/inner\n");
  group("sys/fs/cgroup/outer/inner", "max", "5000", "");
  group("sys/fs/cgroup/outer", "9000", "6000", "anon 3000\ninactive_file 1000\nactive_file 500\n");
  EXPECT_EQ(available_memory(root), 4500u);
  group("sys/fs/cgroup/outer/inner", "6000", "5000", "");
  EXPECT_EQ(available_memory(root), 1000u);
  group("sys/fs/cgroup/outer/inner", "6000", "7000", "");
  EXPECT_EQ(available_memory(root), 0u) << "over its limit: nothing is left";
}

TEST_F(AvailableMemory, HostPathsInsideAContainerFallBackToTheMount) {
  write("proc/meminfo", "MemAvailable:  1000000 kB\n");
  write("proc/self/cgroup", "0::/../../kubepods/pod1\n");
  group("sys/fs/cgroup", "8000", "3000", "");
  EXPECT_EQ(available_memory(root), 5000u);
}

TEST_F(AvailableMemory, VersionOne) {
  write("proc/meminfo", "MemAvailable:  1000000 kB\n");
  write("proc/self/cgroup", "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n");
  write("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/docker/x/memory.usage_in_bytes", "4000\n");
  EXPECT_EQ(available_memory(root), 1000000u * 1024);
  write("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "10000\n");
  write("sys/fs/cgroup/memory/docker/x/memory.stat",
        "inactive_file 7\ntotal_inactive_file 100\ntotal_active_file 20\n");
  EXPECT_EQ(available_memory(root), 6120u);
}

TEST_F(AvailableMemory, SaysWhenItCannotKnow) {
  EXPECT_FALSE(available_memory(root));
  write("proc/self/cgroup", "0::/a\nrubbish\n");
  group("sys/fs/cgroup/a", "500", "100", "");
  EXPECT_EQ(available_memory(root), 400u) << "the limit alone will do";
}

TEST(AvailableMemoryHere, IsPlausible) {
  const auto here = available_memory();
  ASSERT_TRUE(here);
  EXPECT_GT(*here, 1u << 20);
}

TEST(DefaultKvMemory, IsSixtyPercentOfWhatIsLeft) {
  EXPECT_EQ(default_kv_memory(1000), 600u);
  EXPECT_EQ(default_kv_memory(~size_t{0}), ~size_t{0} / 10 * 6) << "no overflow";
}

TEST(PagesFor, CountsAPageOfEveryGroup) {
  const KvSpec spec{64, {{KvKind::kFull, 0, 1000}, {KvKind::kWindow, 128, 500}}};
  EXPECT_EQ(pages_for(spec, 1499), 0u);
  EXPECT_EQ(pages_for(spec, 4499), 2u);
  EXPECT_EQ(pages_for(spec, ~size_t{0}), kNoPage - 1);
  EXPECT_EQ(pages_for({}, 100), 0u);
}

}  // namespace
}  // namespace reprise

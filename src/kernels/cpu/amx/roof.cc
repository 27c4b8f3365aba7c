// Peak loops of the tile unit: 2 x 2 tiles with operands in L1, four tile loads for four products. (A loop on
// registers alone does not see the slow mode in which neighbours leave few physical tile registers.)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/cpu/roof_loops.h"

namespace reprise::kernels::cpu::amx {

namespace {
struct alignas(64) TileConfig {
  uint8_t palette, start_row;
  uint8_t reserved[14];
  uint16_t bytes_per_row[16];
  uint8_t rows[16];
};
// Constant and static: GCC 12's _tile_loadconfig declares only the first bytes as read, so stores to a local
// one would be dropped.
constexpr TileConfig kConfig = {1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};

struct alignas(64) Operands {
  uint16_t values[4][16 * 32];
};
constexpr Operands all(uint16_t value) {
  Operands o{};
  for (auto& tile : o.values)
    for (uint16_t& x : tile) x = value;
  return o;
}
// Every factor is 1, so the accumulators count the products.
constexpr Operands kInt8Ones = all(0x0101), kBf16Ones = all(0x3f80);

constexpr int kPerRound = 4;
constexpr uint64_t kMacsInt8 = 16 * 16 * 64, kMacsBf16 = 16 * 16 * 32;

// The sum of all accumulators (tiles 0 to 3), then the tiles are given back.
template <class T>
double finish() {
  alignas(64) T tiles[kPerRound][16 * 16];
  _tile_stored(0, tiles[0], 64);
  _tile_stored(1, tiles[1], 64);
  _tile_stored(2, tiles[2], 64);
  _tile_stored(3, tiles[3], 64);
  _tile_release();
  double sum = 0;
  for (const auto& tile : tiles)
    for (const T x : tile) sum += static_cast<double>(x);
  return sum;
}
}  // namespace

bool usable() {
  if (!__builtin_cpu_supports("amx-tile") || !__builtin_cpu_supports("amx-int8") ||
      !__builtin_cpu_supports("amx-bf16"))
    return false;
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

uint64_t roof_int8(uint64_t rounds, double* sum) {
  _tile_loadconfig(&kConfig);
  for (uint64_t i = 0; i < rounds; ++i) {
    _tile_loadd(4, kInt8Ones.values[0], 64);
    _tile_loadd(6, kInt8Ones.values[2], 64);
    _tile_loadd(5, kInt8Ones.values[1], 64);
    _tile_loadd(7, kInt8Ones.values[3], 64);
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  *sum = finish<int32_t>();
  return rounds * kPerRound * kMacsInt8 * 2;
}

uint64_t roof_bf16(uint64_t rounds, double* sum) {
  _tile_loadconfig(&kConfig);
  for (uint64_t i = 0; i < rounds; ++i) {
    _tile_loadd(4, kBf16Ones.values[0], 64);
    _tile_loadd(6, kBf16Ones.values[2], 64);
    _tile_loadd(5, kBf16Ones.values[1], 64);
    _tile_loadd(7, kBf16Ones.values[3], 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  *sum = finish<float>();
  return rounds * kPerRound * kMacsBf16 * 2;
}

}  // namespace reprise::kernels::cpu::amx

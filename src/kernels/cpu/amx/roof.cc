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
alignas(64) int8_t operands[4][16 * 64];

constexpr int kPerRound = 4;
constexpr uint64_t kMacsInt8 = 16 * 16 * 64, kMacsBf16 = 16 * 16 * 32;
}  // namespace

bool usable() {
  if (!__builtin_cpu_supports("amx-tile") || !__builtin_cpu_supports("amx-int8") ||
      !__builtin_cpu_supports("amx-bf16"))
    return false;
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

uint64_t roof_int8(uint64_t rounds) {
  _tile_loadconfig(&kConfig);
  for (uint64_t i = 0; i < rounds; ++i) {
    _tile_loadd(4, operands[0], 64);
    _tile_loadd(6, operands[2], 64);
    _tile_loadd(5, operands[1], 64);
    _tile_loadd(7, operands[3], 64);
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_release();
  return rounds * kPerRound * kMacsInt8 * 2;
}

uint64_t roof_bf16(uint64_t rounds) {
  _tile_loadconfig(&kConfig);
  for (uint64_t i = 0; i < rounds; ++i) {
    _tile_loadd(4, operands[0], 64);
    _tile_loadd(6, operands[2], 64);
    _tile_loadd(5, operands[1], 64);
    _tile_loadd(7, operands[3], 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return rounds * kPerRound * kMacsBf16 * 2;
}

}  // namespace reprise::kernels::cpu::amx

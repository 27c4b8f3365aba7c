// How keys and values are kept between steps. Compiled with every instruction set's flags: nothing that could
// be emitted out of line.
#pragma once

#include <cstdint>

namespace reprise::kernels {

enum class KvType : uint8_t {
  kBF16,
  kInt8,  // with one fp32 scale for each token, layer and kv head, of K and of V: largest magnitude / 127
};
inline constexpr int kKvTypes = 2;

}  // namespace reprise::kernels

// 2^x in fp32, for any instruction set. Included by ISA files only.
#pragma once

namespace reprise::kernels::cpu {

// Cody and Waite: x = n + f with |f| <= 1/2, 2^f by a degree-6 polynomial (Taylor in f ln 2, error below 1
// ulp or so), then the exponent. exp2(0) is exactly 1; x <= -160, -inf included, gives exactly 0; x above 127
// is clamped.
template <class Isa>
[[gnu::always_inline]] inline typename Isa::V exp2(typename Isa::V x) {
  using V = typename Isa::V;
  x = Isa::max(x, Isa::set1(-160.0f));
  x = Isa::sub(Isa::zero(), Isa::max(Isa::sub(Isa::zero(), x), Isa::set1(-127.0f)));
  const V n = Isa::round(x), f = Isa::sub(x, n);
  V p = Isa::fma(Isa::set1(1.5403530e-4f), f, Isa::set1(1.3333558e-3f));
  p = Isa::fma(p, f, Isa::set1(9.6181291e-3f));
  p = Isa::fma(p, f, Isa::set1(5.5504109e-2f));
  p = Isa::fma(p, f, Isa::set1(2.4022651e-1f));
  p = Isa::fma(p, f, Isa::set1(6.9314718e-1f));
  p = Isa::fma(p, f, Isa::set1(1.0f));
  return Isa::scale2(p, n);
}

}  // namespace reprise::kernels::cpu

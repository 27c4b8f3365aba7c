// The checks of shapes that every table makes before it runs experts.
#pragma once

#include "kernels/table.h"

namespace reprise::kernels {

// Aborts unless the stacks and biases fit together and every choice is an expert.
void check_experts(const ExpertsArgs& args);

}  // namespace reprise::kernels

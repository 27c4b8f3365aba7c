// The families, each in the file of its name.
#pragma once

#include "text/tool_calls/family.h"

namespace reprise::calls {

const Family& deepseek();       // V3, R1, V3.1
const Family& deepseek_dsml();  // V3.2, V4
const Family& gemma();
const Family& glm();
const Family& harmony();
const Family& hermes();
const Family& kimi_k2();
const Family& llama3();
const Family& minimax_m2();
const Family& mistral();
const Family& qwen_xml();
const Family& seed_oss();

}  // namespace reprise::calls

// A level of nesting, which the parser holds while it is inside something: limited, so that recursion over
// templates is safe.
#pragma once

#include "text/jinja/parser.h"

namespace reprise::jinja {

constexpr uint32_t kMaxParserDepth = 200;  // nested brackets, blocks, else branches
constexpr uint32_t kMaxTreeHeight = 500;   // operators, filters and calls in a row make the tree as high

class Parser::Deeper {
 public:
  explicit Deeper(Parser& parser) : parser_(parser) {
    if (++parser.depth_ > kMaxParserDepth) {
      raise_at(parser.current().where, "the template nests too deeply (more than {} levels)",
               kMaxParserDepth);
    }
  }
  ~Deeper() { --parser_.depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  Parser& parser_;
};

}  // namespace reprise::jinja

#pragma once

#include <iosfwd>

#include "figures.hpp"

namespace rocem::tools {

void print_bench_table(std::ostream& out, const BenchFigures& figures);
void print_bench_json(std::ostream& out, const BenchFigures& figures);

}  // namespace rocem::tools

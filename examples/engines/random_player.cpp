// Engine in C++ without dependencies. It plays any game at random, by the seed of each decision.
//
//     g++ -O2 -std=c++17 -o random_player examples/engines/random_player.cpp
//     trickformer tournament skat --a engine:cmd=./random_player --b random --deals 20
//
// It reads only some fields of a message: the type, the table, the legal actions and the seed. It searches the line for the
// field's name in quotes. A string cannot contain this name by accident, because JSON escapes quotes in strings.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace {

// Returns the position of a field's value; npos if there is no such field.
std::size_t value_of(const std::string& line, const std::string& name) {
  const std::string key = '"' + name + "\":";
  const std::size_t at = line.find(key);
  return at == std::string::npos ? at : at + key.size();
}

std::string text(const std::string& line, const std::string& name) {
  const std::size_t at = value_of(line, name);
  if (at == std::string::npos) return "";
  return line.substr(at + 1, line.find('"', at + 1) - at - 1);
}

std::uint64_t number(const std::string& line, const std::string& name) {
  const std::size_t at = value_of(line, name);
  return at == std::string::npos ? 0 : std::stoull(line.substr(at));
}

std::vector<int> numbers(const std::string& line, const std::string& name) {
  std::vector<int> values;
  std::size_t at = value_of(line, name);
  if (at == std::string::npos) return values;
  while (line[at] != ']') {
    std::size_t read = 0;
    values.push_back(std::stoi(line.substr(++at, 20), &read));
    at += read;
  }
  return values;
}

// SplitMix64 (Steele, Lea & Flood 2014). Unlike the distributions of the standard library, it is the same on every machine.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::string type = text(line, "type");
    if (type == "hello") {
      std::cout << R"({"type":"hello","protocol":1,"name":"random_player","version":"1.0","games":["*"],"seeds":true,)"
                << R"("tables":1000000,"deals":false})" << std::endl;
    } else if (type == "act") {
      const std::vector<int> legal = numbers(line, "legal");
      const int action = legal[mix(number(line, "seed")) % legal.size()];
      std::cout << R"({"type":"action","table":)" << number(line, "table") << R"(,"action":)" << action << '}' << std::endl;
    } else if (type == "quit") {
      return 0;
    }
  }
}

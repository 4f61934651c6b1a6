// The interpreter's loop in Lua 5.4, with local variables.

#include <benchmark/benchmark.h>

#include <lua.hpp>

namespace boxcar::bench {
namespace {

void runLua(benchmark::State& state, const char* text) {
  lua_State* lua = luaL_newstate();
  luaL_openlibs(lua);
  if (luaL_loadstring(lua, text) != LUA_OK) state.SkipWithError(lua_tostring(lua, -1));
  for (auto _ : state) {
    lua_pushvalue(lua, -1);
    if (lua_pcall(lua, 0, 0, 0) != LUA_OK) {
      state.SkipWithError(lua_tostring(lua, -1));
      break;
    }
  }
  lua_close(lua);
}

void whileLoop(benchmark::State& state) {
  runLua(state, R"(
local function sum_of_squares(n)
  local acc, i = 0, 0
  while i < n do acc = acc + i*i; i = i + 1 end
  return acc
end
assert(sum_of_squares(100000) == 333328333350000)
)");
}
BENCHMARK(whileLoop)->Name("script_while_100000_rounds/Lua")->Unit(benchmark::kMicrosecond);

void forRange(benchmark::State& state) {
  runLua(state, R"(
local function sum_of_squares(n)
  local acc = 0
  for i = 0, n - 1 do acc = acc + i*i end
  return acc
end
assert(sum_of_squares(100000) == 333328333350000)
)");
}
BENCHMARK(forRange)->Name("script_for_range_100000_rounds/Lua")->Unit(benchmark::kMicrosecond);

void functionCalls(benchmark::State& state) {
  runLua(state, R"(
local function add(a, b) return a + b end
local function total(n)
  local acc = 0
  for i = 0, n - 1 do acc = add(acc, i) end
  return acc
end
assert(total(100000) == 4999950000)
)");
}
BENCHMARK(functionCalls)->Name("script_100000_function_calls/Lua")->Unit(benchmark::kMicrosecond);

void fibonacci(benchmark::State& state) {
  runLua(state, R"(
local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end
assert(fib(22) == 17711)
)");
}
BENCHMARK(fibonacci)->Name("script_fib_22/Lua")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace boxcar::bench

// The interpreter's loop in Lua 5.4, with locals.

#include <benchmark/benchmark.h>

#include <lua.hpp>

namespace boxcar::bench {
namespace {

void whileLoop(benchmark::State& state) {
  lua_State* lua = luaL_newstate();
  luaL_openlibs(lua);
  const char* text = R"(
local function sum_of_squares(n)
  local acc, i = 0, 0
  while i < n do acc = acc + i*i; i = i + 1 end
  return acc
end
assert(sum_of_squares(100000) == 333328333350000)
)";
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
BENCHMARK(whileLoop)->Name("script_while_100000_rounds/Lua")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace boxcar::bench

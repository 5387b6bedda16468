#include "fake_state.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "misbehave.h"

namespace candor::fake {
namespace {

thread_local void* current = nullptr;

bool IsTurn(std::string_view place, int count) { return FaultAt(place) == std::to_string(count); }

}  // namespace

State& TheState() {
  static State state;
  return state;
}

int Enter(Kind kind) {
  State& state = TheState();
  ++state.calls;
  if (kind == Kind::kMemory) ++state.memory_calls;
  if (state.lost) return kLaunchFailed;
  if (IsTurn("call", state.calls)) return kUnknown;
  return kind == Kind::kMemory && IsTurn("memory", state.memory_calls) ? kOutOfMemory : kSuccess;
}

int EnterContext(Kind kind) {
  if (current == nullptr) {
    ++TheState().misuses;
    return kInvalidContext;
  }
  return Enter(kind);
}

bool Leave(const void* object, std::string_view sort) {
  State& state = TheState();
  if (state.hangs) {
    ++state.blocked;
    return false;
  }
  const auto found = state.live.find(object);
  if (current == nullptr || found == state.live.end() || found->second != sort) {
    ++state.misuses;
    return false;
  }
  state.live.erase(found);
  return true;
}

int LeaveResult() { return TheState().lost ? kLaunchFailed : kSuccess; }

void MakeCurrent(void* context) { current = context; }

bool InMemory(const void* address, size_t bytes) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const auto& [memory, size] : TheState().sizes) {
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    if (at >= begin && at - begin <= size && bytes <= size - (at - begin)) return true;
  }
  ++TheState().misuses;
  return false;
}

int NewMemory(void** memory, size_t bytes, std::string_view sort) {
  constexpr size_t kAlignment = 256;
  *memory = aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (*memory == nullptr) return kOutOfMemory;
  TheState().live[*memory] = sort;
  TheState().sizes[*memory] = bytes;
  return kSuccess;
}

void FreeMemory(void* memory, std::string_view sort) {
  if (!Leave(memory, sort)) return;
  TheState().sizes.erase(memory);
  free(memory);
}

}  // namespace candor::fake

using candor::fake::State;
using candor::fake::TheState;

extern "C" {

// For the tests: all counts anew, as if the library had just been loaded.
void candor_fake_reset() {
  // What is never given back after a hang stays reachable for a leak checker, to the end.
  static auto* const earlier = new std::vector<State>();
  State& state = TheState();
  if (!state.live.empty()) earlier->push_back(state);
  state = State();
}

// The number that a test asks for by name; -1 for an unknown name.
int candor_fake_count(const char* name) {
  const State& state = TheState();
  const std::string_view wanted = name;
  if (wanted == "live") return static_cast<int>(state.live.size());
  if (wanted == "contexts") return state.contexts;
  if (wanted == "calls") return state.calls;
  if (wanted == "memory") return state.memory_calls;
  if (wanted == "submissions") return state.submissions;
  if (wanted == "misuses") return state.misuses;
  if (wanted == "blocked") return state.blocked;
  if (wanted == "depth") return state.depth;
  return -1;
}
}

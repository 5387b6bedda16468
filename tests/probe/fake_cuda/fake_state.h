// What the fake libcuda remembers: what is live, what was counted, and which call is to fail. Faults, in
// CANDOR_FAKE_DRIVER (misbehave.h), each for the N-th since the last reset:
//   call:N     that call fails with CUDA_ERROR_UNKNOWN, whatever it is
//   memory:N   that call among those that take memory fails with CUDA_ERROR_OUT_OF_MEMORY
//   submit:N   that submission fails
//   lost:N     the device is lost while it works on that submission
//   hang:N     that submission never ends
// One thread at a time.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>

namespace candor::fake {

inline constexpr int kSuccess = 0;
inline constexpr int kInvalidValue = 1;
inline constexpr int kOutOfMemory = 2;
inline constexpr int kInvalidContext = 201;
inline constexpr int kNotReady = 600;
inline constexpr int kLaunchFailed = 719;
inline constexpr int kUnjoined = 904;
inline constexpr int kUnknown = 999;

enum class Kind { kPlain, kMemory };

struct State {
  std::map<const void*, std::string_view> live;  // every object, with its sort
  std::map<const void*, size_t> sizes;           // of memory
  int contexts = 0;                              // uses of the primary context
  int calls = 0;
  int memory_calls = 0;
  int submissions = 0;
  int misuses = 0;     // calls that a real driver would refuse, or not survive
  int blocked = 0;     // calls that would wait for ever for a GPU that hangs
  int busy = 0;        // so many questions before the work is done
  int depth = 0;       // of the graph that ran last: its longest chain
  bool lost = false;   // until the last context is given back
  bool hangs = false;  // until a reset
};
State& TheState();

// The first step of every function that can fail: its error, or kSuccess.
int Enter(Kind kind = Kind::kPlain);
// The same for what needs a current context.
int EnterContext(Kind kind = Kind::kPlain);
// The first step of a function that gives something of `sort` back. True when it is to be deleted.
bool Leave(const void* object, std::string_view sort);
// What such a function answers.
int LeaveResult();
void MakeCurrent(void* context);
// Is [address, address + bytes) inside live memory? Counts a misuse otherwise.
bool InMemory(const void* address, size_t bytes);
int NewMemory(void** memory, size_t bytes, std::string_view sort);
void FreeMemory(void* memory, std::string_view sort);

}  // namespace candor::fake

// The compute half of the fake libcuda. Memory operations work on host memory; there is one kernel, "add"; a graph
// runs what was captured, and among the nodes that are ready the one that was added last goes first, so that a
// dependency that is missing shows.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fake_state.h"
#include "misbehave.h"

using namespace candor::fake;

namespace {

constexpr int kInvalidPtx = 218;
constexpr int kNotFound = 500;
constexpr int kMaxThreads = 1024;

// The whole text of a module, and the one kernel in it.
constexpr const char* kModuleText = "fake module";
struct Module;
struct Function {
  Module* module = nullptr;
};
struct Module {
  Function add{this};
};

// to[i] = from[i] + value, one word a thread.
struct AddParameters {
  uint32_t* to;
  const uint32_t* from;
  uint32_t words;
  uint32_t value;
};

struct Node {
  std::function<void()> work;
  std::set<size_t> after;
};

struct Graph {
  std::vector<Node> nodes;
};

struct Stream {
  int capture = 0;         // 0: none
  bool origin = false;     // of the capture
  std::set<size_t> tails;  // the nodes that the next one comes after
};

struct Event {
  bool timed = false;
  bool recorded = false;
  int capture = 0;
  std::set<size_t> tails;
};

// The capture that goes on; one at a time.
Graph* capturing = nullptr;
int capture_number = 0;
std::set<Stream*> captured_streams;

template <typename T>
int Make(T** object, std::string_view sort) {
  if (const int error = EnterContext(Kind::kMemory)) return error;
  *object = new T();
  TheState().live[*object] = sort;
  return kSuccess;
}

template <typename T>
int Destroy(T* object, std::string_view sort) {
  if (Leave(object, sort)) delete object;
  return LeaveResult();
}

bool IsLive(const void* object, std::string_view sort) {
  const auto found = TheState().live.find(object);
  if (found != TheState().live.end() && found->second == sort) return true;
  ++TheState().misuses;
  return false;
}

// Into the capture of the stream, or at once.
void Submit(Stream* stream, std::function<void()> work) {
  if (stream->capture == 0) {
    TheState().busy = 2;
    work();
    return;
  }
  capturing->nodes.push_back({std::move(work), stream->tails});
  stream->tails = {capturing->nodes.size() - 1};
}

void Run(const Graph& graph) {
  std::vector<int> depths(graph.nodes.size(), 0);
  std::set<size_t> waiting;
  for (size_t i = 0; i < graph.nodes.size(); ++i) waiting.insert(i);
  TheState().depth = 0;
  while (!waiting.empty()) {
    // The first node that waits is always ready, since a node is added after those that it depends on.
    const auto ready = std::find_if(waiting.rbegin(), waiting.rend(), [&](size_t node) {
      return std::ranges::none_of(graph.nodes[node].after, [&](size_t before) { return waiting.contains(before); });
    });
    const size_t node = *ready;
    for (const size_t before : graph.nodes[node].after) depths[node] = std::max(depths[node], depths[before]);
    TheState().depth = std::max(TheState().depth, ++depths[node]);
    graph.nodes[node].work();
    waiting.erase(node);
  }
}

// Does every node lead to one of `tails`?
bool AllJoined(const Graph& graph, std::set<size_t> tails) {
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (!tails.contains(i)) return false;
    tails.insert(graph.nodes[i].after.begin(), graph.nodes[i].after.end());
  }
  return true;
}

void EndCapture() {
  for (Stream* stream : captured_streams) *stream = Stream();
  captured_streams.clear();
  capturing = nullptr;
}

void Add(const AddParameters& add, unsigned threads) {
  const size_t count = std::min<size_t>(add.words, threads);
  if (!InMemory(add.to, count * 4) || !InMemory(add.from, count * 4)) return;
  for (size_t i = 0; i < count; ++i) add.to[i] = add.from[i] + add.value;
}

bool IsSubmission(std::string_view place) { return FaultAt(place) == std::to_string(TheState().submissions); }

}  // namespace

extern "C" {

int cuModuleLoadDataEx(Module** module, const char* image, unsigned count, int* options, void** values) {
  if (const int error = EnterContext(Kind::kMemory)) return error;
  if (strcmp(image, kModuleText) == 0) {
    *module = new Module();
    TheState().live[*module] = "module";
    return kSuccess;
  }
  char* log = nullptr;
  size_t log_bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 5) log = static_cast<char*>(values[i]);
    if (options[i] == 6) log_bytes = reinterpret_cast<size_t>(values[i]);
  }
  if (log != nullptr) strncpy(log, "ptxas fatal : a fake complaint\n", log_bytes);
  return kInvalidPtx;
}
int cuModuleUnload(Module* module) { return Destroy(module, "module"); }
int cuModuleGetFunction(Function** function, Module* module, const char* name) {
  if (const int error = EnterContext()) return error;
  if (!IsLive(module, "module")) return kInvalidValue;
  *function = &module->add;
  return strcmp(name, "add") == 0 ? kSuccess : kNotFound;
}
int cuFuncGetAttribute(int* value, int attribute, Function* function) {
  if (const int error = EnterContext()) return error;
  if (!IsLive(function->module, "module")) return kInvalidValue;
  *value = attribute == 0 ? kMaxThreads : 0;
  return kSuccess;
}
int cuLaunchKernel(Function* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y,
                   unsigned threads_z, unsigned shared, Stream* stream, void** parameters, void** extra) {
  if (const int error = EnterContext()) return error;
  if (!IsLive(function->module, "module") || !IsLive(stream, "stream")) return kInvalidValue;
  if (x * y * z == 0 || threads == 0 || threads_y != 1 || threads_z != 1 || shared != 0 || extra != nullptr)
    return kInvalidValue;
  AddParameters add;
  memcpy(&add, parameters[0], sizeof(add));
  Submit(stream, [add, all = x * y * z * threads] { Add(add, all); });
  return kSuccess;
}

int cuStreamCreate(Stream** stream, unsigned flags) { return flags == 1 ? Make(stream, "stream") : kInvalidValue; }
int cuStreamDestroy_v2(Stream* stream) { return Destroy(stream, "stream"); }
int cuStreamQuery(Stream* stream) {
  if (const int error = EnterContext()) return error;
  if (!IsLive(stream, "stream") || stream->capture != 0) return kInvalidValue;
  State& state = TheState();
  if (state.hangs) return kNotReady;
  if (state.busy > 0 && state.busy-- > 0) return kNotReady;
  if (IsSubmission("lost")) state.lost = true;
  return state.lost ? kLaunchFailed : kSuccess;
}
int cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  if (const int error = EnterContext()) return error;
  if (!IsLive(stream, "stream") || !IsLive(event, "event")) return kInvalidValue;
  if (event->capture == 0 || capturing == nullptr || event->capture != capture_number) {
    ++TheState().misuses;  // nothing that Candor does waits outside a capture
    return kInvalidValue;
  }
  stream->capture = event->capture;
  captured_streams.insert(stream);
  stream->tails.insert(event->tails.begin(), event->tails.end());
  return kSuccess;
}

int cuEventCreate(Event** event, unsigned flags) {
  const int result = Make(event, "event");
  if (result == kSuccess) (*event)->timed = flags == 0;
  return result;
}
int cuEventDestroy_v2(Event* event) { return Destroy(event, "event"); }
int cuEventRecord(Event* event, Stream* stream) {
  if (const int error = EnterContext()) return error;
  if (!IsLive(stream, "stream") || !IsLive(event, "event")) return kInvalidValue;
  event->recorded = stream->capture == 0;
  event->capture = stream->capture;
  event->tails = stream->tails;
  return kSuccess;
}
int cuEventElapsedTime(float* milliseconds, Event* start, Event* end) {
  if (const int error = EnterContext()) return error;
  if (!start->timed || !end->timed || !start->recorded || !end->recorded) return kInvalidValue;
  *milliseconds = 0.25F;
  return kSuccess;
}

int cuStreamBeginCapture_v2(Stream* stream, int) {
  if (const int error = EnterContext()) return error;
  if (!IsLive(stream, "stream") || capturing != nullptr) {
    ++TheState().misuses;
    return kInvalidValue;
  }
  capturing = new Graph();
  TheState().live[capturing] = "graph";
  stream->capture = ++capture_number;
  stream->origin = true;
  captured_streams.insert(stream);
  return kSuccess;
}
int cuStreamEndCapture(Stream* stream, Graph** graph) {
  int result = EnterContext();
  if (!stream->origin || capturing == nullptr) {
    ++TheState().misuses;
    return kInvalidValue;
  }
  if (result == kSuccess && !AllJoined(*capturing, stream->tails)) result = kUnjoined;
  *graph = result == kSuccess ? capturing : nullptr;
  if (result != kSuccess) Destroy(capturing, "graph");
  EndCapture();
  return result;
}

int cuGraphInstantiateWithFlags(Graph** executable, const Graph* graph, unsigned long long) {
  if (!IsLive(graph, "graph")) return kInvalidValue;
  const int result = Make(executable, "executable graph");
  if (result == kSuccess) **executable = *graph;
  return result;
}
int cuGraphUpload(Graph* executable, Stream*) {
  if (const int error = EnterContext(Kind::kMemory)) return error;
  return IsLive(executable, "executable graph") ? kSuccess : kInvalidValue;
}
int cuGraphLaunch(Graph* executable, Stream* stream) {
  ++TheState().submissions;
  if (const int error = EnterContext()) return error;
  if (!IsLive(executable, "executable graph") || !IsLive(stream, "stream")) return kInvalidValue;
  if (IsSubmission("submit")) {
    TheState().lost = true;
    return kLaunchFailed;
  }
  if (IsSubmission("hang")) {
    TheState().hangs = true;
    return kSuccess;
  }
  Run(*executable);
  TheState().busy = 2;
  return kSuccess;
}
int cuGraphDestroy(Graph* graph) { return Destroy(graph, "graph"); }
int cuGraphExecDestroy(Graph* executable) { return Destroy(executable, "executable graph"); }

int cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  if (const int error = EnterContext(Kind::kMemory)) return error;
  return flags == 3 ? NewMemory(memory, bytes, "host memory") : kInvalidValue;
}
int cuMemFreeHost(void* memory) {
  FreeMemory(memory, "host memory");
  return LeaveResult();
}
int cuMemHostGetDevicePointer_v2(uint64_t* address, void* memory, unsigned) {
  if (const int error = EnterContext()) return error;
  *address = reinterpret_cast<uint64_t>(memory);
  return kSuccess;
}
int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, Stream* stream) {
  if (stream->capture == 0) ++TheState().submissions;
  if (const int error = EnterContext()) return error;
  void* target = reinterpret_cast<void*>(to);
  const void* source = reinterpret_cast<const void*>(from);
  if (!IsLive(stream, "stream") || !InMemory(target, bytes) || !InMemory(source, bytes)) return kInvalidValue;
  if (stream->capture == 0 && IsSubmission("submit")) {
    TheState().lost = true;
    return kLaunchFailed;
  }
  if (stream->capture == 0 && IsSubmission("hang")) {
    TheState().hangs = true;
    return kSuccess;
  }
  Submit(stream, [=] {
    if (InMemory(target, bytes) && InMemory(source, bytes)) memcpy(target, source, bytes);
  });
  return kSuccess;
}
}

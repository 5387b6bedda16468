// Engine: runs the rows of many sequences through one plan. Sequence: a token history with its KV pages.
// One thread drives an Engine at a time; Cancel flags may be set from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "graph/gpu_executable.h"
#include "runtime/model.h"
#include "runtime/placement_report.h"
#include "runtime/sampler.h"

namespace candor {

class Engine;

class Sequence {
 public:
  ~Sequence();
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  const std::vector<TokenId>& tokens() const { return tokens_; }  // all whose keys and values are stored
  int64_t length() const { return static_cast<int64_t>(tokens_.size()); }
  // Drops everything after the first `length` tokens.
  Status Truncate(int64_t length);

 private:
  friend class Engine;
  explicit Sequence(Engine& engine);
  Engine& engine_;
  std::vector<TokenId> tokens_;
  KvPages pages_;
};

// Some rows of one sequence for a step.
struct SequenceRows {
  Sequence* sequence = nullptr;
  std::span<const TokenId> tokens;
  enum class Logits { kNone, kLast, kAll } logits = Logits::kLast;
};

class Engine {
 public:
  // `phases` gets: compile.
  static Result<std::unique_ptr<Engine>> Create(std::shared_ptr<const Model> model, PhaseTimer* phases = nullptr);
  ~Engine();

  std::unique_ptr<Sequence> NewSequence();
  Result<std::unique_ptr<Sequence>> Clone(const Sequence& sequence);  // shares full pages, copies the last one

  // One step: at most max_rows() rows in all. On success the tokens are part of their sequences and the view holds one
  // row of logits
  // ([rows asked for, vocabulary], in the order of `batch`), valid until the next step. InvalidArgument: a token id out
  // of range, too many rows, a sequence twice. FailedPrecondition: a sequence would pass the context.
  // ResourceExhausted: no page. Nothing changes on an error, except after Internal: then the engine refuses all further
  // work.
  Result<std::span<const float>> Step(std::span<const SequenceRows> batch);
  int64_t max_rows() const;
  int64_t context() const;

  const Model& model() const { return *model_; }
  PlacementReport Report() const;

  // What each kernel of a decode step takes on a GPU, by its own clock. Leaves the sequences' caches useless.
  // FailedPrecondition on the CPU.
  Result<std::vector<GpuLaunchTime>> ProfileDecode();

 private:
  explicit Engine(std::shared_ptr<const Model> model);
  friend class Sequence;
  std::shared_ptr<const Model> model_;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace candor

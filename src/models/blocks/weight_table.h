// WeightTable: takes weights of a model file by name into a graph, checking every shape. The first error is kept and
// later calls go on with the expected shapes, so that family code reads like the paper and checks once, at the end.
#pragma once

#include <string>
#include <unordered_set>

#include "base/status.h"
#include "formats/model_file.h"
#include "graph/graph.h"

namespace candor {

class WeightTable {
 public:
  WeightTable(const ModelFile& file, GraphBuilder& graph) : file_(file), graph_(graph) {}

  WeightId Matrix(const std::string& name, int64_t cols, int64_t rows);
  WeightId Vector(const std::string& name, int64_t width);
  WeightId OptionalVector(const std::string& name, int64_t width);  // kNone when the file lacks it
  bool Has(const std::string& name) const { return file_.FindTensor(name) != nullptr; }
  // The values of a small f32 vector that shapes the graph itself (rope_freqs.weight); empty on an error.
  std::vector<float> Values(const std::string& name, int64_t width);

  // The first error; else Unimplemented when the file holds a tensor that nobody took (a variant that the family does
  // not know).
  Status Finish() const;

 private:
  const TensorInfo* Find(const std::string& name, const std::vector<int64_t>& shape);
  void Fail(Status status);

  const ModelFile& file_;
  GraphBuilder& graph_;
  std::unordered_set<std::string> taken_;
  Status status_;
};

}  // namespace candor

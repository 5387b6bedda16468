// Products of F32, F16 and BF16 weights with unrounded f32 activations, shared by all ISAs (see matmul_int8-inl.h for
// `struct V`; here V::Widen<type>(bytes) gives kRows floats). Per (row, output) one chain: acc = fma(w[k], x[k], acc)
// for k = 0, 1, ….

constexpr int64_t kRunColumns = 256;  // columns whose widened weights stay in L1

template <DType kType>
constexpr int64_t kElementBytes = kType == DType::kF32 ? 4 : 2;

const float* FloatRow(const TileJob& job, int64_t row) { return job.x + row * job.x_stride; }

template <DType kType>
const uint8_t* FloatTile(const TileJob& job, int64_t tile, int64_t column) {
  return reinterpret_cast<const uint8_t*>(job.output->w.data) + tile * job.tile_bytes +
         column * V::kRows * kElementBytes<kType>;
}

template <DType kType, int kT, int kA>
void DirectFloatTiles(const TileJob& job, int64_t tile) {
  V::Floats acc[kT][kA];
  CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
    CANDOR_UNROLL for (int a = 0; a < kA; ++a) { acc[t][a] = V::Splat(0); }
  }
  const uint8_t* w = FloatTile<kType>(job, tile, 0);
  const float* x = FloatRow(job, job.row_begin);
  for (int64_t k = 0; k < job.output->w.cols; ++k) {
    CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
      const V::Floats column = V::template Widen<kType>(w + t * job.tile_bytes + k * V::kRows * kElementBytes<kType>);
      CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
        acc[t][a] = V::Fma(column, V::Splat(x[a * job.x_stride + k]), acc[t][a]);
      }
    }
  }
  CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
    CANDOR_UNROLL for (int a = 0; a < kA; ++a) { StoreTile(*job.output, tile + t, job.row_begin + a, acc[t][a]); }
  }
}

template <DType kType, int kA>
void DirectFloat(const TileJob& job) {
  constexpr int kT = V::kDirectTiles[kA - 1];
  int64_t tile = job.tile_begin;
  for (; tile + kT <= job.tile_end; tile += kT) DirectFloatTiles<kType, kT, kA>(job, tile);
  if constexpr (kT > 1) {
    for (; tile < job.tile_end; ++tile) DirectFloatTiles<kType, 1, kA>(job, tile);
  }
}

struct FloatPanel {
  V::Floats w[V::kPanelTiles][kRunColumns];
  V::Floats acc[kMaxUnitTiles][kMaxUnitRows];
};

template <int kT, int kA>
void MultiplyFloatRows(const TileJob& job, FloatPanel& panel, int64_t tile, int64_t column, int64_t columns,
                       int64_t row) {
  const int64_t rows = job.row_end - job.row_begin;
  for (; row + kA <= rows; row += kA) {
    const float* x = FloatRow(job, job.row_begin + row) + column;
    V::Floats acc[kT][kA];
    CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
      CANDOR_UNROLL for (int a = 0; a < kA; ++a) { acc[t][a] = panel.acc[tile + t][row + a]; }
    }
    for (int64_t k = 0; k < columns; ++k) {
      CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
        const V::Floats value = V::Splat(x[a * job.x_stride + k]);
        CANDOR_UNROLL for (int t = 0; t < kT; ++t) { acc[t][a] = V::Fma(panel.w[t][k], value, acc[t][a]); }
      }
    }
    CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
      CANDOR_UNROLL for (int a = 0; a < kA; ++a) { panel.acc[tile + t][row + a] = acc[t][a]; }
    }
  }
  if constexpr (kA > 1) {
    if (row < rows) MultiplyFloatRows<kT, kA - 1>(job, panel, tile, column, columns, row);
  }
}

template <DType kType, int kT>
void MultiplyFloatTiles(const TileJob& job, FloatPanel& panel, int64_t tile, int64_t column, int64_t columns) {
  const int64_t tiles = job.tile_end - job.tile_begin;
  for (; tile + kT <= tiles; tile += kT) {
    for (int64_t t = 0; t < kT; ++t) {
      const uint8_t* from = FloatTile<kType>(job, job.tile_begin + tile + t, column);
      for (int64_t k = 0; k < columns; ++k)
        panel.w[t][k] = V::template Widen<kType>(from + k * V::kRows * kElementBytes<kType>);
    }
    MultiplyFloatRows<kT, V::kPanelRows>(job, panel, tile, column, columns, 0);
  }
  if constexpr (kT > 1) MultiplyFloatTiles<kType, kT / 2>(job, panel, tile, column, columns);
}

template <DType kType>
void MultiplyFloatPanels(const TileJob& job) {
  FloatPanel panel;
  const int64_t rows = job.row_end - job.row_begin, tiles = job.tile_end - job.tile_begin;
  for (int64_t t = 0; t < tiles; ++t) {
    for (int64_t r = 0; r < rows; ++r) panel.acc[t][r] = V::Splat(0);
  }
  const int64_t cols = job.output->w.cols;
  for (int64_t column = 0; column < cols; column += kRunColumns) {
    const int64_t columns = cols - column < kRunColumns ? cols - column : kRunColumns;
    MultiplyFloatTiles<kType, V::kPanelTiles>(job, panel, 0, column, columns);
  }
  for (int64_t t = 0; t < tiles; ++t) {
    for (int64_t r = 0; r < rows; ++r) StoreTile(*job.output, job.tile_begin + t, job.row_begin + r, panel.acc[t][r]);
  }
}

template <DType kType>
void MultiplyFloat(const TileJob& job) {
  if constexpr (V::kDirect) {
    switch (job.row_end - job.row_begin) {
      case 1:
        return DirectFloat<kType, 1>(job);
      case 2:
        return DirectFloat<kType, 2>(job);
      case 3:
        return DirectFloat<kType, 3>(job);
      case 4:
        return DirectFloat<kType, 4>(job);
    }
  }
  InPanels(job, &MultiplyFloatPanels<kType>);
}

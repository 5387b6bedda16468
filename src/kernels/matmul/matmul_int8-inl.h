// Products of quantised weights with int8 activations, shared by all ISAs. Included once by each ISA's file inside its
// anonymous namespace, after `struct V`, the ISA's vectors:
//   V::kRows rows of a tile; V::Codes kRows x 4 bytes; V::Floats kRows floats; V::Sub the integer scales of 16-column
//   halves; V::Dot<P, T, A> the integer dot products of one block, as floats, of T tiles with A activation rows.
//
// Per (row, output), block after block of 32 columns, and in this order for any T, A, unit or thread:
//   acc = fma(float(integer dot) * scale, activation scale, acc)
//   acc = fma(min, activation scale * activation sum, acc)          types with a min per 32
//   acc = fma(float(sum over halves of min * activation sum) * min scale, activation scale, acc)    types with mins per
//   16

// Compile-time facts of a type's product, after decoding.
struct Product {
  bool is_signed = false;  // codes are int8 (else uint8 <= max_code)
  bool halves = false;     // each half of 16 columns has an integer scale
  bool min32 = false;
  bool min16 = false;
  int offset = 0;
  int max_code = 15;
};

constexpr Product ProductOf(DType dtype) {
  const PackedFormat format = FormatOf(dtype);
  Product p;
  p.is_signed = format.codes == CodeLayout::kBytes || format.table != CodeTable::kNone;
  p.halves = format.scales == ScaleLayout::kSuper16 || format.scales == ScaleLayout::kSuper16Min;
  p.min32 = format.scales == ScaleLayout::kHalfMin || format.scales == ScaleLayout::kSuper32Min;
  p.min16 = format.scales == ScaleLayout::kSuper16Min;
  p.offset = format.offset;
  p.max_code = format.codes == CodeLayout::kNibblesPlus1 ? 31 : format.codes == CodeLayout::kNibblesPlus2 ? 63 : 15;
  return p;
}

// One block of a tile, as packed; codes are decoded when asked for.
template <DType kType>
struct PackedBlock {
  static constexpr PackedFormat kFormat = FormatOf(kType);
  static constexpr Product kProduct = ProductOf(kType);

  const uint8_t* codes;
  const uint8_t* head;
  const uint8_t* side;

  template <int kGroup>
  V::Codes Codes() const {
    constexpr int kVector = V::kRows * 4;
    if constexpr (kFormat.codes == CodeLayout::kBytes) {
      return V::Load(codes + kGroup * kVector);
    } else {
      const V::Codes bytes = V::Load(codes + kGroup % 4 * kVector);
      const V::Codes nibbles = kGroup < 4 ? V::LowNibbles(bytes) : V::HighNibbles(bytes);
      if constexpr (kFormat.table == CodeTable::kIQ4NL) return V::LookUp(kIQ4NLTable, nibbles);
      if constexpr (kFormat.table == CodeTable::kE2M1) return V::LookUp(kE2M1Table, nibbles);
      if constexpr (kFormat.codes == CodeLayout::kNibblesPlus1) {
        return V::Or(nibbles, V::template BitsToFour<kGroup, 0x10>(V::Load(codes + 4 * kVector)));
      }
      if constexpr (kFormat.codes == CodeLayout::kNibblesPlus2) {
        return V::Or(nibbles,
                     V::template BitsToFour<2 * (kGroup % 4), 0x30>(V::Load(codes + (4 + kGroup / 4) * kVector)));
      }
      return nibbles;
    }
  }

  V::Floats Scale() const {
    if constexpr (kFormat.scales == ScaleLayout::kHalf || kFormat.scales == ScaleLayout::kHalfMin)
      return V::Halves(side);
    if constexpr (kFormat.scales == ScaleLayout::kExponent) return V::ExponentScales(side);
    if constexpr (kFormat.scales == ScaleLayout::kSuper32) return V::Mul(V::Halves(head), V::SignedBytes(side));
    if constexpr (kFormat.scales == ScaleLayout::kSuper32Min) return V::Mul(V::Halves(head), V::UnsignedBytes(side));
    if constexpr (kProduct.halves) return V::Halves(head);
  }

  // What is added per activation sum: +m, -dmin * mn, or -dmin.
  V::Floats Min() const {
    if constexpr (kFormat.scales == ScaleLayout::kHalfMin) {
      return V::Halves(side + 2 * V::kRows);
    } else {
      const V::Floats minus = V::Negate(V::Halves(head + 2 * V::kRows));
      if constexpr (kProduct.min16) return minus;
      return V::Mul(minus, V::UnsignedBytes(side + V::kRows));
    }
  }

  V::Sub Sub() const { return V::template LoadSub<kProduct>(side); }
};

template <DType kType>
struct PackedTile {
  const uint8_t* tile;
  const uint8_t* codes;

  PackedBlock<kType> At(int64_t block) const {
    constexpr PackedFormat kFormat = FormatOf(kType);
    constexpr ScaleBytes kBytes = ScaleBytesOf(kFormat.scales);
    constexpr int64_t kStride = CodeVectors(kFormat.codes) * 4 * V::kRows;
    return {codes + block * kStride, tile + HeadOffset(kBytes, V::kRows, block),
            tile + SideOffset(kBytes, V::kRows, block)};
  }
};

// One block of a tile, decoded: what many activation rows read from L1.
template <Product kP>
struct PanelBlock {
  static constexpr Product kProduct = kP;

  V::Codes codes[8];
  V::Floats scale;
  V::Floats min;
  V::Sub sub;

  template <int kGroup>
  V::Codes Codes() const {
    return codes[kGroup];
  }
  V::Floats Scale() const { return scale; }
  V::Floats Min() const { return min; }
  const V::Sub& Sub() const { return sub; }
};

template <DType kType>
void Decode(const PackedBlock<kType>& from, PanelBlock<ProductOf(kType)>& to) {
  Unroll<8>([&](auto g) { to.codes[g] = from.template Codes<g>(); });
  to.scale = from.Scale();
  if constexpr (ProductOf(kType).min32 || ProductOf(kType).min16) to.min = from.Min();
  if constexpr (ProductOf(kType).halves) to.sub = from.Sub();
}

// Activation rows r, r + 1, … seen from block 0 of the current run of blocks.
struct ActivationRows {
  const int8_t* q;
  const float* scale;
  const int16_t* sums;
  int64_t stride;            // of q
  int64_t block_stride;      // of scale; sums have two a block
  const float* scaled_sums;  // [row][kSuperBlocks], or null: computed on the way

  const int8_t* Quad(int row, int64_t block, int group) const { return q + row * stride + block * 32 + group * 4; }
  float Scale(int row, int64_t block) const { return scale[row * block_stride + block]; }
  const int16_t* Sums(int row, int64_t block) const { return sums + 2 * (row * block_stride + block); }
  V::Floats ScaledSum(int row, int64_t block) const {
    if (scaled_sums != nullptr) return V::Splat(scaled_sums[row * kSuperBlocks + block]);
    return V::ScaledSum(Scale(row, block), Sums(row, block));
  }
};

ActivationRows RowsAt(const TileJob& job, int64_t row, int64_t block) {
  const QuantizedRows& xq = job.xq;
  const int64_t at = row * xq.stride + block * kBlockColumns;
  return {xq.q + at, xq.scale + at / 32, xq.sums + at / 16, xq.stride, xq.stride / 32, nullptr};
}

// acc[t][a] += block `b` of tile t times row a.
template <int kT, int kA, typename Block>
[[gnu::always_inline]] inline void MultiplyBlock(const Block* const (&w)[kT], const ActivationRows& x, int64_t b,
                                                 V::Floats (&acc)[kT][kA]) {
  constexpr Product kP = Block::kProduct;
  V::Floats dot[kT][kA];
  V::template Dot<kP>(w, x, b, dot);
  CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
    const V::Floats scale = w[t]->Scale();
    CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
      acc[t][a] = V::Fma(V::Mul(dot[t][a], scale), V::Splat(x.Scale(a, b)), acc[t][a]);
    }
    if constexpr (kP.min32) {
      const V::Floats min = w[t]->Min();
      CANDOR_UNROLL for (int a = 0; a < kA; ++a) { acc[t][a] = V::Fma(min, x.ScaledSum(a, b), acc[t][a]); }
    }
    if constexpr (kP.min16) {
      const V::Floats min = w[t]->Min();
      CANDOR_UNROLL for (int a = 0; a < kA; ++a) {
        const V::Floats sum = V::MinDot(w[t]->Sub(), x.Sums(a, b));
        acc[t][a] = V::Fma(V::Mul(sum, min), V::Splat(x.Scale(a, b)), acc[t][a]);
      }
    }
  }
}

// A block and its scales are on their way into the cache while the tiles before them are multiplied: `distance` bytes
// ahead, where the next tiles start, the processor's own prefetch has not followed yet.
template <DType kType>
[[gnu::always_inline]] inline void PrefetchBlock(const PackedBlock<kType>& block, int64_t distance) {
  constexpr int kBytes = CodeVectors(FormatOf(kType).codes) * 4 * V::kRows;
  CANDOR_UNROLL for (int i = 0; i < kBytes; i += 64) { __builtin_prefetch(block.codes + distance + i); }
  __builtin_prefetch(block.side + distance);
}

// kT tiles times kA rows over all columns, weights decoded in registers.
template <DType kType, int kT, int kA>
void DirectTiles(const TileJob& job, int64_t tile) {
  PackedTile<kType> w[kT];
  CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(job.output->w.data) + (tile + t) * job.tile_bytes;
    w[t] = {bytes, bytes + job.codes_offset};
  }
  const ActivationRows x = RowsAt(job, job.row_begin, 0);
  V::Floats acc[kT][kA];
  CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
    CANDOR_UNROLL for (int a = 0; a < kA; ++a) { acc[t][a] = V::Splat(0); }
  }
  const int64_t blocks = job.output->w.cols / kBlockColumns;
  for (int64_t b = 0; b < blocks; ++b) {
    PackedBlock<kType> block[kT];
    const PackedBlock<kType>* pointers[kT];
    CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
      block[t] = w[t].At(b);
      pointers[t] = &block[t];
      PrefetchBlock(block[t], kT * job.tile_bytes);
    }
    MultiplyBlock(pointers, x, b, acc);
  }
  CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
    CANDOR_UNROLL for (int a = 0; a < kA; ++a) { StoreTile(*job.output, tile + t, job.row_begin + a, acc[t][a]); }
  }
}

template <DType kType, int kA>
void Direct(const TileJob& job) {
  constexpr int kT = V::kDirectTiles[kA - 1];
  int64_t tile = job.tile_begin;
  for (; tile + kT <= job.tile_end; tile += kT) DirectTiles<kType, kT, kA>(job, tile);
  if constexpr (kT > 1) {
    for (; tile < job.tile_end; ++tile) DirectTiles<kType, 1, kA>(job, tile);
  }
}

// What a unit of many rows keeps in L1: sums of its outputs and a run of kSuperBlocks decoded blocks of up to kT tiles.
template <Product kP, int kT>
struct Panel {
  PanelBlock<kP> w[kT][kSuperBlocks];
  V::Floats acc[kMaxUnitTiles][kMaxUnitRows];
  float scaled_sums[kMaxUnitRows][kSuperBlocks];
};

// `blocks` blocks of kT decoded tiles times kA rows.
template <Product kP, int kT, int kA>
void MultiplyPanel(const PanelBlock<kP> (*w)[kSuperBlocks], const ActivationRows& x, int64_t blocks, V::Floats* acc) {
  for (int64_t b = 0; b < blocks; ++b) {
    const PanelBlock<kP>* pointers[kT];
    V::Floats sums[kT][kA];
    CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
      pointers[t] = &w[t][b];
      CANDOR_UNROLL for (int a = 0; a < kA; ++a) { sums[t][a] = acc[t * kMaxUnitRows + a]; }
    }
    MultiplyBlock(pointers, x, b, sums);
    CANDOR_UNROLL for (int t = 0; t < kT; ++t) {
      CANDOR_UNROLL for (int a = 0; a < kA; ++a) { acc[t * kMaxUnitRows + a] = sums[t][a]; }
    }
  }
}

template <Product kP, int kT, int kA>
void MultiplyRows(const TileJob& job, Panel<kP, V::kPanelTiles>& panel, int64_t tile, int64_t block, int64_t blocks,
                  int64_t row) {
  const int64_t rows = job.row_end - job.row_begin;
  for (; row + kA <= rows; row += kA) {
    ActivationRows x = RowsAt(job, job.row_begin + row, block);
    x.scaled_sums = panel.scaled_sums[row];
    MultiplyPanel<kP, kT, kA>(panel.w, x, blocks, &panel.acc[tile][row]);
  }
  if constexpr (kA > 1) {
    if (row < rows) MultiplyRows<kP, kT, kA - 1>(job, panel, tile, block, blocks, row);
  }
}

template <DType kType, int kT>
int64_t MultiplyTiles(const TileJob& job, Panel<ProductOf(kType), V::kPanelTiles>& panel, int64_t tile, int64_t block,
                      int64_t blocks) {
  const int64_t tiles = job.tile_end - job.tile_begin;
  for (; tile + kT <= tiles; tile += kT) {
    for (int64_t t = 0; t < kT; ++t) {
      const uint8_t* bytes =
          reinterpret_cast<const uint8_t*>(job.output->w.data) + (job.tile_begin + tile + t) * job.tile_bytes;
      const PackedTile<kType> packed{bytes, bytes + job.codes_offset};
      for (int64_t b = 0; b < blocks; ++b) Decode<kType>(packed.At(block + b), panel.w[t][b]);
    }
    MultiplyRows<ProductOf(kType), kT, V::kPanelRows>(job, panel, tile, block, blocks, 0);
  }
  if constexpr (kT > 1) tile = MultiplyTiles<kType, kT / 2>(job, panel, tile, block, blocks);
  return tile;
}

// Many rows: columns in runs of kSuperBlocks blocks; per run each tile is decoded once and multiplied with all rows of
// the unit.
template <DType kType>
void MultiplyPanels(const TileJob& job) {
  Panel<ProductOf(kType), V::kPanelTiles> panel;
  const int64_t rows = job.row_end - job.row_begin, tiles = job.tile_end - job.tile_begin;
  for (int64_t t = 0; t < tiles; ++t) {
    for (int64_t r = 0; r < rows; ++r) panel.acc[t][r] = V::Splat(0);
  }
  const int64_t all_blocks = job.output->w.cols / kBlockColumns;
  for (int64_t block = 0; block < all_blocks; block += kSuperBlocks) {
    const int64_t blocks = all_blocks - block < kSuperBlocks ? all_blocks - block : kSuperBlocks;
    if constexpr (ProductOf(kType).min32) {
      for (int64_t r = 0; r < rows; ++r) {
        const ActivationRows x = RowsAt(job, job.row_begin + r, block);
        for (int64_t b = 0; b < blocks; ++b) {
          panel.scaled_sums[r][b] = x.Scale(0, b) * static_cast<float>(x.Sums(0, b)[0] + x.Sums(0, b)[1]);
        }
      }
    }
    MultiplyTiles<kType, V::kPanelTiles>(job, panel, 0, block, blocks);
  }
  for (int64_t t = 0; t < tiles; ++t) {
    for (int64_t r = 0; r < rows; ++r) StoreTile(*job.output, job.tile_begin + t, job.row_begin + r, panel.acc[t][r]);
  }
}

template <DType kType>
void MultiplyInt8(const TileJob& job) {
  if constexpr (V::kDirect) {
    switch (job.row_end - job.row_begin) {
      case 1:
        return Direct<kType, 1>(job);
      case 2:
        return Direct<kType, 2>(job);
      case 3:
        return Direct<kType, 3>(job);
      case 4:
        return Direct<kType, 4>(job);
    }
  }
  InPanels(job, &MultiplyPanels<kType>);
}

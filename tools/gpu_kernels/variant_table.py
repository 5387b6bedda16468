"""One row of the variant table src/kernels/gpu_modules.txt: a module, what it is made from, which targets it exists for."""

import dataclasses

NEEDS = ("-", "coop")
COOP_MINIMUM = 80  # mma.m16n8k16


@dataclasses.dataclass(frozen=True)
class Module:
    name: str
    source: str  # from src/kernels/
    defines: tuple
    needs: str

    def architectures(self, wanted):
        """Those of `wanted` (numbers: 75, 80 …) that the module exists for."""
        return [number for number in wanted if self.needs != "coop" or number >= COOP_MINIMUM]


def parse(row):
    words = row.split()
    if len(words) != 4 or words[3] not in NEEDS:
        raise ValueError(f"expected a row 'module source defines needs' with needs one of {', '.join(NEEDS)}, got '{row}'")
    name, source, defines, needs = words
    return Module(name, source, () if defines == "-" else tuple(defines.split(",")), needs)

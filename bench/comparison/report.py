"""Turns measurements into ratios, a JSON file and a Markdown table."""

import json
import os
import statistics

TARGETS = {"tg128": ("at least", 1.6, "the faster peer"), "pp512": ("at least", 1.15, "ik_llama.cpp"),
           "start_ms": ("at most", 0.5, "llama.cpp"), "peak_rss_mib": ("at most", 1.1, "llama.cpp")}  # fmt: skip
LABELS = {"tg128": "decode, tg128 (tok/s)", "pp512": "prefill, pp512 (tok/s)", "start_ms": "process start to first token and exit (ms)",
          "peak_rss_mib": "peak resident memory (MiB)"}  # fmt: skip
NO_WARM_UP = "llama.cpp --no-warmup"


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "values": values}


def ratios(rounds, metric, other):
    """Candor's value over the other's, round by round: both stood next to each other in time."""
    pairs = [(r["candor"][metric], r[other][metric]) for r in rounds if metric in r.get("candor", {}) and metric in r.get(other, {})]
    return spread([ours / theirs for ours, theirs in pairs]) if pairs else None


def best_peer_ratio(rounds, metric):
    """The same against the faster of the peers in each round."""
    values = []
    for r in rounds:
        peers = [v[metric] for name, v in r.items() if name != "candor" and metric in v]
        if peers and metric in r.get("candor", {}):
            values.append(r["candor"][metric] / max(peers))
    return spread(values) if values else None


def target_ratio(rounds, metric):
    against = TARGETS[metric][2]
    return best_peer_ratio(rounds, metric) if against == "the faster peer" else ratios(rounds, metric, against)


def summarise(rounds, bandwidth, bytes_per_token):
    """All figures of one thread count: per metric and engine a spread, the ratios, the roofline share of decode, the verdicts."""
    engines = list(dict.fromkeys(name for r in rounds for name in r))
    out = {}
    for metric, (direction, limit, against) in TARGETS.items():
        values = {name: spread([r[name][metric] for r in rounds]) for name in engines if all(metric in r.get(name, {}) for r in rounds)}
        row = {"values": values, "ratios": {name: ratios(rounds, metric, name) for name in values if name != "candor" and "candor" in values}}
        if metric == "tg128" and bandwidth:
            row["roofline_share"] = {n: v["median"] * bytes_per_token / 1e9 / bandwidth["median"] for n, v in values.items()}
        verdict = target_ratio(rounds, metric)
        if verdict:
            met = verdict["median"] >= limit if direction == "at least" else verdict["median"] <= limit
            row["target"] = {"rule": f"{direction} {limit} x {against}", "ratio": verdict, "met": met}
        out[metric] = row
    return out


def _number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def _cell(figures, digits=None):
    show = _number if digits is None else (lambda v: f"{v:.{digits}f}")
    return f"{show(figures['median'])} ({show(figures['min'])}–{show(figures['max'])})"


def table(result):
    """The Markdown table of one result; also what the terminal shows."""
    facts = result["facts"]
    lines = [f"# {facts['model']}, {facts['date']}", "", f"{facts['cpu']}, {facts['cores']} cores; Candor commit {facts['commit']}.",
             f"Weights read per token: {facts['bytes_per_token']:,} bytes. Medians over {facts['rounds']} alternating rounds, in brackets min–max.", ""]  # fmt: skip
    for threads, block in result["threads"].items():
        names = list(dict.fromkeys(n for row in block["metrics"].values() for n in row["values"]))
        lines += [f"## {threads} thread{'s' if threads != '1' else ''}", "", "| | " + " | ".join(names) + " | target | ratio | met |",
                  "|---" * (len(names) + 4) + "|"]  # fmt: skip
        for metric, row in block["metrics"].items():
            cells = [_cell(row["values"][n]) if n in row["values"] else "–" for n in names]
            target = row.get("target")
            verdict = [target["rule"], _cell(target["ratio"], 2), "yes" if target["met"] else "**no**"] if target else ["–", "–", "not compared"]
            lines.append(f"| {LABELS[metric]} | " + " | ".join(cells + verdict) + " |")
            share = row.get("roofline_share")
            if share:
                lines.append("| share of the read bandwidth | " + " | ".join(f"{share[n]:.0%}" if n in share else "–" for n in names) + " | | | |")
        for metric, row in block["metrics"].items():
            for name, ratio in row["ratios"].items():
                lines.append(("" if lines[-1].startswith("- ") else "\n") + f"- {metric}: Candor / {name} = {_cell(ratio, 2)}")
        if block.get("bandwidth"):
            lines.append(f"- read bandwidth at the model's size: {_cell(block['bandwidth'], 1)} GB/s")
        lines.append("")
    lines += ["## Programs", ""] + [f"- {name}: {text}" for name, text in facts["versions"].items()]
    lines += ["", "## Commands", ""] + [f"    {command}" for command in facts["commands"]]
    lines += [""] + [f"Note: {note}" for note in facts["notes"]]
    return "\n".join(lines).rstrip() + "\n"


def write(result, folder):
    """Writes FOLDER/<date>_cpu_<model>.json and .md. Returns both paths."""
    os.makedirs(folder, exist_ok=True)
    stem = os.path.join(folder, f"{result['facts']['date']}_cpu_{os.path.splitext(result['facts']['model'])[0]}")
    with open(stem + ".json", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1, ensure_ascii=False)
        file.write("\n")
    with open(stem + ".md", "w", encoding="utf-8") as file:
        file.write(table(result))
    return stem + ".json", stem + ".md"

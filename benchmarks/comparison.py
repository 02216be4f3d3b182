"""The page of compare.py: ratios to each rival, set by set, with tests for overlapping splits."""

import csv
from collections import defaultdict
from pathlib import Path
from string import Template

import numpy as np

from kernel_learn.papers.difference import corrected_p

OURS = "KernelClassifier"
SAME = 1e-3
TITLES = {"lightgbm": "LightGBM", "catboost": "CatBoost", "loo": '`assess="loo"`', "fast": "`fast`"}
QUALITIES = ["KernelClassifier", "loo", "fast"]
ORDER = ["KernelClassifier", "loo", "fast", "SVC", "lightgbm", "catboost", "xRFM", "RealMLP"]
GENES = [
    "Brain_Tumor1",
    "Brain_Tumor2",
    "DLBCL",
    "Leukemia1",
    "Leukemia2",
    "Prostate_Tumor",
    "11_Tumors",
]
TEMPLATE = Path(__file__).with_name("comparison.md")
LEAST = 0.25  # per cent: fewer errors count as so many, or one row would decide a mean of ratios


def read_figures(path):
    """{set: {method: {split: {"error", "log_loss", "cpu", "memory", "n"}}}}, failures left out."""
    found = defaultdict(lambda: defaultdict(dict))
    with Path(path).open() as file:
        for row in csv.DictReader(file):
            figures = {key: float(row[key]) for key in ("error", "log_loss", "cpu", "memory", "n")}
            figures["made"] = row["made"]
            if not np.isnan(figures["error"]):
                found[row["set"]][row["method"]][int(row["split"])] = figures
    return found


def origins(found):
    """What made the figures: every commit, date and version once, and the time of all."""
    figures = [f for sets in found.values() for splits in sets.values() for f in splits.values()]
    parts = dict.fromkeys(part for f in figures for part in f["made"].split("; "))
    seconds = sum(f["cpu"] for f in figures)
    return f"{'; '.join(parts)}. {len(figures)} fits, {seconds:.0f} s of processor time in all."


def paired(found, name, method, ours=OURS):
    """Figures of ours and of a method on the splits that both have: two lists."""
    ours, theirs = found[name].get(ours, {}), found[name].get(method, {})
    splits = sorted(set(ours) & set(theirs))
    return [ours[s] for s in splits], [theirs[s] for s in splits]


def mean(figures, key):
    """The mean over splits, of those that have the figure; nan if none has."""
    values = [f[key] for f in figures if not np.isnan(f[key])]
    return float(np.mean(values)) if values else np.nan


def lead(ours, theirs):
    """Points by which theirs has fewer errors; 0 where they differ in the digits of the file."""
    points = mean(ours, "error") - mean(theirs, "error")
    return 0.0 if abs(points) < SAME else points


def compare(found, names, method, mine=OURS):
    """One line of the summary: ours against a method over sets, on common splits."""
    errors, cpus, losses, memories, p_values, wins = [], [], [], [], [], []
    for name in names:
        ours, theirs = paired(found, name, method, mine)
        if not ours:
            continue
        pair = [max(mean(side, "error"), LEAST) for side in (ours, theirs)]
        errors.append(pair[0] / pair[1])
        wins.append(np.sign(lead(ours, theirs)))
        cpus.append(mean(ours, "cpu") / mean(theirs, "cpu"))
        losses.append([mean(ours, "log_loss"), mean(theirs, "log_loss")])
        sizes = [mean(side, "memory") for side in (ours, theirs)]
        memories.append((max(sizes[0], 1) / max(sizes[1], 1), not np.isnan(sizes).any()))
        sides = [[f["error"] for f in side] for side in (ours, theirs)]
        p = corrected_p(*sides, ratio=1.0)
        p_values.append((p, wins[-1]))
    if not errors:
        return None
    losses = np.array([pair for pair in losses if not np.isnan(pair).any()]).reshape(-1, 2)
    memories = [ratio for ratio, known in memories if known]
    return {
        "sets": len(errors),
        "error": float(np.exp(np.mean(np.log(errors)))),
        "won": sum(w < 0 for w in wins),
        "level": sum(w == 0 for w in wins),
        "lost": sum(w > 0 for w in wins),
        "better": sum(p < 0.05 and w < 0 for p, w in p_values),
        "worse": sum(p < 0.05 and w > 0 for p, w in p_values),
        "loss": tuple(losses.mean(axis=0)) if len(losses) else (np.nan, np.nan),
        "losses": len(losses),
        "loss won": int(np.sum(losses[:, 0] < losses[:, 1])),
        "cpu": float(np.exp(np.mean(np.log(cpus)))),
        "cpu most": max(cpus),
        "memory": float(np.exp(np.mean(np.log(memories)))) if memories else np.nan,
    }


def summary(found, names):
    head = (
        "| KernelClassifier against | sets | error ratio | fewer errors: won, level, lost | "
        "corrected test: better, worse | log loss: ours, theirs (won) |"
    )
    lines = [head, "|---" * 6 + "|"]
    for method in methods_of(found, names):
        line = compare(found, names, method)
        if line is None or method == OURS:
            continue
        lines.append(
            f"| {title(method)} | {line['sets']} | {line['error']:.3f} | "
            f"{line['won']}, {line['level']}, {line['lost']} | {line['better']}, {line['worse']} | "
            f"{line['loss'][0]:.3f}, {line['loss'][1]:.3f} "
            f"({line['loss won']} of {line['losses']}) |".replace("nan", "-")
        )
    return "\n".join(lines)


def costs(found, names):
    """CPU and memory of each of our qualities over those of every other method."""
    head = ["of, over", "sets", *(f"CPU of {title(q)}" for q in QUALITIES), f"memory of {OURS}"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for method in methods_of(found, names):
        own = [compare(found, names, method, quality) for quality in QUALITIES]
        if method in QUALITIES or own[0] is None:
            continue
        cells = [
            "-" if line is None else f"{line['cpu']:.2f} ({line['cpu most']:.2f})" for line in own
        ]
        cells.append(f"{own[0]['memory']:.2f}".replace("nan", "-"))
        lines.append(f"| {title(method)} | {own[0]['sets']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def title(method):
    return TITLES.get(method, method)


def methods_of(found, names):
    """Those of the list first, the others as they come."""
    there = dict.fromkeys(method for name in names for method in found[name])
    return list(dict.fromkeys([*(m for m in ORDER if m in there), *there]))


def table(found, names, key, digits):
    """One figure of every method on every set, with the number of splits where it is smaller."""
    methods = methods_of(found, names)
    head = ["set", "training rows", "splits", *map(title, methods)]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name in names:
        most = len(found[name][OURS])
        cells = []
        for method in methods:
            figures = paired(found, name, method)[1]
            text = f"{mean(figures, key):.{digits}f}".replace("nan", "-") if figures else "-"
            cells.append(text + (f" ({len(figures)})" if 0 < len(figures) < most else ""))
        n = int(next(iter(found[name][OURS].values()))["n"])
        lines.append(f"| {name} | {n} | {most} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def means(found, names, methods):
    """Mean errors over sets that all methods have, on splits that all have, and the ratios."""
    rows = []
    for name in names:
        if all(found[name].get(m) for m in methods):
            splits = set.intersection(*(set(found[name][m]) for m in methods))
            rows.append([mean([found[name][m][s] for s in splits], "error") for m in methods])
    return np.mean(rows, axis=0), len(rows)


def make_page(found, template=TEMPLATE):
    """The page as Markdown."""
    mixed = sorted(name for name in found if name.startswith("mixed/") and found[name][OURS])
    rest = [name for name in found if not name.startswith("mixed/") and found[name][OURS]]
    rest.sort(key=lambda name: mean(list(found[name][OURS].values()), "n"))
    plain = [name for name in rest if not name.startswith("many/")]
    many = [name for name in rest if name.startswith("many/")]
    text = Path(template).read_text(encoding="utf-8")
    values = {
        "origins": origins(found),
        "summary": summary(found, plain),
        "n_plain": len(plain),
        "n_mixed": len(mixed),
        "fast": fast_line(found, plain),
        "without_genes": summary_without(found, plain),
        "errors": table(found, plain, "error", 2),
        "losses": table(found, plain, "log_loss", 3),
        "costs": costs(found, [*plain, *mixed]),
        "cpus": table(found, [*plain, *mixed], "cpu", 2),
        "memories": table(found, [*plain, *mixed], "memory", 0),
        "n_many": len(many),
        "many_costs": costs(found, many),
        "many_cpus": table(found, many, "cpu", 2),
        "many_memories": table(found, many, "memory", 0),
        "many_errors": table(found, many, "error", 2),
        "most_rows": most_rows(found, [*plain, *mixed]),
        "mixed_summary": summary(found, mixed),
        "mixed_errors": table(found, mixed, "error", 2),
        "mixed_losses": table(found, mixed, "log_loss", 3),
        "mixed_cpus": table(found, mixed, "cpu", 2),
        "mixed_ratios": mixed_ratios(found, mixed),
        "behind": behind(found, [*plain, *mixed]),
    }
    return Template(text).substitute(values)


def most_rows(found, names):
    """The training rows of the largest of these sets."""
    return max((int(f["n"]) for name in names for f in found[name][OURS].values()), default=0)


def summary_without(found, names):
    """LightGBM again without the gene sets, whose 25 to 90 rows its defaults do not split."""
    line = compare(found, [name for name in names if name not in GENES], "lightgbm")
    if line is None:
        return ""
    won = f"{line['won']} won, {line['level']} level, {line['lost']} lost"
    return (
        f"Without genes, LightGBM: error ratio {line['error']:.3f} on {line['sets']} sets, {won}."
    )


def fast_line(found, names):
    """The fast quality beside the search."""
    line = compare(found, names, "SVC", "fast")
    if line is None:
        return ""
    return f"`fast` against the SVC: error ratio {line['error']:.3f} on {line['sets']} sets."


def behind(found, names):
    """For each rival, the sets on which it has fewer errors, the largest differences first."""
    lines = []
    for method in methods_of(found, names):
        lost = []
        for name in names:
            ours, theirs = paired(found, name, method)
            if ours and lead(ours, theirs) > 0:
                lost.append((lead(ours, theirs), name))
        if lost:
            text = ", ".join(f"{name} ({gap:+.1f})" for gap, name in sorted(lost, reverse=True))
            lines.append(f"- {title(method)}: {text}")
    return "\n".join(lines) or "None."


def mixed_ratios(found, names):
    """Quotients of mean errors."""
    parts = []
    for method in ("catboost", "lightgbm"):
        if any(found[name].get(method) for name in names):
            (ours, theirs), count = means(found, names, [OURS, method])
            parts.append(
                f"{ours:.2f} % against {TITLES[method]}'s {theirs:.2f} %: ratio "
                f"{ours / theirs:.4f} on {count} tables"
            )
    return "; ".join(parts) + "."

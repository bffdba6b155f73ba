"""The results as a picture: how many times faster, for each model and number of threads, on a logarithmic axis."""
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "evallib"   # the same file for the same results
import matplotlib.pyplot as plt   # noqa: E402

TICKS = tuple(2.0 ** k for k in range(-5, 7))
COLOURS = ("#2b6cb0", "#dd8a1f", "#5a9e5a", "#888888")


def draw(results, title, path):
    """results as in results.json; models without a peer, or wrong, have no bar."""
    names = [name for name, result in results.items() if any("ratio" in row for row in result["threads"].values())]
    if not names:
        return
    threads = sorted({n for name in names for n in results[name]["threads"]})
    height = .8 / len(threads)
    figure, axes = plt.subplots(figsize=(9, 1.5 + .18 * len(names) * len(threads)), layout="constrained")
    for k, n in enumerate(threads):
        rows = [(i + k * height, results[name]["threads"][n]) for i, name in enumerate(names) if "ratio" in results[name]["threads"].get(n, {})]
        axes.barh([y for y, _ in rows], [row["ratio"] - 1 for _, row in rows], height, left=1, color=COLOURS[k % len(COLOURS)],
                  label=f"{n} thread{'s' * (n > 1)}")
        bars = [(y, row["bar"]) for y, row in rows if "bar" in row]
        axes.plot([bar for _, bar in bars], [y for y, _ in bars], "k|", markersize=7, label="asked for" if k == 0 else None)
    ratios = [row["ratio"] for name in names for row in results[name]["threads"].values() if "ratio" in row]
    axes.set_xscale("log", base=2)
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.set_xlim(min(.5, min(ratios) / 1.2), max(4, max(ratios) * 1.2))
    axes.set_yticks([i + (len(threads) - 1) * height / 2 for i in range(len(names))], names, fontsize=8)
    axes.set_ylim(len(names), -.6)
    axes.axvline(1, color="black", linewidth=.8)
    axes.set_xlabel("time of ONNX Runtime / our time")
    axes.set_title(title)
    axes.legend(loc="lower right")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)

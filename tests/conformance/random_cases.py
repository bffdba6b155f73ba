"""Cases whose outputs are drawn: what can be said of them without the same generator."""

import numpy as np


def bernoulli(inputs, outputs, expected):
    """Ones and zeros, as many ones as the probabilities say, within five deviations."""
    p, y = np.asarray(inputs["x"], float), np.asarray(outputs[0], float)
    if y.shape != expected[0].shape:
        return f"shape {y.shape}, expected {expected[0].shape}"
    if not np.isin(y, (0, 1)).all():
        return "neither 0 nor 1"
    away = abs(y.sum() - p.sum()) / np.sqrt((p * (1 - p)).sum())
    return None if away < 5 else f"{away:.1f} deviations from the mean"


def dropout(inputs, outputs, expected):
    """Kept elements are scaled; as many are dropped as the ratio says; the mask tells which."""
    x, y = np.asarray(inputs["x"], float), np.asarray(outputs[0], float)
    ratio = float(inputs.get("r", 0.5))
    if y.shape != expected[0].shape:
        return f"shape {y.shape}, expected {expected[0].shape}"
    kept = y != 0
    if not np.allclose(y, np.where(kept, x / (1 - ratio), 0), rtol=1e-5):
        return "kept elements are not x / (1 - ratio)"
    if len(outputs) > 1 and not np.array_equal(outputs[1], kept):
        return "the mask does not tell what was kept"
    deviation = np.sqrt(x.size * ratio * (1 - ratio))
    away = abs(kept.sum() - x.size * (1 - ratio)) / max(deviation, 1e-9)
    return None if away < 5 else f"{away:.1f} deviations from the mean"


CHECKS = {
    "test_bernoulli": bernoulli,
    "test_bernoulli_double": bernoulli,
    "test_bernoulli_seed": bernoulli,
    "test_training_dropout": dropout,
    "test_training_dropout_mask": dropout,
    "test_training_dropout_default": dropout,
    "test_training_dropout_default_mask": dropout,
}

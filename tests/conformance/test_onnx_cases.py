"""ONNX's own cases, in float with onnx's tolerances and in double.

expected_failures.tsv lists what fails and why: a listed case that passes is a failure too, so
that the table shrinks. tolerances.tsv gives single cases another bound, with its reason.
"""

import numpy as np
import pytest

evallib = pytest.importorskip("evallib")
pytest.importorskip("onnx")

import onnx_cases  # noqa: E402
import random_cases  # noqa: E402
import tables  # noqa: E402
from compare import fault  # noqa: E402

CASES = onnx_cases.all_cases()
EXPECTED = tables.by_case(tables.FAILURES)
EXACTNESS = tables.by_case(tables.HERE / "tolerances.tsv")


# Built in: BMP and PNM. The others are the plug-in's.
BY_PLUGIN = "test_image_decoder_decode_"


def first_fault(case, precision, folder, plugins):
    """What is wrong with a case, or None; exceptions of the package are faults as well."""
    model = case.model()
    row = tables.matching(EXACTNESS, case, precision)
    exactness = float(row["relative"]) if row else None
    try:
        with evallib.load(onnx_cases.save(model, folder), precision=precision, plugins=plugins) as loaded:
            for inputs, outputs in case.sets(model):
                names = [info.name for info in model.graph.output]
                got = loaded.run(inputs, names)
                got = [got[name] for name in names[:len(outputs)]]
                check = random_cases.CHECKS.get(case.name.removesuffix("_expanded"))
                faults = [check(inputs, got, outputs)] if check else [
                    fault(a, b, precision, case.rtol, case.atol, exactness)
                    for a, b in zip(got, outputs)]
                for name, text in zip(names, faults):
                    if text:
                        return f"{name}: {text}"
    except (evallib.Error, TypeError, ValueError) as error:
        return str(error).replace(str(folder), "").replace("/model.onnx: ", "")
    return None


def verdict_of(why, row):
    if why is None:
        return "PASSES THOUGH LISTED" if row else "pass"
    return "expected failure" if row else "FAIL"


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case, precision, tmp_path_factory, verdicts, images):
    folder = tmp_path_factory.getbasetemp()
    plugins = [images] if images and case.name.startswith(BY_PLUGIN) else []
    with np.errstate(all="ignore"):
        why = first_fault(case, precision, folder, plugins)
    if why and "BMP and PNM are offered" in why and not images:
        pytest.skip("samples/plugin/images: a library that it stands on is missing")
    row = tables.matching(EXPECTED, case, precision)
    verdict = verdict_of(why, row)
    verdicts.append((case.source, case.name, precision, verdict, why or ""))
    if verdict == "expected failure":
        pytest.xfail(row["reason"])
    assert verdict == "pass", why or f"take it out of expected_failures.tsv: {row['reason']}"


def test_every_expected_failure_is_a_case():
    if not onnx_cases.VECTORS.is_file():
        pytest.skip(f"no packed vectors: {onnx_cases.VECTORS.name} is not in the shared folder")
    names = {case.name for case in CASES}
    assert set(EXPECTED) - names == set()
    assert set(EXACTNESS) - names == set()

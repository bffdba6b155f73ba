"""ai.onnx.ml."""

import numpy as np

from onnx import TensorProto as T

from draw import ML, Case, Map, operator

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
NUMBERS = (np.float32, np.float32, np.float64, np.int64, np.int32)


def rows(d, width, dtypes=NUMBERS):
    dtype = np.dtype(d.choice(dtypes))
    n = d.choice((1, 1, 2, 3, 7, 16, 17, 40))
    return d.floats((n, width), 2, dtype) if dtype.kind == "f" else d.ints((n, width), -4, 4, dtype)


def tree(d, width, depth, modes):
    """Nodes as dicts, children by index; missing values and equal thresholds included."""
    nodes = []

    def grow(left):
        at = len(nodes)
        if left == 0 or d.chance(0.15):
            nodes.append({"mode": "LEAF"})
            return at
        node = {"mode": d.choice(modes), "feature": d.int(0, width - 1), "nan": d.int(0, 1),
                "value": float(np.float32(d.choice((0.0, 1.0, -1.0, d.random.standard_normal()))))}
        nodes.append(node)
        node["yes"] = grow(left - 1)
        node["no"] = grow(left - 1)
        return at

    grow(depth)
    return nodes


def named_attributes(d, trees, leaves, n_targets, positive):
    """Attributes before opset 5."""
    a = {"nodes_" + name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids",
                                          "falsenodeids", "missing_value_tracks_true")}
    votes = {f"{leaves}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    for number, nodes in enumerate(trees):
        for index, node in enumerate(nodes):
            leaf = node["mode"] == "LEAF"
            for name, value in (("treeids", number), ("nodeids", index), ("featureids", node.get("feature", 0)),
                                ("values", node.get("value", 0.0)), ("modes", node["mode"]),
                                ("truenodeids", node.get("yes", 0)), ("falsenodeids", node.get("no", 0)),
                                ("missing_value_tracks_true", node.get("nan", 0))):
                a["nodes_" + name].append(value)
            if leaf:
                for target in n_targets:
                    weight = float(np.float32(d.random.standard_normal()))
                    for name, value in (("treeids", number), ("nodeids", index), ("ids", target),
                                        ("weights", abs(weight) if positive else weight)):
                        votes[f"{leaves}_{name}"].append(value)
    return {**a, **votes}


ORDERED = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def trees_and_rows(d, dtypes=NUMBERS, modes=ORDERED):
    width = d.int(1, 6)
    modes = ("BRANCH_LEQ",) if d.chance(0.4) else (d.choice(modes),) if d.chance(0.5) else modes
    trees = [tree(d, width, d.int(1, 5), modes) for _ in range(d.choice((1, 2, 5, 17, 30)))]
    x = rows(d, width, dtypes)
    if x.dtype.kind == "f" and d.chance(0.3):
        x[d.random.random(x.shape) < 0.2] = np.nan
    return trees, x


@operator(f"{ML}.TreeEnsembleRegressor")
def regressor(d):
    trees, x = trees_and_rows(d, (np.float32, np.float64))
    n = d.choice((1, 1, 2, 3))
    a = named_attributes(d, trees, "target", range(n), False)
    a.update(n_targets=n, aggregate_function=d.choice(("SUM", "AVERAGE", "MIN", "MAX")))
    if n > 1:
        a["post_transform"] = d.choice(TRANSFORMS[:4])
    if d.chance():
        a["base_values"] = d.floats(n).tolist()
    return Case(d.op, [x], a, opsets={ML: d.choice((1, 3))})


@operator(f"{ML}.TreeEnsembleClassifier")
def classifier(d):
    trees, x = trees_and_rows(d)
    n = d.choice((2, 2, 3, 5))
    lone = n == 2
    a = named_attributes(d, trees, "class", (d.int(0, 1),) if lone else range(n), d.chance())
    a["post_transform"] = d.choice(TRANSFORMS[:1] if lone and d.chance() else TRANSFORMS[:4])
    if not lone and d.chance():
        a["base_values"] = d.floats(n).tolist()
    if d.chance():
        a["classlabels_strings"] = [f"c{i}" for i in range(n)]
    else:
        a["classlabels_int64s"] = [10 * i + 7 for i in range(n)]
    return Case(d.op, [x], a, 2, opsets={ML: d.choice((1, 3))})


NUMBERS_OF_MODES = {f"BRANCH_{name}": i for i, name in enumerate(("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER"))}


def listed_attributes(d, trees, n_targets, dtype):
    """Attributes of opset 5: interior nodes and leaves in lists of their own."""
    a = {"tree_roots": [], "leaf_targetids": []}
    nodes = {name: [] for name in ("featureids", "truenodeids", "trueleafs", "falsenodeids", "falseleafs",
                                   "missing_value_tracks_true")}
    modes, splits, weights, members = [], [], [], []
    for tree_nodes in trees:
        if tree_nodes[0]["mode"] == "LEAF":       # a tree is no leaf
            tree_nodes = [{"mode": "BRANCH_LEQ", "feature": 0, "nan": 0, "value": 0.0, "yes": 1, "no": 1}, {"mode": "LEAF"}]
        places, n_inner, n_leaves = [], len(modes), len(weights)
        for node in tree_nodes:
            leaf = node["mode"] == "LEAF"
            places.append(n_leaves if leaf else n_inner)
            n_leaves, n_inner = n_leaves + leaf, n_inner + (not leaf)
        a["tree_roots"].append(len(modes))
        for node in tree_nodes:
            if node["mode"] == "LEAF":
                weights.append(float(np.float32(d.random.standard_normal())))
                a["leaf_targetids"].append(d.int(0, n_targets - 1))
                continue
            modes.append(NUMBERS_OF_MODES[node["mode"]])
            splits.append(node["value"])
            nodes["featureids"].append(node["feature"])
            nodes["missing_value_tracks_true"].append(node["nan"])
            for way, name in (("yes", "true"), ("no", "false")):
                nodes[name + "nodeids"].append(places[node[way]])
                nodes[name + "leafs"].append(int(tree_nodes[node[way]]["mode"] == "LEAF"))
            if node["mode"] == "BRANCH_MEMBER":
                members += [*d.ints(d.int(1, 5), -3, 3).tolist(), float("nan")]
    a.update({"nodes_" + name: values for name, values in nodes.items()}, nodes_modes=np.array(modes, np.uint8),
             nodes_splits=np.array(splits, dtype), leaf_weights=np.array(weights, dtype))
    if members:
        a["membership_values"] = np.array(members, dtype)
    return a


@operator(f"{ML}.TreeEnsemble")
def ensemble(d):
    trees, x = trees_and_rows(d, (np.float32, np.float64), (*ORDERED, "BRANCH_MEMBER"))
    n = d.choice((1, 1, 2, 3))
    a = listed_attributes(d, trees, n, x.dtype)
    if "membership_values" in a:                  # ONNX Runtime looks for whole numbers, truncated
        x = np.nan_to_num(np.round(x))
    a.update(n_targets=n, aggregate_function=d.int(0, 3))
    if n > 1:
        a["post_transform"] = d.choice((0, 3))    # ONNX Runtime takes 1 for LOGISTIC and 2 for SOFTMAX
    return Case(d.op, [x], a, opsets={ML: 5})


@operator(f"{ML}.LinearRegressor")
def linear_regressor(d):
    width, targets = d.int(1, 20), d.int(1, 4)
    a = {"coefficients": d.floats(width * targets).tolist(), "targets": targets}
    if d.chance(0.7):
        a["intercepts"] = d.floats(targets).tolist()
    if targets > 1:
        a["post_transform"] = d.choice(TRANSFORMS[:4])
    return Case(d.op, [rows(d, width, (np.float32,))], a)


def labels(d, names, n):
    return {names[0]: [3 * i + 5 for i in range(n)]} if d.chance() else {names[1]: [f"c{i}" for i in range(n)]}


@operator(f"{ML}.LinearClassifier")
def linear_classifier(d):
    width, targets = d.int(1, 20), d.choice((1, 2, 3, 5))
    a = {"coefficients": d.floats(width * targets).tolist(), "intercepts": d.floats(targets).tolist(),
         "post_transform": d.choice(TRANSFORMS[:4] if targets > 1 else TRANSFORMS[:1])}
    a.update(labels(d, ("classlabels_ints", "classlabels_strings"), max(targets, 2)))
    return Case(d.op, [rows(d, width)], a, 2)


def kernel(d):
    name = d.choice(("LINEAR", "POLY", "RBF", "SIGMOID"))
    return {"kernel_type": name, "kernel_params": [float(np.float32(0.1 * d.int(1, 5))), float(d.int(0, 2)),
                                                   float(d.int(1, 3))]}


@operator(f"{ML}.SVMRegressor")
def svm_regressor(d):
    width, n = d.int(1, 10), d.int(0, 6)
    a = {"n_supports": n, "coefficients": d.floats(n or width).tolist(), "rho": d.floats(1).tolist(),
         "one_class": d.int(0, 1)}
    if n:
        a.update(kernel(d), support_vectors=d.floats(n * width).tolist())
    return Case(d.op, [rows(d, width, (np.float32,))], a, tolerance=1e-4)


@operator(f"{ML}.SVMClassifier")
def svm_classifier(d):
    width, classes = d.int(1, 10), d.choice((2, 3, 4))
    pairs = classes * (classes - 1) // 2
    a = labels(d, ("classlabels_ints", "classlabels_strings"), classes)
    if d.chance(0.8):
        counts = [d.int(1, 4) for _ in range(classes)]
        a.update(kernel(d), vectors_per_class=counts, support_vectors=d.floats(sum(counts) * width).tolist(),
                 coefficients=d.floats((classes - 1) * sum(counts)).tolist(), rho=d.floats(pairs).tolist())
        if d.chance():
            a.update(prob_a=(-abs(d.floats(pairs))).tolist(), prob_b=d.floats(pairs, 0.3).tolist())
        if classes > 2:
            a["post_transform"] = d.choice(TRANSFORMS[:4])
    else:
        classes = 3
        a.update(labels(d, ("classlabels_ints", "classlabels_ints"), 3))
        a.pop("classlabels_strings", None)
        a["classlabels_ints"] = [5, 8, 11]
        a.update(coefficients=d.floats(classes * width).tolist(), rho=d.floats(1).tolist())
    return Case(d.op, [rows(d, width)], a, 2, tolerance=1e-4)


@operator(f"{ML}.Scaler")
def scaler(d):
    width = d.int(1, 8)
    a = {name: d.floats(d.choice((1, width))).tolist() for name in ("offset", "scale")}
    if len(a["offset"]) != len(a["scale"]):
        a["scale"] = d.floats(len(a["offset"])).tolist()
    return Case(d.op, [rows(d, width)], a)


@operator(f"{ML}.Normalizer")
def normalizer(d):
    x = rows(d, d.int(1, 8))
    return Case(d.op, [np.abs(x) + 1], {"norm": d.choice(("MAX", "L1", "L2"))})


@operator(f"{ML}.Binarizer")
def binarizer(d):
    return Case(d.op, [rows(d, d.int(1, 8), (np.float32,))], {"threshold": float(d.floats(()))})


@operator(f"{ML}.Imputer")
def imputer(d):
    width = d.int(1, 6)
    x = rows(d, width, (np.float32, np.int64))
    n = d.choice((1, width))
    if x.dtype == np.int64:
        return Case(d.op, [x], {"imputed_value_int64s": d.ints(n, -50, 50).tolist(),
                                "replaced_value_int64": d.int(-3, 3)})
    old = d.choice((float("nan"), 0.5))
    x[d.random.random(x.shape) < 0.3] = old
    return Case(d.op, [x], {"imputed_value_floats": d.floats(n).tolist(), "replaced_value_float": old})


@operator(f"{ML}.OneHotEncoder")
def one_hot(d):
    shape = d.shape(1, 3)
    if d.chance():
        words = ["a", "b", "Ab", "", "xyz"]
        return Case(d.op, [d.texts(shape)], {"cats_strings": words[:d.int(1, 5)], "zeros": 1})
    x = d.ints(shape, -2, 6, d.choice((np.int64, np.int32, np.float32, np.float64)))
    return Case(d.op, [x], {"cats_int64s": list(range(d.int(1, 5))), "zeros": 1})


@operator(f"{ML}.FeatureVectorizer")
def vectorizer(d):
    n, dtype = d.int(1, 5), d.choice(NUMBERS)
    feeds = [d.array(dtype, (n, d.int(1, 4))) for _ in range(d.int(1, 4))]
    widths = [f.shape[1] for f in feeds]
    if n == 1 and d.chance():
        feeds = [f[0] if d.chance() else f for f in feeds]       # a vector is a row
    return Case(d.op, feeds, {"inputdimensions": widths})


@operator(f"{ML}.ArrayFeatureExtractor")
def extractor(d):
    x = d.array(d.choice((*NUMBERS, object)), [*d.shape(0, 3), d.int(1, 6)])
    return Case(d.op, [x, d.ints((d.int(1, 5),), 0, x.shape[-1] - 1)], {})


@operator(f"{ML}.CategoryMapper")
def mapper(d):
    n = d.int(1, 5)
    a = {"cats_strings": ["a", "b", "Ab", "", "xyz"][:n], "cats_int64s": [3, 1, 7, -2, 5][:n]}
    if d.chance():
        a.update(default_string="?", default_int64=99)
    shape = d.shape()
    return Case(d.op, [d.texts(shape) if d.chance() else d.ints(shape, -3, 8)], a)


@operator(f"{ML}.LabelEncoder")
def label_encoder(d):
    keys = {"int64s": [3, 1, 7, -2, 5], "strings": ["a", "b", "Ab", "", "xyz"],
            "floats": [0.5, 1.0, float("nan"), -2.0, 0.0]}
    given, taken, n, shape = d.choice(list(keys)), d.choice(list(keys)), d.int(1, 5), d.shape()
    opset = d.choice((2, 3, 4))
    if opset < 4:
        keys["floats"][2] = 3.0          # NaN as a key is opset 4's
    a = {"keys_" + given: keys[given][:n], "values_" + taken: keys[taken][::-1][:n]}
    if d.chance():
        a.update(default_string="?", default_int64=99, default_float=0.25)
    x = {"strings": d.texts(shape), "int64s": d.ints(shape, -3, 8)}.get(given)
    if x is None:
        x = np.asarray(d.random.choice(keys["floats"] + [9], shape), np.float32)
    return Case(d.op, [x], a, opsets={ML: opset})


@operator(f"{ML}.CastMap")
def cast_map(d):
    n, a = d.int(0, 6), {"cast_to": d.choice(("TO_FLOAT", "TO_STRING", "TO_INT64")), "map_form": "DENSE"}
    sparse = d.chance()
    keys = d.random.permutation(8)[:n] - (0 if sparse else 4)
    if sparse:
        a.update(map_form="SPARSE", max_map=d.int(1, 9))
    if d.chance():
        words = {int(key): d.choice(("12", "-3", "0", "7")) for key in keys}
        return Case(d.op, [Map(words, T.INT64, T.STRING)], a)
    return Case(d.op, [Map({int(key): float(d.floats((), 3)) for key in keys}, T.INT64, T.FLOAT)], a)


WORDS = ("a", "b", "Ab", "", "xyz", "10")


@operator(f"{ML}.DictVectorizer")
def dict_vectorizer(d):
    values = {T.FLOAT: lambda: float(d.floats(())), T.DOUBLE: lambda: float(d.floats(())), T.INT64: lambda: d.int(-9, 9),
              T.STRING: lambda: d.choice(WORDS)}
    if d.chance():
        kind = d.choice((T.FLOAT, T.DOUBLE, T.INT64))
        a, key, keys = {"string_vocabulary": [d.choice(WORDS) for _ in range(d.int(1, 7))]}, T.STRING, d.some(WORDS)
    else:
        kind = d.choice((T.FLOAT, T.DOUBLE, T.STRING))
        a, key, keys = {"int64_vocabulary": d.ints(d.int(1, 7), -4, 4).tolist()}, T.INT64, d.some(range(-4, 5))
    return Case(d.op, [Map({k: values[kind]() for k in keys}, key, kind)], a)


@operator(f"{ML}.ZipMap")
def zip_map(d):
    n = d.int(1, 6)
    a = {"classlabels_strings": list(WORDS[:n])} if d.chance() else {"classlabels_int64s": [5 - 3 * i for i in range(n)]}
    return Case(d.op, [d.floats((d.int(1, 20), n) if d.chance(0.8) else (n,))], a)

"""How many held-out digits does the stored network read right? Measured with evallib.

    python evaluate.py         needs evallib, numpy and npm, which fetches the digits"""
import pathlib, sys
import evallib
import digits

HERE = pathlib.Path(__file__).resolve().parent


def main():
    images, labels = digits.split()[1]
    worst = 1.0
    for name in ("digits.dnn", "digits.onnx"):
        for precision in ("float32", "float64"):
            model = evallib.load(str(HERE / name), precision=precision)
            scores = model.run({"features": images.astype(precision)}, ["ol.z"])["ol.z"]
            right = int((scores.reshape(len(images), 10).argmax(1) == labels).sum())
            print(f"{name} in {precision}: {right} of {len(images)} held-out digits, {100 * right / len(images):.2f} %")
            worst = min(worst, right / len(images))
    return worst < 0.985


if __name__ == "__main__":
    sys.exit(main())

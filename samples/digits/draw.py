"""Draws the sample images: each digit a few strokes of a pen on 28 x 28 pixels, as plain PGM text.

    python draw.py             writes images/0.pgm .. images/9.pgm; needs only Python"""
import math, pathlib

SIZE, PEN = 28, 1.25   # the pen's radius in pixels


def arc(cx, cy, rx, ry, start, end):
    """Points of an ellipse between two angles in degrees; 0 is to the right, 90 is down."""
    angles = [math.radians(start + (end - start) * i / 24) for i in range(25)]
    return [(cx + rx * math.cos(a), cy + ry * math.sin(a)) for a in angles]


STROKES = {
    0: [arc(14, 14, 6, 9, 0, 360)],
    1: [[(11, 8.5), (14.5, 5), (14, 23)]],
    2: [arc(13.5, 10, 5.5, 5, 190, 390) + [(8, 22.5), (20.5, 22)]],
    3: [arc(13, 9.5, 5, 4.5, 200, 440), arc(13, 18.5, 6, 4.8, 275, 520)],
    4: [[(10, 5), (8, 14.5), (19.5, 14)], [(18, 6), (16.5, 23)]],
    5: [[(19.5, 5.5), (10.5, 6), (9.5, 13)] + arc(13, 17.2, 5.8, 5.3, 225, 500)],
    6: [[(17, 5), (11.5, 11)] + arc(14, 18, 5, 5, 190, 550)],
    7: [[(8, 7), (19.5, 6.5), (13, 23)]],
    8: [arc(14, 9.5, 4.5, 4.5, 90, 450), arc(14, 18.5, 5.5, 4.5, 270, 630)],
    9: [arc(13.5, 10.5, 5, 4.8, 0, 360) + [(18, 14), (16, 23)]],
}


def distance(px, py, a, b):
    """From a point to the segment between a and b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = dx * dx + dy * dy
    t = max(0.0, min(1.0, ((px - a[0]) * dx + (py - a[1]) * dy) / length)) if length else 0.0
    return math.hypot(px - a[0] - t * dx, py - a[1] - t * dy)


def image(strokes):
    """Rows of ink, 0 .. 255, fading over one pixel at the stroke's edge."""
    segments = [pair for stroke in strokes for pair in zip(stroke, stroke[1:])]
    return [[round(255 * max(0.0, min(1.0, PEN + 0.5 - min(distance(x, y, a, b) for a, b in segments))))
             for x in range(SIZE)] for y in range(SIZE)]


def main():
    folder = pathlib.Path(__file__).resolve().parent / "images"
    folder.mkdir(exist_ok=True)
    for digit, strokes in STROKES.items():
        rows = "\n".join(" ".join(f"{v:3}" for v in row) for row in image(strokes))
        (folder / f"{digit}.pgm").write_text(f"P2\n{SIZE} {SIZE}\n255\n{rows}\n")


if __name__ == "__main__":
    main()

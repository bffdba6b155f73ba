"""The interpreter's lock is free while the library works; one object stands many threads."""

import os
import signal
import threading
import time

import pytest


def count_while(work):
    """How far a Python thread counts while this one works."""
    counter, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counter[0] += 1
            time.sleep(0.001)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        work()
    finally:
        stop.set()
        thread.join()
    return counter[0]


def test_python_runs_while_a_network_is_loaded(fake):
    assert count_while(lambda: fake.ModelF().CreateNetwork("sleep=300")) > 50


def test_python_runs_while_a_network_is_evaluated(evaluator):
    assert count_while(lambda: evaluator.Evaluate({"x": [1]}, ["slow"])) > 50


def interrupted(work, after):
    """Raises KeyboardInterrupt in this thread after a while; how long `work` took. In the background
    of a shell, where Ctrl-C is ignored, too."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    signal.signal(signal.SIGINT, usual)
    return time.monotonic() - started


def test_python_runs_and_ctrl_c_ends_a_run(evaluator):
    took = []
    counted = count_while(lambda: took.append(interrupted(lambda: evaluator.Run({}, ["slow"]), 0.3)))
    assert counted > 50 and took[0] < 5
    assert evaluator.Run({"x": [1.0]})["y"].tolist() == [1]


def test_a_second_cntk_call_is_refused_while_one_runs(evaluator, fake):
    thread = threading.Thread(target=evaluator.Evaluate, args=({"x": [1]}, ["slow"]))
    thread.start()
    time.sleep(0.1)
    for call in (lambda: evaluator.Evaluate({"x": [1]}, ["y"]), evaluator.ResetState,
                 lambda: evaluator.CreateNetwork("modelPath=m")):
        with pytest.raises(fake.StateError, match="Another thread"):
            call()
    assert evaluator.Run({"x": [1.0]})["y"].tolist() == [1]
    thread.join()
    assert evaluator.Evaluate({"x": [1]}, ["y"])["y"].tolist() == [2]


def test_closing_while_a_call_runs_waits_for_its_end(evaluator):
    results = []
    thread = threading.Thread(
        target=lambda: results.append(evaluator.Evaluate({"x": [4]}, ["slow"])["slow"].tolist()))
    thread.start()
    time.sleep(0.1)
    evaluator.Destroy()
    assert evaluator.closed
    thread.join()
    assert results == [[8]]


def test_many_threads_on_one_object(evaluator):
    failures = []

    def work(number):
        for i in range(300):
            value = [float(number), float(i)]
            if evaluator.Run({"x": [value]})["y"].tolist() != [value]:
                failures.append(value)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_network_may_be_replaced_while_others_run(evaluator):
    stop, failures = threading.Event(), []

    def run():
        while not stop.is_set():
            if evaluator.Run({"x": [1.0]})["y"].tolist() != [1]:
                failures.append(1)
    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        evaluator.CreateNetwork("modelPath=m")
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures

"""Sweeps: what is finished is never run again, whoever runs it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from risorius.app.breath_space import CONTRACTIONS, PERIODS, breath_space, grid, sweep
from risorius.core.errors import InputError
from risorius.inverse.search.executors import Processes, Serial
from risorius.view.breath_space import draw_breath_space


def bowl(point):
    return float(np.sum(point**2))


class Counted:
    """Fails, as a kill would, after some runs."""

    def __init__(self, most):
        self.most, self.asked = most, []

    def __call__(self, point):
        if len(self.asked) == self.most:
            raise KeyboardInterrupt
        self.asked.append(point.tobytes())
        return bowl(point)


def test_the_grid_covers_the_space():
    across, up, points = grid(20, 16)
    assert len(points) == 320 > 300
    assert (across[0], across[-1]) == CONTRACTIONS and (up[0], up[-1]) == PERIODS


@pytest.mark.parametrize("torn", [False, True])
def test_a_sweep_that_was_killed_goes_on_without_repeating(tmp_path, torn):
    _, _, points = grid(5, 4)
    archive = tmp_path / "runs.jsonl"
    first, second = Counted(7), Counted(99)
    with pytest.raises(KeyboardInterrupt):
        sweep(first, points, Serial(), archive)
    if torn:  # the kill came in the middle of a line
        with archive.open("a") as stream:
            stream.write('{"values": ["0x1.8p')
    values, computed = sweep(second, points, Serial(), archive)
    assert computed == 13 and not set(first.asked) & set(second.asked)
    assert values.tolist() == [bowl(point) for point in points]
    again, computed = sweep(Counted(0), points, Serial(), archive)
    assert computed == 0 and np.array_equal(again, values)


def test_processes_give_what_one_process_gives(tmp_path):
    _, _, points = grid(4, 3)
    told = []
    with Processes(2) as executor:
        values, computed = sweep(bowl, points, executor, tmp_path / "runs.jsonl", told.append)
    assert computed == 12 and values.tolist() == [bowl(point) for point in points]
    assert told == sorted(told) and told[-1] == 1.0


def test_processes_end_with_a_parent_that_is_killed():
    code = (
        "import time, numpy as np\n"
        "from risorius.inverse.search.executors import Processes\n"
        "if __name__ == '__main__':\n"
        "    running = Processes(1)\n"
        "    print(running.pool.submit(os.getpid).result(), flush=True)\n"
        "    time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", "import os\n" + code], stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    for _ in range(100):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.1)
    raise AssertionError("a worker outlived its parent")


def test_a_cluster_gives_what_one_process_gives(tmp_path):
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    from risorius.inverse.search.executors import Dask

    _, _, points = grid(3, 2)
    with Dask(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as executor:
        values, _ = sweep(bowl, points, executor, tmp_path / "runs.jsonl")
    assert values.tolist() == [bowl(point) for point in points]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere", "ftp://127.0.0.1:9"])
def test_a_cluster_that_does_not_answer_is_refused(address, monkeypatch):
    from risorius.inverse.search import executors

    monkeypatch.setattr(executors, "ANSWER", 0.5)
    with pytest.raises(InputError, match="Dask scheduler"):
        executors.Dask(address)


def test_a_map_is_drawn(tmp_path):
    across, up, points = grid(6, 5)
    tidal = np.array([2.0 * c * min(p, 2.0) / 2.0 for c, p in points]).reshape(5, 6)
    draw_breath_space(tmp_path / "map.png", across, up, tidal, "female")
    assert (tmp_path / "map.png").stat().st_size > 10_000


@pytest.mark.parametrize("wrong", [{"columns": 1}, {"rows": 999}, {"seconds": 0.1}, {"subject": "cat"}])
def test_sizes_out_of_range_are_refused(tmp_path, wrong):
    with pytest.raises(InputError):
        breath_space(tmp_path, **wrong)


@pytest.mark.nightly
def test_fast_shallow_breaths_move_less_air_than_slow_deep_ones(tmp_path):
    figures = breath_space(tmp_path, columns=2, rows=2, seconds=6.0, workers=1)
    rows = np.genfromtxt(tmp_path / "breath-space.csv", delimiter=",", names=True)
    tidal = rows["tidal_l"].reshape(2, 2)
    assert figures["runs"] == 4
    assert (tidal[:, 1] > 3.0 * tidal[:, 0]).all() and (tidal[1] > tidal[0]).all()

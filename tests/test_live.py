"""A torso that laughs as the sound comes: it follows, keeps up, gives way in order, and shows itself to this machine."""

import http.client

import numpy as np
import pytest

from risorius.anatomy import build
from risorius.app.live import live
from risorius.cli.main import main
from risorius.core.errors import InputError
from risorius.core.spec import reference
from risorius.inverse.live import BACKLOG, LiveBody
from risorius.respiration.utterances import LaughPlan, laugh
from risorius.sim.run import Simulation
from risorius.view.live_page import LivePage

pytestmark = pytest.mark.xdist_group("torso")


@pytest.fixture(scope="module")
def simulation():
    return Simulation.of(build(reference("male")))


class Air:
    """A clock that the test sets."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_blocks_of_any_length_move_the_lung_as_the_ear_asks(simulation):
    sound = laugh(LaughPlan(bouts=(4,), lead=0.3), seed=3).sound
    air = Air()
    body = LiveBody(simulation.copy(), sound.rate, air)
    heard, made, at, random = [], [], 0, np.random.default_rng(1)
    while at < len(sound.samples):
        size = int(random.integers(100, 900))
        block = sound.samples[at : at + size]
        at += len(block)
        air.now = at / sound.rate
        body.hear(block)
        heard.append(body.wanted)
        made.append(body.pressure)
    assert max(heard) > 15.0 and np.corrcoef(heard, made)[0, 1] > 0.95
    report = body.report()
    assert report["left_out_pct"] == 0.0 and report["within_100_ms_pct"] == 100.0
    assert (
        report["latency_worst_ms"] <= 26.0
    )  # the longest block and a tick: this clock stands still while the body moves


def test_what_comes_too_late_is_left_out_and_the_body_goes_on(simulation):
    sound = laugh(LaughPlan(bouts=(4,), lead=0.3), seed=3).sound
    air = Air()
    body = LiveBody(simulation.copy(), sound.rate, air)
    half = len(sound.samples) // 2
    air.now = half / sound.rate
    body.hear(sound.samples[:half])  # the machine was busy until here
    ticks = body.ear.ticks
    assert body.left_out == ticks - BACKLOG and body.time == pytest.approx((ticks - 1) / 200.0)
    assert body.report()["latency_worst_ms"] < 60.0
    for start in range(half, len(sound.samples), 441):
        air.now = min(start + 441, len(sound.samples)) / sound.rate
        body.hear(sound.samples[start : start + 441])
    assert body.left_out == ticks - BACKLOG and abs(body.pressure) < 60.0


def test_a_file_is_played_at_its_own_pace_to_its_end():
    report = live("sample", seconds=1.0, page=False)
    assert report["ticks"] == 200 and report["latency_median_ms"] > 0.0


@pytest.mark.parametrize("options", [{"seconds": 0.0}, {"seconds": float("nan")}, {"port": 70_000}, {"subject": "x"}])
def test_bad_knobs_are_refused(options):
    with pytest.raises(InputError):
        live("sample", page=False, **options)


def test_nothing_to_laugh_is_said(capsys):
    assert main(["laugh"]) == 2
    assert "--live" in capsys.readouterr().err


def test_the_page_serves_poses_to_this_machine_alone(simulation):
    torso = simulation.model.torso
    page = LivePage(torso)
    try:
        port = page.server.server_port
        simulation.look()
        work = simulation.room.work

        def get(path, host):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", path, headers={"Host": host})
            answer = connection.getresponse()
            return answer.status, answer.headers.get("X-Number"), answer.read()

        assert page.server.server_address[0] == "127.0.0.1"
        assert get("/", f"127.0.0.1:{port}")[0] == 200
        assert get("/", "elsewhere.example")[0] == 404 and get("/other", f"localhost:{port}")[0] == 404
        page.show(work.pose.rotation, work.pose.origin, work.point, 1.25, 7.0, 8.0)
        status, number, body = get("/pose?0", f"127.0.0.1:{port}")
        numbers = np.frombuffer(body, dtype="<f4")
        assert status == 200 and number == "1" and numbers[:3].tolist() == [1.25, 7.0, 8.0]
        assert len(numbers) == 3 + 7 * len(torso.bodies.names) + 3 * len(torso.surface.points)
    finally:
        page.stop()

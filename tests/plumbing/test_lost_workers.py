"""Workers and clusters that are lost: the run ends in one line that says how to continue it."""

from __future__ import annotations

import itertools
import socket
import sys
import types
from pathlib import Path

import pytest

from trickformer.base import TrickformerError
from trickformer.plumbing import parallel
from trickformer.plumbing.folder import resumable
from trickformer.plumbing.parallel import LostWorkersError
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament


class _RayError(Exception):
    pass


class _RayTaskError(_RayError):
    cause: BaseException


@pytest.fixture
def ray(monkeypatch):
    """A stand-in for Ray, connected to a cluster whose head listens at `head`; its tasks run in this process."""
    with socket.create_server(("127.0.0.1", 0)) as head:
        made = types.ModuleType("ray")
        context = types.SimpleNamespace(gcs_address=f"127.0.0.1:{head.getsockname()[1]}")
        made.__dict__.update(
            head=head,
            exceptions=types.SimpleNamespace(RayError=_RayError, RayTaskError=_RayTaskError),
            is_initialized=lambda: True,
            cluster_resources=lambda: {"CPU": 2},
            get_runtime_context=lambda: context,
            remote=lambda **_: lambda function: types.SimpleNamespace(remote=function),
            wait=lambda running, num_returns, timeout: (running[:1], running[1:]),
            get=lambda found: found,
            cancel=lambda *_, force: None,
        )
        monkeypatch.setitem(sys.modules, "ray", made)
        yield made


def numbers(job):
    yield from range(job)


def play(tmp_path, **given):
    return run.tournament(Tournament(game="hearts", a="random", b="rules", deals=2, out=tmp_path / "run", **given))


def test_the_stand_in_streams_items(ray):
    assert sorted(parallel.stream(numbers, [2, 3], 1, "auto")) == [0, 0, 1, 1, 2]


def test_a_lost_head_ends_the_run_with_advice(ray, monkeypatch, tmp_path, command):
    clock = itertools.count(0, 7)
    monkeypatch.setattr(parallel.time, "monotonic", lambda: float(next(clock)))
    ready = ray.wait

    def wait(running, num_returns, timeout):
        """Give some items; then the head is gone, and nothing comes any more."""
        if next(calls) < 5:
            return ready(running, num_returns, timeout)
        ray.head.close()
        return [], running

    calls = itertools.count()
    ray.wait = wait
    address = ray.get_runtime_context().gcs_address
    out = tmp_path / "run"
    arguments = ["tournament", "hearts", "--a", "random", "--b", "rules", "--deals", "2", "--out", out, "--ray", "auto"]
    code, said, err = command(*arguments)
    (line,) = [line for line in err.splitlines() if line.startswith("error")]
    assert (code, said) == (2, "")
    assert line == (
        f"error: the head of the Ray cluster at {address} is lost ([Errno 111] Connection refused) after 5 of 28 "
        f"tables; start the cluster again; continue with: trickformer tournament --out {out} --resume --ray auto"
    )
    assert len(run.load(out).records) == 5


def test_a_head_that_comes_back_in_time_ends_nothing(ray, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(parallel.time, "monotonic", lambda: now[0])
    watch = parallel.HeadWatch(ray.get_runtime_context().gcs_address)
    known, port = ray.head, ray.head.getsockname()[1]
    known.close()
    for now[0] in (6.0, 12.0, 29.0):
        watch.check()
    with socket.create_server(("127.0.0.1", port)):
        now[0] = 50.0
        watch.check()
    now[0] = 79.0
    watch.check()
    now[0] = 85.0
    with pytest.raises(LostWorkersError):
        watch.check()


@pytest.mark.parametrize("where", ["wait", "get"])
def test_what_ray_raises_is_one_line_with_advice(ray, tmp_path, where):
    def fail(*_, **__):
        raise _RayError("The node died. Its id is 5.\nA long story")

    setattr(ray, where, fail)
    with pytest.raises(LostWorkersError) as caught:
        play(tmp_path, ray="auto")
    assert str(caught.value) == (
        "a worker of the Ray cluster failed: The node died after 0 of 28 tables; continue with: trickformer tournament "
        f"--out {tmp_path}/run --resume --ray auto"
    )


def test_a_fault_of_the_program_keeps_its_traceback(ray):
    def fail(*_):
        error = _RayTaskError()
        error.cause = ZeroDivisionError()
        raise error

    ray.get = fail
    with pytest.raises(_RayTaskError):
        list(parallel.stream(numbers, [1], 1, "auto"))


@pytest.mark.parametrize("out", [None, Path("out/run")])
def test_lost_workers_of_this_machine_give_advice_too(out):
    config = Tournament(game="hearts", a="random", b="rules", out=out)
    with pytest.raises(LostWorkersError) as caught, resumable("tournament", config, progress=lambda: "after 1 table"):
        raise LostWorkersError("a worker process died (exit code -9)")
    advice = "nothing is kept without --out" if out is None else "continue with: trickformer tournament --out "
    assert str(caught.value).startswith(f"a worker process died (exit code -9) after 1 table; {advice}")
    with pytest.raises(TrickformerError, match=r"^other$"), resumable("tournament", config):
        raise TrickformerError("other")

"""Work on several processes and on a Ray cluster of two nodes: every item once, and no worker left behind."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest
from support import engines
from support.records import comparable

from trickformer.base import TrickformerError, UnknownNameError
from trickformer.plumbing import parallel
from trickformer.tournaments import run
from trickformer.tournaments.plan import Tournament

pytestmark = pytest.mark.slow

MATCH = {"game": "hearts", "a": "random", "b": "rules", "deals": 3, "seed": 3, "tables": 7}


def numbers(job):
    for i in range(4):
        yield job, i


def fails(job):
    yield job
    raise UnknownNameError("card", "0S", ["QS"])


def dies(job):
    yield job
    os._exit(3)


def pids(_job):
    while True:
        yield os.getpid()
        time.sleep(0.01)


def dies_once(file):
    """Five items; the first attempt ends its process after three."""
    for i in range(5):
        if i == 3 and not file.exists():
            file.write_text("")
            time.sleep(1)  # let the items before reach the other side
            os._exit(3)
        yield i


def meets(job):
    """Where this job runs, once as many as expected run at the same time."""
    import ray

    folder, name, expected = job
    (folder / name).write_text("")
    while len(list(folder.iterdir())) < expected:
        time.sleep(0.01)
    yield ray.get_runtime_context().get_node_id()


def ended(pid):
    limit = time.monotonic() + 20
    while time.monotonic() < limit:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def whole(found, jobs):
    assert sorted(found) == [(job, i) for job in range(jobs) for i in range(4)]
    for job in range(jobs):
        assert [i for j, i in found if j == job] == [0, 1, 2, 3]


@pytest.mark.parametrize(("jobs", "workers"), [(0, 2), (1, 2), (3, 1), (3, 2), (2, 9)])
def test_every_item_comes_once_and_in_order_within_its_job(jobs, workers):
    whole(list(parallel.stream(numbers, range(jobs), workers, None)), jobs)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_the_work_reaches_the_caller_as_its_line(workers):
    with pytest.raises(TrickformerError, match=r"^unknown card '0S'; choose from: QS$"):
        list(parallel.stream(fails, [1, 2], workers, None))


def test_the_death_of_a_process_is_one_line():
    with pytest.raises(TrickformerError, match=r"^a worker process died \(exit code 3\)$"):
        list(parallel.stream(dies, [1, 2], 2, None))


def test_closing_ends_the_processes():
    source = parallel.stream(pids, [1, 2], 2, None)
    seen = set()
    while len(seen) < 2:
        seen.add(next(source))
    source.close()
    assert os.getpid() not in seen
    assert all(ended(pid) for pid in seen)


def test_an_interrupt_from_the_terminal_ends_all_and_only_the_parent_speaks():
    code = "import test_parallel as t\nfor pid in t.parallel.stream(t.pids, [1, 2], 2, None): print(pid, flush=True)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path}\nif __name__ == '__main__': exec({code!r})"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    seen = set()
    while len(seen) < 2:
        seen.add(int(process.stdout.readline()))
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert said.count("KeyboardInterrupt") == said.count("Traceback") == 1
    assert all(ended(pid) for pid in seen)


def test_without_ray_the_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(TrickformerError, match=r"pip install 'trickformer\[ray\]'"):
        parallel.slots(1, "auto")
    with pytest.raises(TrickformerError, match="either workers or ray"):
        parallel.slots(2, "auto")


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("here", "no Ray cluster at 'here' (it is not HOST:PORT); give auto"),
        ("", "no Ray cluster at ''"),
        ("127.0.0.1:1", "no Ray cluster at '127.0.0.1:1'"),
        ("ray://127.0.0.1:10001", "addresses of Ray's client are not supported"),
    ],
)
def test_a_cluster_out_of_reach_is_one_line_and_nothing_is_written(command, tmp_path, address, says):
    pytest.importorskip("ray", reason="Ray has no wheel for this Python")
    arguments = ["hearts", "--a", "random", "--b", "random", "--out", tmp_path / "run", "--ray", address]
    code, out, err = command("tournament", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert says in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", None], ids=["ends", "http", "silent"])
def test_a_listener_that_is_not_ray_is_told_at_once(command, tmp_path, answer):
    pytest.importorskip("ray", reason="Ray has no wheel for this Python")
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen():
            with contextlib.suppress(OSError):
                talk, _ = server.accept()
                if answer is None:
                    time.sleep(20)
                talk.sendall(answer or b"")
                talk.close()

        threading.Thread(target=listen, daemon=True).start()
        begun = time.monotonic()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        arguments = ["hearts", "--a", "random", "--b", "random", "--out", tmp_path / "run", "--ray", address]
        code, out, err = command("tournament", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1) and f"no Ray cluster at '{address}'" in err
    assert time.monotonic() - begun < 10 and not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def cluster():
    """Address of a Ray cluster of two nodes on this machine, a CPU each."""
    pytest.importorskip("ray", reason="Ray has no wheel for this Python")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # Where the nodes find this module and what it imports, and the package where it is not the installed one.
        here, known = Path(__file__).parent, os.environ.get("PYTHONPATH")
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(here), str(here.parent), known])))
        import ray
        from ray.cluster_utils import Cluster

        node = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}
        made = Cluster(initialize_head=True, head_node_args=node)
        made.add_node(**node)
        yield made.address
        ray.shutdown()
        made.shutdown()


def test_on_ray_a_tournament_has_the_same_records(cluster, tmp_path):
    """Also where it was interrupted: the two commands of a user."""
    typed = [word for k, v in MATCH.items() if k != "game" for word in (f"--{k}", str(v))]
    arguments = ["tournament", "hearts", *typed, "--deals", "30", "--ray", cluster, "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-c", "from trickformer.cli import main; main()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    limit = time.monotonic() + 60
    path = tmp_path / "records.jsonl"
    while not (path.exists() and path.read_bytes().count(b"\n") >= 9):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < limit
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume" in said
    assert "Traceback" not in said
    config = Tournament.model_validate(MATCH | {"deals": 30})
    assert 9 <= path.read_bytes().count(b"\n") < 30 * 14
    found = run.tournament(config.model_copy(update={"ray": cluster, "out": tmp_path}), resume=True)
    assert comparable(found.records) == comparable(run.tournament(config).records)


def test_on_ray_engines_play_too(cluster, tmp_path):
    """Each job starts its own; what they write to standard error stays on the node's disk."""
    config = Tournament(game="skat", a=engines.spec("good"), b="random", deals=4, seed=5)
    alone = run.tournament(config)
    found = run.tournament(config.model_copy(update={"ray": cluster, "out": tmp_path / "run"}))
    assert comparable(found.records) == comparable(alone.records)


def test_on_ray_every_cpu_is_a_slot_and_both_nodes_work(cluster, tmp_path):
    assert parallel.slots(1, cluster) == 2
    assert len(set(parallel.stream(meets, [(tmp_path, "a", 2), (tmp_path, "b", 2)], 1, cluster))) == 2
    whole(list(parallel.stream(numbers, range(5), 1, cluster)), 5)


def test_on_ray_a_lost_job_is_run_again_and_no_item_comes_twice(cluster, tmp_path):
    assert list(parallel.stream(dies_once, [tmp_path / "died"], 1, cluster)) == [0, 1, 2, 3, 4]
    assert (tmp_path / "died").exists()


def test_on_ray_an_error_is_one_line_and_closing_ends_the_work(cluster):
    with pytest.raises(TrickformerError, match=r"^unknown card '0S'; choose from: QS$"):
        list(parallel.stream(fails, [1, 2], 1, cluster))
    source = parallel.stream(pids, [1, 2, 3], 1, cluster)
    seen = set()
    while len(seen) < 2:
        seen.add(next(source))
    source.close()
    assert all(ended(pid) for pid in seen)
    whole(list(parallel.stream(numbers, range(2), 1, cluster)), 2)


def test_on_ray_what_a_node_lacks_is_one_line(cluster, monkeypatch):
    """A job that refers to a module which only this process has."""
    module = types.ModuleType("only_here")
    exec("class Job: pass", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    with pytest.raises(TrickformerError, match=r"worker of the Ray cluster .*'only_here'"):
        list(parallel.stream(numbers, [module.Job()], 1, cluster))


TRAINING = {"game": "hearts", "preset": "tiny", "bootstrap_hands": 64, "iterations": 1, "sequences": 32}
TRAINING |= {"held_out": 8, "tables": 8, "match_deals": 2}


@pytest.fixture(scope="module")
def single_process_run(tmp_path_factory):
    """Folder of a training whose hands one process plays."""
    from trickformer.selfplay import nfsp
    from trickformer.selfplay.config import SelfPlay as Training

    folder = tmp_path_factory.mktemp("training") / "run"
    nfsp.run(Training(**TRAINING, out=folder))
    return folder


@pytest.mark.parametrize("where", ["ray", "processes"])
def test_self_play_is_the_same_wherever_hands_are_played(request, single_process_run, tmp_path, where):
    from trickformer.selfplay import nfsp
    from trickformer.selfplay.config import SelfPlay as Training

    spread = {"ray": request.getfixturevalue("cluster")} if where == "ray" else {"workers": 2, "match_deals": 0}
    nfsp.run(Training(**TRAINING | spread, out=tmp_path / "run"))
    for name in ("data/1/tokens.bin", "model-1/model.safetensors", *(["curve.csv"] if where == "ray" else [])):
        assert (single_process_run / name).read_bytes() == (tmp_path / "run" / name).read_bytes(), name

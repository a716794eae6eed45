"""Work spread over processes of this machine, or over a Ray cluster: the items of all jobs, as they come.

Ray is an optional dependency and imported only where an address is given."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from trickformer.base import TrickformerError

Job = TypeVar("Job")
Item = TypeVar("Item")
Work = Callable[[Job], Iterator[Item]]


class LostWorkersError(TrickformerError):
    """Workers are gone, and with them the work under way. What they had finished is kept.

    Attributes:
        remedy: What to do before the run is continued; empty if nothing.
    """

    def __init__(self, message: str, remedy: str = ""):
        super().__init__(message)
        self.remedy = remedy


_ITEM, _ERROR, _END = "item", "error", "end"  # what a worker sends: (kind, value)
_PATIENCE = 5.0  # seconds for a cluster to answer; Ray itself would try for minutes
_LOOK = 5.0  # seconds between two looks at the head of a cluster
_HEAD_PATIENCE = 30.0  # seconds in which a head may start again; Ray ends the process after 60


def slots(workers: int, ray: str | None) -> int:
    """How many jobs run at a time: `workers` processes, or one for each CPU of the cluster at `ray`.

    Raises TrickformerError where both are asked for, and where the cluster cannot be reached: call it before
    anything is written."""
    if ray is None:
        return workers
    if workers > 1:
        raise TrickformerError("give either workers or ray: on a cluster, every CPU is a worker")
    return max(1, int(_connect(ray).cluster_resources().get("CPU", 0)))


def stream(work: Work[Job, Item], jobs: Sequence[Job], workers: int, ray: str | None) -> Iterator[Item]:
    """The items that `work` yields for each of `jobs`, in order within a job and in any order between jobs.

    work: a generator function at the top level of a module, so that other processes find it; jobs and items can
    be pickled. At most `slots(workers, ray)` jobs run at a time; a single one, or one at a time, runs in this
    process. On a cluster a job gets one CPU and no GPU. A job whose node is lost is run again and its first items
    are passed over, as many as have come: each comes once, if `work` yields the same items for the same job.

    Closing the iterator ends the workers. Raises TrickformerError with the same line as one in `work`, and where a
    worker dies or the cluster cannot be reached."""
    if ray is not None:
        return _on_cluster(work, jobs, ray)
    if workers > 1 and len(jobs) > 1:
        return _in_processes(work, jobs, workers)
    return (item for job in jobs for item in work(job))


def _messages(work: Work[Job, Item], job: Job) -> Iterator[tuple[str, Any]]:
    """What a worker sends for its job: items, or the line of an error last. The error itself need not pickle."""
    try:
        for item in work(job):
            yield _ITEM, item
    except TrickformerError as e:
        yield _ERROR, str(e)


def _in_processes(work: Work[Job, Item], jobs: Sequence[Job], workers: int) -> Iterator[Item]:
    context = multiprocessing.get_context("spawn")  # a fork would copy the threads' locks of torch and Ray
    waiting = list(reversed(jobs))
    running: dict[Connection, Any] = {}

    def end(pipe: Connection) -> None:
        process = running.pop(pipe)
        process.terminate()
        process.join()
        pipe.close()

    try:
        while waiting or running:
            while waiting and len(running) < workers:
                ours, theirs = context.Pipe()
                process = context.Process(target=_process, args=(theirs,), daemon=True)
                process.start()
                theirs.close()
                running[ours] = process
                with suppress(OSError):  # it has died, as is seen below
                    ours.send((work, waiting.pop()))
            for pipe in wait(list(running)):
                assert isinstance(pipe, Connection)
                try:
                    kind, value = pipe.recv()
                except (EOFError, OSError):  # OSError: it died within a message
                    running[pipe].join()
                    code = running[pipe].exitcode
                    raise LostWorkersError(f"a worker process died (exit code {code})") from None
                if kind == _END:
                    end(pipe)
                elif kind == _ERROR:
                    raise TrickformerError(value)
                else:
                    yield value
    finally:
        for pipe in list(running):
            end(pipe)


def _process(pipe: Connection) -> None:
    """Does the job that it is sent. Reading it imports what it needs, maybe torch; the parent is watched before."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends us
    threading.Thread(target=end_with_the_parent, daemon=True).start()
    try:
        work, job = pipe.recv()
        for message in _messages(work, job):
            pipe.send(message)
        pipe.send((_END, None))
    except (BrokenPipeError, ConnectionResetError, EOFError):
        pass  # the parent is gone, and with it the reason to work on


def end_with_the_parent() -> None:
    """Ends this process once the one that began it is gone, however it went: nobody would read what it sends."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _on_cluster(work: Work[Job, Item], jobs: Sequence[Job], address: str) -> Iterator[Item]:
    """One streaming task a job; Ray queues those that find no free CPU, and runs again those that it loses."""
    ray = _connect(address)
    task = ray.remote(num_cpus=1, num_returns="streaming")(_messages)
    running = [task.remote(work, job) for job in jobs]
    head = HeadWatch(ray.get_runtime_context().gcs_address)
    try:
        while running:
            head.look()
            try:
                due, _ = ray.wait(running, num_returns=1, timeout=_LOOK)
                if not due:
                    continue
                (ready,) = due
                running.remove(ready)
                running.append(ready)  # at the end: each has its turn
                kind, value = ray.get(next(ready))
            except StopIteration:
                running.pop()
                continue
            except ray.exceptions.RayError as e:
                cause = e.cause if isinstance(e, ray.exceptions.RayTaskError) else e
                if not isinstance(cause, ray.exceptions.RayError):  # a fault of the program: it needs its traceback
                    raise
                raise LostWorkersError(f"a worker of the Ray cluster failed: {_reason(cause)}") from None
            if kind == _ERROR:
                raise TrickformerError(value)
            yield value
    finally:
        with suppress(ray.exceptions.RayError):  # a cluster that is lost has nothing to cancel
            for unfinished in running:
                ray.cancel(unfinished, force=True)  # by force: compiled code does not listen


class HeadWatch:
    """Looks whether the head of a cluster is there. Ray itself ends the process without a word a minute after it is
    lost."""

    def __init__(self, address: str):
        """Watch the head.

        Args:
            address: HOST:PORT.
        """
        self._address = address
        parts = address.rsplit(":", 1)
        self._host, self._port = parts[0].strip("[]"), int(parts[1])
        self._looked = self._seen = time.monotonic()

    def look(self) -> None:
        """Look, if it is time to. Raises LostWorkersError if the head has been gone for long."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        try:
            socket.create_connection((self._host, self._port), _PATIENCE).close()
            self._seen = now
        except OSError as e:
            if now - self._seen > _HEAD_PATIENCE:
                raise LostWorkersError(
                    f"the head of the Ray cluster at {self._address} is lost ({_reason(e)})", "start the cluster again"
                ) from None


def _connect(address: str) -> Any:
    """The module ray, connected to the cluster; a connection that exists is used. Raises TrickformerError."""
    try:
        import ray
    except ImportError:
        raise TrickformerError("--ray needs Ray, which is not installed: pip install 'trickformer[ray]'") from None
    if ray.is_initialized():
        return ray
    known = "auto on one of its nodes, or HOST:PORT of its head"
    if address.startswith("ray://"):  # Ray's client returns no results before the end of a task
        raise TrickformerError(f"{address}: Ray's client cannot stream; start on a node of the cluster with --ray auto")
    try:
        if address != "auto":
            host, _, port = address.rpartition(":")
            if not (host and port.isdecimal()):
                raise ValueError("this names no host and port")
            _must_be_grpc(host, int(port))
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, OverflowError, ValueError, RuntimeError) as e:
        raise TrickformerError(f"no Ray cluster at {address!r} ({_reason(e)}); give {known}") from None
    return ray


def _must_be_grpc(host: str, port: int) -> None:
    """Raises OSError or ValueError where nobody listens, or one who does not answer as the head of a cluster would: Ray
    itself would wait for minutes. gRPC is HTTP/2, in which both sides begin with their settings (RFC 9113, 3.4)."""
    settings = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # a frame: length 0, type 4, no flags, stream 0
    with socket.create_connection((host, port), _PATIENCE) as talk:
        talk.settimeout(_PATIENCE)
        talk.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings)
        if talk.recv(9, socket.MSG_WAITALL)[3:4] != settings[3:4]:
            raise ValueError("who listens there is not Ray")


def _reason(e: BaseException) -> str:
    """The first sentence of what Ray says at length."""
    return f"{str(e).strip() or type(e).__name__}\n".splitlines()[0].partition(". ")[0]

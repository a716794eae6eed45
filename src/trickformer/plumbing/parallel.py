"""Parallel work in processes of this machine, or on a Ray cluster.

Ray is an optional dependency and imported only if an address is given.
"""

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
    """Loss of workers and of their unfinished work. Finished work is kept.

    Attributes:
        remedy: Step to take before the run is continued; empty if there is none.
    """

    def __init__(self, message: str, remedy: str = ""):
        super().__init__(message)
        self.remedy = remedy


# Kinds of the messages (kind, value) that a worker sends.
_ITEM = "item"
_ERROR = "error"
_END = "end"

_CONNECT_TIMEOUT = 5.0  # seconds to wait for a cluster; Ray itself would try for minutes
_HEAD_CHECK = 5.0  # seconds between two checks of the head of a cluster
_HEAD_TIMEOUT = 30.0  # seconds that a head may be out of reach; Ray kills the process after 60


def slots(workers: int, ray: str | None) -> int:
    """Return the number of jobs that run in parallel.

    Commands call it before they write anything, so that a cluster out of reach leaves no trace.

    Args:
        workers: Number of processes on this machine.
        ray: Address of a Ray cluster, on which every CPU runs a job; None for this machine.

    Raises:
        TrickformerError: There are both several workers and a cluster, or the cluster cannot be reached.
    """
    if ray is None:
        return workers
    if workers > 1:
        raise TrickformerError(
            "give either workers or ray: on a cluster, every CPU is a worker; a run that began with workers needs "
            "--workers 1 there"
        )
    return max(1, int(_connect(ray).cluster_resources().get("CPU", 0)))


def stream(work: Work[Job, Item], jobs: Sequence[Job], workers: int, ray: str | None) -> Iterator[Item]:
    """Yield the items of jobs, in order within a job and in any order between jobs.

    Jobs run in this process if there is one worker or one job and no cluster. On a cluster, a job gets one CPU and no
    GPU. If a node is lost, its jobs run again, and the items that had arrived before are skipped. Each item therefore
    comes once, if `work` yields the same items for the same job. Closing the iterator ends the workers.

    Args:
        work: Generator function at the top level of a module, so that other processes can import it. It yields the
            items of a job. Jobs and items must be picklable.
        jobs: The jobs.
        workers: Number of processes on this machine.
        ray: Address of a Ray cluster; None for this machine.

    Raises:
        LostWorkersError: A worker died.
        TrickformerError: `work` raised a TrickformerError, whose message is kept, or the cluster cannot be reached.
    """
    if ray is not None:
        return _on_cluster(work, jobs, ray)
    if workers > 1 and len(jobs) > 1:
        return _in_processes(work, jobs, workers)
    return (item for job in jobs for item in work(job))


def _messages(work: Work[Job, Item], job: Job) -> Iterator[tuple[str, Any]]:
    """Yield the messages of a worker: the items of its job, or the text of an error, which may not be picklable."""
    try:
        for item in work(job):
            yield _ITEM, item
    except TrickformerError as e:
        yield _ERROR, str(e)


def _in_processes(work: Work[Job, Item], jobs: Sequence[Job], workers: int) -> Iterator[Item]:
    context = multiprocessing.get_context("spawn")  # a fork would copy locks that threads of torch or Ray hold
    queued = list(reversed(jobs))
    running: dict[Connection, Any] = {}

    def end(pipe: Connection) -> None:
        process = running.pop(pipe)
        process.terminate()
        process.join()
        pipe.close()

    try:
        while queued or running:
            while queued and len(running) < workers:
                ours, theirs = context.Pipe()
                process = context.Process(target=_process, args=(theirs,), daemon=True)
                process.start()
                theirs.close()
                running[ours] = process
                with suppress(OSError):  # a dead process is detected below
                    ours.send((work, queued.pop()))
            for pipe in wait(list(running)):
                assert isinstance(pipe, Connection)
                try:
                    kind, value = pipe.recv()
                except (EOFError, OSError):  # OSError: the process died within a message
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
    """Run the job that arrives in a pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C also reaches the parent, which ends this process
    threading.Thread(target=end_with_the_parent, daemon=True).start()  # first: unpickling may import torch for seconds
    try:
        work, job = pipe.recv()
        for message in _messages(work, job):
            pipe.send(message)
        pipe.send((_END, None))
    except (BrokenPipeError, ConnectionResetError, EOFError):
        pass  # the parent has died, so nobody needs the result


def end_with_the_parent() -> None:
    """Wait until the parent process has ended, and then end this process, whose messages nobody reads."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _on_cluster(work: Work[Job, Item], jobs: Sequence[Job], address: str) -> Iterator[Item]:
    """Run one streaming task for each job. Ray queues tasks until a CPU is free, and repeats those of lost nodes."""
    ray = _connect(address)
    task = ray.remote(num_cpus=1, num_returns="streaming")(_messages)
    running = [task.remote(work, job) for job in jobs]
    head = HeadWatch(ray.get_runtime_context().gcs_address)
    try:
        while running:
            head.check()
            try:
                due, _ = ray.wait(running, num_returns=1, timeout=_HEAD_CHECK)
                if not due:
                    continue
                (ready,) = due
                running.remove(ready)
                running.append(ready)  # to the end, so that the tasks take turns
                kind, value = ray.get(next(ready))
            except StopIteration:
                running.pop()
                continue
            except ray.exceptions.RayError as e:
                cause = e.cause if isinstance(e, ray.exceptions.RayTaskError) else e
                if not isinstance(cause, ray.exceptions.RayError):  # a bug in `work`: keep its traceback
                    raise
                raise LostWorkersError(f"a worker of the Ray cluster failed: {_reason(cause)}") from None
            if kind == _ERROR:
                raise TrickformerError(value)
            yield value
    finally:
        with suppress(ray.exceptions.RayError):  # a cluster that is lost has nothing to cancel
            for unfinished in running:
                ray.cancel(unfinished, force=True)  # compiled code ignores a gentler request


class HeadWatch:
    """Monitor of the head of a cluster.

    Ray itself ends the process without a message, a minute after the head is lost.
    """

    def __init__(self, address: str):
        """Start to monitor a head.

        Args:
            address: HOST:PORT.
        """
        self._address = address
        parts = address.rsplit(":", 1)
        self._host, self._port = parts[0].strip("[]"), int(parts[1])
        self._last_check = self._last_contact = time.monotonic()

    def check(self) -> None:
        """Check the head, unless the last check is recent.

        Raises:
            LostWorkersError: The head has been out of reach for too long.
        """
        now = time.monotonic()
        if now - self._last_check < _HEAD_CHECK:
            return
        self._last_check = now
        try:
            socket.create_connection((self._host, self._port), _CONNECT_TIMEOUT).close()
            self._last_contact = now
        except OSError as e:
            if now - self._last_contact > _HEAD_TIMEOUT:
                raise LostWorkersError(
                    f"the head of the Ray cluster at {self._address} is lost ({_reason(e)})", "start the cluster again"
                ) from None


def _connect(address: str) -> Any:
    """Import ray, connect it to the cluster unless it is connected, and return it. Raises TrickformerError."""
    try:
        import ray
    except ImportError:
        raise TrickformerError("--ray needs Ray, which is not installed: pip install 'trickformer[ray]'") from None
    if ray.is_initialized():
        return ray
    accepted = "auto on one of its nodes, or HOST:PORT of its head"
    if address.startswith("ray://"):  # Ray's client returns no results before the end of a task
        raise TrickformerError(
            f"{address}: addresses of Ray's client are not supported; start on a node of the cluster with --ray auto"
        )
    try:
        if address != "auto":
            parts = address.rpartition(":")
            host, port = parts[0], parts[2]
            if not (host and port.isdecimal()):
                raise ValueError("it is not HOST:PORT")
            _must_be_grpc(host, int(port))
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, OverflowError, ValueError, RuntimeError) as e:
        raise TrickformerError(f"no Ray cluster at {address!r} ({_reason(e)}); give {accepted}") from None
    return ray


def _must_be_grpc(host: str, port: int) -> None:
    """Check that a gRPC server listens at an address, because Ray itself would wait for minutes.

    gRPC uses HTTP/2, in which both sides begin with their settings (RFC 9113, 3.4).

    Raises:
        OSError: Nothing listens there.
        ValueError: The server does not answer in HTTP/2.
    """
    settings = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # a frame: length 0, type 4, no flags, stream 0
    with socket.create_connection((host, port), _CONNECT_TIMEOUT) as connection:
        connection.settimeout(_CONNECT_TIMEOUT)
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings)
        if connection.recv(9, socket.MSG_WAITALL)[3:4] != settings[3:4]:
            raise ValueError("the server there is not Ray")


def _reason(e: BaseException) -> str:
    """Return the first sentence of an exception's message; those of Ray are long."""
    return f"{str(e).strip() or type(e).__name__}\n".splitlines()[0].partition(". ")[0]

"""What a process without our certificates gets from a cluster's ports."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
from distributed import Security, rpc

SECONDS = 2.0  # for an answer


def listening_ports(processes: Iterable[psutil.Process]) -> set[int]:
    """The TCP ports on which these processes accept connections."""
    return {
        connection.laddr.port
        for process in processes
        for connection in process.net_connections(kind="tcp")
        if connection.status == psutil.CONN_LISTEN
    }


def ports_of_family() -> set[int]:
    """Those of this process and of its descendants."""
    this_process = psutil.Process()
    return listening_ports([this_process, *this_process.children(recursive=True)])


class Strangers:
    """Ask the ports that a run opens, once."""

    def __init__(self) -> None:
        self._before = ports_of_family()
        self._ports: set[int] = set()
        self._replies: list[Any] = []

    def ask(self, ports: set[int]) -> None:
        if not self._ports:
            self._ports = ports - self._before
            self._replies = _answers_of(self._ports)

    def check_refused(self, least: int) -> None:
        """Check that at least so many ports were asked and that none answered."""
        assert len(self._ports) >= least
        assert self._replies == []


def _answers_of(ports: Iterable[int]) -> list[Any]:
    """What Dask servers on these ports of this machine say, unencrypted or to foreign TLS keys."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _answers(list(ports))).result()


async def _answers(ports: list[int]) -> list[Any]:
    keys: Any = Security.temporary()
    attempts = [_identity(f"tcp://127.0.0.1:{port}", {}) for port in ports]
    arguments = keys.get_connection_args("client")
    attempts += [_identity(f"tls://127.0.0.1:{port}", arguments) for port in ports]
    replies = await asyncio.gather(*attempts, return_exceptions=True)
    return [each for each in replies if not isinstance(each, BaseException)]


async def _identity(address: str, arguments: dict[str, Any]) -> Any:
    connect: Any = rpc
    async with connect(address, timeout=SECONDS, connection_args=arguments) as server:
        return await asyncio.wait_for(server.identity(), SECONDS)

"""`scrapy services`: the bundled servers of a laptop run."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from scrapy.commands import ScrapyCommand

from crawler.commands.base import FleetCommand
from crawler.commands.options import one_of
from crawler.commands.terminal import answering
from crawler.embedded.service import SERVICES
from crawler.embedded.status import ServiceStatus, status, stop

VERBS = ("status", "stop")


class Command(FleetCommand, ScrapyCommand):
    """Shows and stops what `crawler.embedded` started; starts nothing."""

    def syntax(self) -> str:
        return "status|stop [--json] [--force]"

    def short_desc(self) -> str:
        return "Show or stop the bundled Redis and MongoDB"

    def long_desc(self) -> str:
        return (
            "Show where the bundled Redis and MongoDB listen and who uses them, or stop them. They start "
            "with the first command that needs them and stop after the last."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print JSON, for scripts")
        parser.add_argument("--force", action="store_true", help="stop: even if they are in use")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        with answering(args):
            verb = one_of(args, VERBS)
            data_dir = self.settings["EMBEDDED_DATA_DIR"]
            servers = status(data_dir) if verb == "status" else stop(data_dir, force=opts.force)
            if opts.json:
                print(json.dumps({server.name: asdict(server) for server in servers}, indent=2))
            elif verb == "stop":
                print("stopped: " + ", ".join(server.name for server in servers) if servers else "nothing runs")
            else:
                print("\n".join(self._describe(server) for server in servers))

    def _describe(self, server: ServiceStatus) -> str:
        lines = [f"{server.name:<8} {server.state}  {server.url}".rstrip()]
        if server.pid:
            lines += [
                f"  process   {server.pid} (supervisor {server.supervisor_pid})",
                f"  memory    {server.memory_bytes / 2**20:.0f} MB",
                f"  users     {len(server.users)}" + _listed(server.users),
            ]
        lines.append(f"  data      {server.data_dir}")
        if server.error:
            lines.append(f"  error     {server.error}")
        setting = SERVICES[server.name].setting
        if self.settings[setting]:
            lines.append(f"  not used  {setting} names another server")
        return "\n".join(lines)


def _listed(pids: list[int]) -> str:
    return f" (process {', '.join(map(str, pids))})" if pids else ""

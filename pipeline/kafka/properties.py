"""What a single-node broker in KRaft mode must be told: broker and controller in one process, loopback only."""

from pathlib import Path

HOST = "127.0.0.1"


def server_properties(port: int, controller_port: int, data: Path) -> str:
    """The text of server.properties."""
    values = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.quorum.bootstrap.servers": f"{HOST}:{controller_port}",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
        "log.dirs": _escaped(str(data)),
    }
    return "".join(f"{key}={value}\n" for key, value in values.items())


def controller_port_in(text: str) -> int | None:
    """The controller's port in the text of a server.properties: it is part of the data and must not change."""
    for line in text.splitlines():
        if line.startswith("controller.quorum.bootstrap.servers="):
            port = line.rpartition(":")[2]
            return int(port) if port.isdigit() else None
    return None


def _escaped(text: str) -> str:
    """Java reads properties as Latin-1 with backslash escapes."""
    return "".join(f"\\u{ord(c):04x}" if ord(c) > 126 or c in "\\" else c for c in text)

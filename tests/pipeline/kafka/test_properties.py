"""The broker's properties are read back as they were written."""

from pathlib import Path

from foresail.pipeline.kafka.properties import controller_port_in, server_properties


def test_the_controllers_port_is_found_again() -> None:
    assert controller_port_in(server_properties(1, 54321, Path("/x"))) == 54321


def test_a_text_without_one_has_none() -> None:
    assert controller_port_in("a=b\ncontroller.quorum.bootstrap.servers=\n") is None


def test_only_the_loopback_address_is_listened_on() -> None:
    listeners = [line for line in server_properties(1, 2, Path("/x")).splitlines() if "listeners=" in line]
    assert listeners
    assert all("//127.0.0.1:1," in line and line.endswith("//127.0.0.1:2") for line in listeners)


def test_a_folder_with_other_letters_is_escaped_for_java() -> None:
    assert "log.dirs=/caf\\u00e9 au lait\n" in server_properties(1, 2, Path("/café au lait"))

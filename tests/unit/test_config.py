"""Settings in layers: which one wins, where each came from, and what a mistake is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from junkai.config import Settings, load
from junkai.errors import SettingsError


@pytest.fixture(autouse=True)
def _no_file_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def toml(folder: Path, text: str, name: str = "junkai.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_without_layers_all_settings_are_defaults() -> None:
    effective = load(environ={})

    assert Settings() == effective.settings
    assert {"default"} == set(effective.origins.values())
    assert set(Settings.__struct_fields__) == set(effective.origins)


def test_a_later_layer_wins_and_is_named(tmp_path: Path) -> None:
    file = toml(tmp_path, "delay_seconds = 2\nturn_seconds = 50\nconcurrency = 7\n")
    environ = {"JUNKAI_TURN_SECONDS": "40", "JUNKAI_CONCURRENCY": "6"}

    effective = load(config_file=file, environ=environ, command_line={"concurrency": "5"})

    settings, origins = effective.settings, effective.origins
    assert (2.0, 40.0, 5) == (settings.delay_seconds, settings.turn_seconds, settings.concurrency)
    assert [str(file), "JUNKAI_TURN_SECONDS", "command line", "default"] == [
        origins[name] for name in ("delay_seconds", "turn_seconds", "concurrency", "store")
    ]


def test_the_file_in_the_working_directory_is_read_unless_another_is_named(tmp_path: Path) -> None:
    toml(tmp_path, "concurrency = 1")
    other = toml(tmp_path, "concurrency = 2", "other.toml")
    third = toml(tmp_path, "concurrency = 3", "third.toml")

    assert 1 == load(environ={}).settings.concurrency
    assert 2 == load(environ={"JUNKAI_CONFIG": str(other)}).settings.concurrency
    assert 3 == load(environ={"JUNKAI_CONFIG": str(other)}, config_file=third).settings.concurrency
    assert 1 == load(environ={"JUNKAI_CONFIG": ""}).settings.concurrency


def test_the_process_environment_is_read_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUNKAI_CONCURRENCY", "9")

    assert 9 == load().settings.concurrency


def test_a_table_is_a_prefix(tmp_path: Path) -> None:
    file = toml(
        tmp_path,
        "[fetch]\ndeadline_seconds = 9\n[interval]\nmin_seconds = 60\n[interval.first]\nseconds = 70\n"
        "[allow]\ndowngrade = true",
    )

    effective = load(config_file=file, environ={})

    settings = effective.settings
    assert (9.0, 60.0, 70.0, True) == (
        settings.fetch_deadline_seconds,
        settings.interval_min_seconds,
        settings.interval_first_seconds,
        settings.allow_downgrade,
    )
    assert str(file) == effective.origins["fetch_deadline_seconds"]


def test_a_list_is_an_array_in_the_file_and_commas_elsewhere(tmp_path: Path) -> None:
    file = toml(tmp_path, 'block = ["a.example", "*.b.example"]\nnameservers = "192.0.2.1, 2001:db8::1"')
    environ = {"JUNKAI_ALLOW_NETWORKS": " 127.0.0.0/8,::1/128, ,"}

    settings = load(config_file=file, environ=environ).settings

    assert ("a.example", "*.b.example") == settings.block
    assert ("192.0.2.1", "2001:db8::1") == settings.nameservers
    assert ("127.0.0.0/8", "::1/128") == settings.allow_networks
    assert () == load(environ={"JUNKAI_BLOCK": ""}).settings.block


@pytest.mark.parametrize(("word", "value"), [("true", True), ("1", True), ("false", False), ("0", False)])
def test_a_switch_is_a_word(word: str, value: bool) -> None:
    assert value is load(environ={"JUNKAI_ALLOW_DOWNGRADE": word}).settings.allow_downgrade


def test_what_belongs_to_the_tests_is_no_setting() -> None:
    environ = {
        "JUNKAI_CORPORA": "/x",
        "JUNKAI_TEST_REQUIRE": "nginx",
        "JUNKAI_TEST_X": "1",
        "PATH": "/bin",
        "JUNKA": "1",
    }

    assert Settings() == load(environ=environ).settings


# ── mistakes ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_unknown_setting_is_told_with_its_origin(tmp_path: Path) -> None:
    file = toml(tmp_path, "[fetch]\nspeed = 9", "other.toml")
    layers: list[tuple[str, str, dict[str, Any]]] = [
        ("fetch_speed", str(file), {"environ": {}, "config_file": file}),
        ("colour", "JUNKAI_COLOUR", {"environ": {"JUNKAI_COLOUR": "red"}}),
        ("speed", "command line", {"environ": {}, "command_line": {"speed": "9"}}),
    ]
    for key, origin, layer in layers:
        with pytest.raises(SettingsError) as caught:
            load(**layer)

        assert f"{key}: unknown setting (from {origin}); `junkai config` lists them all" == str(caught.value)


def test_a_bad_value_is_told_with_its_origin(tmp_path: Path) -> None:
    file = toml(tmp_path, 'concurrency = "many"', "other.toml")
    layers: list[tuple[str, str, dict[str, Any]]] = [
        ("'many'", str(file), {"environ": {}, "config_file": file}),
        ("'none'", "JUNKAI_CONCURRENCY", {"environ": {"JUNKAI_CONCURRENCY": "none"}}),
        ("'0'", "command line", {"environ": {}, "command_line": {"concurrency": "0"}}),
    ]
    for raw, origin, layer in layers:
        with pytest.raises(SettingsError) as caught:
            load(**layer)

        assert str(caught.value).startswith(f"concurrency: bad value {raw} (from {origin}): ")


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("delay_seconds", "-1"),
        ("delay_seconds", "nan"),
        ("delay_seconds", "1s"),
        ("turn_seconds", "0"),
        ("turn_seconds", "inf"),
        ("lease_seconds", "99999999999"),
        ("concurrency", "1.5"),
        ("concurrency", ""),
        ("concurrency", "5000"),
        ("body_bytes_max", "10M"),
        ("redirects_max", "21"),
        ("allow_downgrade", "maybe"),
        ("allow_networks", "127.0.0.1/8"),
        ("allow_networks", "localhost"),
        ("nameservers", "ns.example"),
        ("log_format", "xml"),
    ],
)
def test_a_value_that_cannot_be_is_refused(name: str, raw: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name}: bad value"):
        load(environ={f"JUNKAI_{name.upper()}": raw})


def test_a_value_of_another_type_in_the_file_is_refused(tmp_path: Path) -> None:
    for text in ("concurrency = true", "concurrency = 1.5", "block = [1]", "store = 1", "log_format = []"):
        with pytest.raises(SettingsError, match="bad value"):
            load(config_file=toml(tmp_path, text), environ={})


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    layers: list[dict[str, Any]] = [{"config_file": missing}, {"environ": {"JUNKAI_CONFIG": str(missing)}}]
    for layer in layers:
        with pytest.raises(SettingsError) as caught:
            load(**layer)

        assert f"{missing}: no such file" == str(caught.value)


@pytest.mark.parametrize("body", [b"concurrency = ", b"a = 1\na = 2", b"\xff\xfe", b"[fetch\n"])
def test_a_file_that_is_no_toml_is_told(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "junkai.toml"
    path.write_bytes(body)

    with pytest.raises(SettingsError, match=r"junkai\.toml: not a TOML file that can be read: "):
        load(environ={})


def test_a_folder_in_place_of_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="not a TOML file that can be read"):
        load(config_file=tmp_path, environ={})


def test_settings_that_contradict_each_other_are_told_with_both_origins() -> None:
    with pytest.raises(SettingsError) as lease:
        load(environ={"JUNKAI_LEASE_SECONDS": "30"})
    with pytest.raises(SettingsError) as interval:
        load(environ={"JUNKAI_INTERVAL_MIN_SECONDS": "7200"}, command_line={"interval_max_seconds": "3600"})

    assert (
        "lease_seconds: must be more than fetch_deadline_seconds by 0.5 or more: 30 (from JUNKAI_LEASE_SECONDS) is too"
        " short for 30 (from default)"
    ) == str(lease.value)
    assert (
        "interval_min_seconds: 7200 (from JUNKAI_INTERVAL_MIN_SECONDS) is more than interval_max_seconds 3600 (from"
        " command line)"
    ) == str(interval.value)

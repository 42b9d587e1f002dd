"""The command line as a process: what it imports, what it costs, how it is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

PATIENCE_S = 60


def s2s_actors(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("S2S_")}
    return subprocess.run(
        [sys.executable, "-m", "s2s_actors", *arguments],
        env=own | environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def python(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_help_is_on_standard_output_and_mentions_every_command() -> None:
    done = s2s_actors("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    for command in ("serve", "talk", "demo", "pool", "key", "diagram", "doctor"):
        assert f"\n  {command} " in done.stdout


def test_an_unknown_flag_ends_with_the_code_of_wrong_usage() -> None:
    done = s2s_actors("serve", "--no-such-flag")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: No such option: --no-such-flag")


def test_a_bad_variable_ends_with_the_code_of_wrong_usage() -> None:
    done = s2s_actors("serve", "--print-config", S2S_PORT="70000")
    assert done.returncode == 2
    assert "S2S_PORT='70000': must be a whole number from 0 to 65535" in done.stderr


def test_printed_settings_never_hold_the_key() -> None:
    done = s2s_actors("serve", "--print-config", S2S_LLM_API_KEY="hunter2")
    assert done.returncode == 0
    assert "hunter2" not in done.stdout + done.stderr


def test_a_reader_that_leaves_early_is_no_reason_for_a_stack_trace() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "s2s_actors", "serve", "--print-config"],
            stdout=write_end,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    finally:
        os.close(write_end)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["serve", "--help"],
        ["serve", "--print-config"],
        ["doctor"],
        ["talk", "--help"],
        ["pool", "--url", "ws://127.0.0.1:9"],
    ],
)
def test_model_libraries_are_not_imported_for_what_needs_no_model(arguments: list[str]) -> None:
    script = (
        "import sys; from s2s_actors.cli import run; run(sys.argv[1:]); "
        "heavy = {'torch', 'transformers', 'faster_whisper', 'onnxruntime', 'numpy', 'openai'}; "
        "sys.stderr.write(f'heavy: {sorted(heavy & set(sys.modules))}')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stderr.endswith("heavy: []")


def test_the_switch_interval_is_set_by_the_process_and_not_by_an_import() -> None:
    script = (
        "import sys; before = sys.getswitchinterval(); import s2s_actors.__main__ as program; "
        "assert sys.getswitchinterval() == before; sys.argv[1:] = ['--version']\n"
        "try: program.main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "print(sys.getswitchinterval())"
    )
    done = python(script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "0.001"


def test_a_server_brings_no_library_that_it_may_never_need() -> None:
    script = (
        "import sys, s2s_actors.serve, s2s_actors.blueprint as parts; parts.HttpMcp().close(); "
        "heavy = {'torch', 'transformers', 'faster_whisper', 'onnxruntime', 'openai', 'mcp'}; "
        "sys.exit(', '.join(heavy & sys.modules.keys()) or None)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=PATIENCE_S)


def test_an_interrupt_while_models_load_ends_at_once_whatever_still_loads() -> None:
    script = (
        "import sys, threading, s2s_actors.serve as serving\n"
        "from s2s_actors.cli import run\n"
        "def interrupted(*_):\n"
        "    threading.Thread(target=threading.Event().wait).start()\n"
        "    raise KeyboardInterrupt\n"
        "serving.load_models = interrupted\n"
        "sys.exit(run(['serve', '--port', '0']))"
    )
    done = python(script)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_server_tells_how_long_it_took_to_be_ready() -> None:
    kinds = ("vad", "stt", "llm", "tts", "turn")
    scripted = [word for kind in kinds for word in (f"--{kind}", "scripted")]
    with subprocess.Popen(
        [sys.executable, "-m", "s2s_actors", "serve", "--port", "0", *scripted],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("listening on ")
        server.terminate()
        errors = server.communicate(timeout=PATIENCE_S)[1]
    assert re.search(r"^ready after \d+\.\d s$", errors, re.MULTILINE)

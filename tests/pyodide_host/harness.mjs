// Boots Pyodide with the wheels of the site, unpacks the bundle of the repository and hands over to inside.py.
// window.henadMessage is the host's; every message is one JSON text.
const say = (kind, fields) => window.henadMessage(JSON.stringify({ kind, ...fields }));

try {
  const { interpreter, packages, wanted } = await (await fetch("harness.json")).json();
  const { loadPyodide } = await import(interpreter);
  const output = (text) => say("output", { text });
  const pyodide = await loadPyodide({ packages, stdout: output, stderr: output });
  const bundle = await (await fetch("harness.zip")).arrayBuffer();
  pyodide.unpackArchive(bundle, "zip", { extractDir: "/repository" });
  pyodide.globals.set("wanted", pyodide.toPy(wanted));
  say("booted", {});
  const code = await pyodide.runPythonAsync(`
import asyncio, os, sys
import js
from pyodide.ffi import can_run_sync, run_sync
sys.dont_write_bytecode = True
os.chdir("/repository")
sys.path.insert(0, "/repository")
from tests.pyodide_host.inside import run_tests
breathe = lambda: run_sync(asyncio.sleep(0)) if can_run_sync() else None
run_tests(wanted, js.henadMessage, breathe)
`);
  say("ended", { code });
} catch (error) {
  say("failed", { text: String(error?.stack ?? error) });
}

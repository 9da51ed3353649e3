// Runs bytecode.py inside Pyodide on node: node compile.mjs INTERPRETER_FOLDER JOBS_FILE
// The jobs file is a JSON list of {source, target, location, keepSources}; paths are of this machine.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, jobsFile] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")).href);
const program = await readFile(new URL("bytecode.py", import.meta.url), "utf8");
for (const { source, target, location, keepSources } of JSON.parse(await readFile(jobsFile, "utf8"))) {
  // Equal bytes from equal sources: a fixed seed gives sets of constants one order, and a fresh interpreter for each
  // job the same strings shared, which the bytes show.
  const pyodide = await loadPyodide({ indexURL: `${folder}/`, env: { PYTHONHASHSEED: "0", HOME: "/home" } });
  pyodide.runPython(program);
  const content = pyodide.runPython("lambda data: data.to_bytes()")(new Uint8Array(await readFile(source)));
  const result = pyodide.globals.get("compiled_zip").callKwargs(content, { location, keep_sources: keepSources });
  await writeFile(target, result.toJs());
}
process.exit(0);

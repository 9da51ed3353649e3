// Runs bytecode.py inside Pyodide on node: node compile.mjs INTERPRETER_FOLDER JOBS_FILE
// The jobs file is a JSON list of {source, target, location, keepSources}; paths are of this machine.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, jobsFile] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(folder, "pyodide.mjs")).href);
// A fixed seed gives sets of constants one order, and so equal bytes from equal sources.
const pyodide = await loadPyodide({ indexURL: `${folder}/`, env: { PYTHONHASHSEED: "0", HOME: "/home" } });
await pyodide.runPythonAsync(await readFile(new URL("bytecode.py", import.meta.url), "utf8"));
const compiledZip = pyodide.globals.get("compiled_zip");
for (const { source, target, location, keepSources } of JSON.parse(await readFile(jobsFile, "utf8"))) {
  const content = pyodide.runPython("lambda data: data.to_bytes()")(new Uint8Array(await readFile(source)));
  const result = compiledZip.callKwargs(content, { location, keep_sources: keepSources });
  await writeFile(target, result.toJs());
}
process.exit(0);

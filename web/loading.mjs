// Shows how far loading is, and a failure in words, until main.py takes over by marking the page as booted. The alert is
// dismissed from here too: it can be, whatever became of Python.
const SENTENCES = {
  "Loading interpreter": ["python", "Starting Python. A first visit takes a few seconds."],
  "Loading packages": ["numpy", "Loading numpy."],
};

const booted = () => "booted" in document.body.dataset;

function show(stage, sentence) {
  document.getElementById("boot").dataset.stage = stage;
  document.getElementById("boot-text").textContent = sentence;
}

function fail(reason) {
  if (booted()) return;
  document.body.dataset.booted = "false";
  show("failed", "Loading failed.");
  document.getElementById("boot-error-text").textContent =
    "Python could not be started. Reload the page; if that does not help, use a current browser, with WebAssembly "
    + "allowed, and check that every file of the page is on its server.";
  document.getElementById("boot-error-details").textContent = String(reason);
  document.getElementById("boot-error").hidden = false;
}

addEventListener("py:progress", ({ detail }) => {
  if (!booted() && detail in SENTENCES) show(...SENTENCES[detail]);
});
// Pyodide takes note of a missing file and waits for it for ever, so the files are watched too.
new PerformanceObserver((list) => {
  for (const { name, responseStatus } of list.getEntries()) {
    const missing = responseStatus === 0 || responseStatus >= 400;
    if (missing && name.startsWith(location.origin)) fail(`${name} could not be loaded`);
  }
}).observe({ type: "resource", buffered: true });
addEventListener("unhandledrejection", ({ reason }) => fail(reason));
addEventListener("error", ({ message, target }) => fail(message ?? `${target.src ?? target.href} could not be loaded`), true);

const alert = document.getElementById("boot-error");
let returnTo = null;

function dismiss() {
  const inside = alert.contains(document.activeElement);
  alert.hidden = true;
  if (inside && returnTo?.isConnected) returnTo.focus();
}

alert.addEventListener("focusin", ({ relatedTarget }) => {
  if (!alert.contains(relatedTarget)) returnTo = relatedTarget;
});
document.getElementById("boot-error-dismiss").addEventListener("click", dismiss);
addEventListener("keydown", ({ key }) => { if (key === "Escape" && !alert.hidden) dismiss(); });

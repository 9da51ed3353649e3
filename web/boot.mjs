// Starts PyScript under a policy that forbids making code out of strings. PyScript turns the hooks of its workers
// into source text and evaluates it, even on a page that has no worker; without hooks there is nothing to evaluate.
import { hooks } from "./vendor/pyscript-0.7.31/core.js";

for (const callbacks of Object.values(hooks.worker)) callbacks.clear();

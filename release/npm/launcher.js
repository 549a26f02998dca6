#!/usr/bin/env node
// Starts Cortex. npm installs the program of this platform from an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "cortex.exe" : "cortex";

/** Returns the path of the program in a package, or null if the package is not installed. */
function programOf(name) {
  try {
    return require.resolve(`@cortex-codesearch/${name}/bin/${program}`);
  } catch {
    return null;
  }
}

/** Returns the path of the program for this platform. */
function findProgram() {
  const usual = programOf(platform);
  const musl = programOf(`${platform}-musl`);
  // Old versions of npm install both. Only then it matters which C library is here.
  if (usual && musl) {
    return process.report.getReport().header.glibcVersionRuntime ? usual : musl;
  }
  return usual || musl;
}

const path = findProgram();
if (!path) {
  console.error(
    `error: cortex-codesearch has no program for ${platform}: the package @cortex-codesearch/${platform} is not installed ` +
      "(install cortex-codesearch again without --omit=optional; if there is no such package, use `cargo install --locked cortex-codesearch --features team`)",
  );
  process.exit(2);
}

const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
for (const signal of signals) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (e) => {
  console.error(`error: cannot start ${path}: ${e.message} (install cortex-codesearch again)`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // End as the program did, so that a shell sees the signal.
  process.exitCode = 128 + constants.signals[signal];
  signals.forEach((name) => process.removeAllListeners(name));
  process.kill(process.pid, signal);
});

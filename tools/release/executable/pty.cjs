// @ts-check
// The native part of terminals, out of the single executable file. The system loads it from a file only, which is
// removed at once: it stays loaded.
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { getRawAsset } = require('node:sea');

exports.requireBinary = () => {
  const folder = mkdtempSync(join(tmpdir(), 'roster-'));
  try {
    const file = join(folder, 'pty.node');
    writeFileSync(file, new Uint8Array(getRawAsset('pty.node')), { mode: 0o600 });
    const loaded = { exports: {} };
    process.dlopen(loaded, file);
    return loaded.exports;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

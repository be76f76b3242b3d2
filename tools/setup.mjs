// @ts-check
// What `npm start`, `npm test` and `npm run …` do first. Plain JavaScript: it runs in whatever Node
// the machine has (20 or later), installs when the lock file changed, and goes on in the pinned Node.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Kept inside node_modules, so that whoever deletes that folder deletes it too. */
const marker = 'node_modules/.installed-from';
const installLock = '.installing';

/**
 * Installs what package-lock.json names, if it is not what was installed last.
 *
 * @param {string} [folder] a checkout; this one unless a test says otherwise
 * @returns {Promise<boolean>} whether something had to be installed
 */
export async function ensureInstalled(folder = root) {
  const wanted = installationId(folder);
  if (isInstalled(folder, wanted)) return false;
  const release = await takeInstallLock(folder);
  try {
    // Another command may have installed while this one waited.
    if (isInstalled(folder, wanted)) return false;
    await install(folder);
    writeFileSync(join(folder, marker), wanted);
    return true;
  } finally {
    release();
  }
}

/** @param {string} folder */
async function install(folder) {
  const first = !existsSync(join(folder, 'node_modules'));
  say(`Installing dependencies (${first ? 'first run' : 'package-lock.json changed'}) …`);
  const startedMs = Date.now();
  // Warnings are left out: they are about the Node that runs npm, not the one that runs Roster.
  const wanted = ['--include=dev', '--include=optional'];
  const args = ['ci', '--ignore-scripts', ...wanted, '--loglevel=error'];
  const npm = npmCommand();
  const ended = await run(npm.command, [...npm.args, ...args], { cwd: folder });
  if (ended !== 0) {
    say(`npm ci failed with exit code ${ended}; nothing was started.`);
    process.exit(ended);
  }
  say(`Installed in ${((Date.now() - startedMs) / 1000).toFixed(1)} s.`);
}

/** The npm that runs this script, where one does; npm on the PATH otherwise. */
export function npmCommand() {
  const path = process.env.npm_execpath;
  if (path?.endsWith('npm-cli.js')) return { command: process.execPath, args: [path] };
  return { command: 'npm', args: [] };
}

/**
 * @param {string} folder
 * @param {string} wanted
 */
function isInstalled(folder, wanted) {
  try {
    return readFileSync(join(folder, marker), 'utf8') === wanted;
  } catch {
    return false;
  }
}

/** @param {string} folder */
function installationId(folder) {
  const hash = createHash('sha256').update(readFileSync(join(folder, 'package-lock.json')));
  return `${hash.digest('hex')} ${process.platform}-${process.arch}\n`;
}

/**
 * `npm ci` deletes node_modules first: two at once would each delete the other's work.
 *
 * @param {string} folder
 * @returns {Promise<() => void>} releases the lock
 */
async function takeInstallLock(folder) {
  const path = join(folder, installLock);
  for (let said = false; ; ) {
    try {
      // A link that points nowhere: made and filled in one step, unlike a file.
      symlinkSync(String(process.pid), path);
      const release = () => rmSync(path, { force: true });
      process.once('exit', release);
      return release;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
    if (!holderLives(path)) {
      rmSync(path, { force: true });
      continue;
    }
    if (!said) say('Another command is installing; waiting for it …');
    said = true;
    await sleep(200);
  }
}

/** @param {string} path */
function holderLives(path) {
  try {
    return process.kill(Number(readlinkSync(path)), 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/**
 * The Node that runs Roster, by the rule of bin/roster: the pinned one, else this one if it is new
 * enough to run TypeScript as it is.
 *
 * @param {string} [folder]
 * @returns {string}
 */
export function pinnedNode(folder = root) {
  const node = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  const loaders = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1'];
  if (existsSync(node) && loaders.some((loader) => existsSync(loader))) return node;
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
  say(
    `Node 22.18 or later is needed on ${process.platform}-${process.arch}; this is ` +
      `${process.version}. See https://nodejs.org`,
  );
  process.exit(1);
}

/** Repeats of a signal within this time are one key press: the terminal's, and npm's own copy. */
const samePressMs = 1_000;

/**
 * Runs a command in the foreground, passing on the signals that end it.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<number>} its exit code, by the shell's rule 128 + number after a signal
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    let passedMs = 0;
    /** @param {NodeJS.Signals} signal */
    const pass = (signal) => {
      if (Date.now() - passedMs < samePressMs) return;
      passedMs = Date.now();
      child.kill(signal);
    };
    const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
    for (const signal of signals) process.on(signal, pass);
    const stopWatching = watchParent(() => pass('SIGTERM'));
    /** @param {number} code */
    const ended = (code) => {
      for (const signal of signals) process.off(signal, pass);
      stopWatching();
      resolve(code);
    };
    child.on('error', (error) => {
      say(`${command} could not be started: ${error.message}`);
      ended(127);
    });
    child.on('exit', (code, signal) =>
      ended(signal === null ? (code ?? 1) : 128 + constants.signals[signal]),
    );
  });
}

/**
 * npm that is killed outright cannot pass that on; nothing that it started may outlive it.
 *
 * @param {() => void} gone
 */
function watchParent(gone) {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) gone();
  }, 500);
  return () => clearInterval(timer);
}

/** @param {string} text */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

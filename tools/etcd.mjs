// @ts-check
// Etcd, for the tests of its engine: built once from its Go module, and kept outside the checkout.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, say } from './setup.mjs';

const source = fileURLToPath(new URL('../test/etcd/server', import.meta.url));

/** The path of the program: the variable `ETCD`, or a cache with a file for each lock of its modules. */
export function etcdPath() {
  if (process.env.ETCD !== undefined) return process.env.ETCD;
  const hash = createHash('sha256');
  for (const name of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(source, name)));
  const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return join(caches, 'roster-tests', `etcd-${hash.digest('hex').slice(0, 16)}`);
}

/** Builds the program if it is missing and Go is there. Without it, its tests are not run. */
export async function ensureEtcd() {
  const path = etcdPath();
  const go = ['go', '/usr/local/go/bin/go'].find(
    (name) => spawnSync(name, ['version']).status === 0,
  );
  if (existsSync(path) || process.env.ETCD !== undefined || go === undefined) return;
  say('Building etcd for the tests of its engine, once; it takes some minutes …');
  mkdirSync(dirname(path), { recursive: true });
  const built = `${path}-${process.pid}`;
  const ended = await run(go, ['build', '-trimpath', '-o', built, '.'], { cwd: source });
  if (ended === 0) renameSync(built, path);
  else say(`Etcd was not built: Go ended with exit code ${ended}.`);
}

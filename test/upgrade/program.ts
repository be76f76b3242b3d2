/** A version of Roster in one folder, as a sample has it, and how to start it. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { kill } from '../support/agent.ts';

/** Entry points and their names beside `main.js`. */
const entries: Readonly<Record<string, string>> = {
  main: 'src/main.ts',
  'sqlite-worker': 'src/state/engine/sqlite-worker.ts',
  supervisor: 'src/node/supervisor/main.ts',
};

const absent = ['bufferutil', 'cpu-features', 'pino-pretty', 'utf-8-validate', '*/sshcrypto.node'];
const banner =
  "import { createRequire as createRequire_ } from 'node:module';\n" +
  'const require = createRequire_(import.meta.url);';

/** Bundles the program of a checkout into `folder`, without terminals, which are native code. */
export async function bundleProgram(checkout: string, folder: string, version: string) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', version }));
  for (const [name, path] of Object.entries(entries)) {
    await build({
      absWorkingDir: checkout,
      entryPoints: { [name]: path },
      outdir: join(folder, 'dist'),
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      external: absent,
      banner: { js: banner },
      legalComments: 'none',
      logLevel: 'error',
    });
  }
}

export interface RunningProgram {
  readonly pid: number;
  readonly address: string;
  call(method: string, path: string, body?: object): Promise<{ status: number; json: unknown }>;
  /** `SIGKILL` leaves the tasks to their supervisor. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Starts the program in `folder`. Rejects with its output if it ends before it is ready. */
export async function startProgram(
  folder: string,
  { token, words }: { readonly token: string; readonly words: readonly string[] },
): Promise<RunningProgram> {
  const { PATH = '', TMPDIR = '/tmp' } = process.env;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(folder, 'dist/main.js'), 'agent', ...words],
    { env: { PATH, TMPDIR }, cwd: '/' },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let said = '';
  const address = await new Promise<string>((resolve, reject) => {
    const hear = (text: Buffer) => {
      said += text.toString();
      const [, found] = /Roster is ready at (http:\/\/\S+)\n/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    void ended.then(() => reject(new Error(`the program ended early: ${said}`)));
  });
  return {
    pid: child.pid!,
    address,
    async call(method, path, body) {
      const answer = await fetch(`${address}${path}`, {
        method,
        headers: {
          'x-registry-token': token,
          // Versions before 0.1.2 take no notice of it.
          ...(method !== 'GET' && { 'idempotency-key': randomUUID() }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
    },
    end(signal) {
      kill(child.pid!, signal);
      return ended;
    },
  };
}

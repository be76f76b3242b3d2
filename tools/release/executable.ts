/** The program as one file: Node's single executable application, with all files of the bundle inside. */
import { chmodSync, copyFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'postject';
import { programFiles, uiFiles } from './program.ts';
import { runTool, type Source } from './source.ts';

/** Node's flags, as `bin/roster` gives them. */
export const nodeFlags = [
  '--min-semi-space-size=4',
  '--max-semi-space-size=16',
  '--v8-pool-size=0',
  '--no-incremental-marking-task',
  '--expose-gc',
  '--disable-warning=ExperimentalWarning',
];

/** Not in limits: the mark in Node's executable that tells it to look for a program inside. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Makes the executable `path` of the bundle in `dist`. `folder` takes what it is made of. */
export async function makeExecutable(
  source: Source,
  dist: string,
  { folder, path }: { readonly folder: string; readonly path: string },
): Promise<void> {
  const own = join(source.root, 'tools/release/executable');
  const names = [...programFiles(dist), ...uiFiles(dist)];
  for (const name of names) cpSync(join(dist, name), join(folder, name));
  for (const name of ['boot.cjs', 'pty.cjs']) cpSync(join(own, name), join(folder, name));
  const pty = join(source.compiled, `@lydell/node-pty-${source.platform}/pty.node`);
  cpSync(pty, join(folder, 'pty.node'));
  const assets = [...names, 'boot.cjs', 'pty.cjs', 'pty.node'];
  // The paths become a part of the file, so they must not name the folder.
  const configuration = {
    main: 'boot.cjs',
    output: 'program.blob',
    disableExperimentalSEAWarning: true,
    execArgv: nodeFlags,
    execArgvExtension: 'cli',
    assets: Object.fromEntries(assets.map((name) => [name, name])),
  };
  writeFileSync(join(folder, 'sea.json'), JSON.stringify(configuration));
  // Every Node of the same version makes the same file of these.
  runTool(source, folder, [process.execPath, '--experimental-sea-config', 'sea.json']);
  const node = join(source.compiled, `node-${source.platform}/bin/node`);
  copyFileSync(node, path);
  const blob = readFileSync(join(folder, 'program.blob'));
  await inject(path, 'NODE_SEA_BLOB', blob, { sentinelFuse: fuse });
  chmodSync(path, 0o755);
}

/** The package for npm: the bundle, with the client and all types, and a manifest that brings Node along. */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { declareTypes } from '../build.ts';
import { npmCommand } from '../setup.mjs';
import { runTool, type Source } from './source.ts';

const packedFiles = ['bin', 'docs', 'examples', 'README.md', 'LICENSE', 'package.json'];

/** Packs into `out`, as `npm pack` would in a checkout, which it leaves as it is. */
export function packForNpm(source: Source, dist: string, { folder, out }: Places): void {
  mkdirSync(folder, { recursive: true });
  for (const name of packedFiles) {
    cpSync(join(source.root, name), join(folder, name), { recursive: true });
  }
  cpSync(dist, join(folder, 'dist'), { recursive: true });
  declareTypes(source.root, join(folder, 'dist'));
  const { command, args } = npmCommand();
  // The bundle is made: `prepack` would make it again.
  const words = ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', out];
  runTool(source, folder, [command, ...args, ...words]);
}

interface Places {
  readonly folder: string;
  readonly out: string;
}

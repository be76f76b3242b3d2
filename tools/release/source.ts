/** The source of a release: a commit, and its time. Everything in a release follows from it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Build } from '../../src/agent-program.ts';
import { buildOf } from '../build.ts';

export interface Source {
  /** The checkout. */
  readonly root: string;
  readonly build: Build;
  /** The time of every file in the release, in seconds: that of the commit, or `SOURCE_DATE_EPOCH`. */
  readonly epochS: number;
  /** System and processor, as Node names them: `linux-x64`. */
  readonly platform: string;
  /** The folder with the packages that are compiled for the platform. */
  readonly compiled: string;
}

/** The platform of this machine. */
export const ownPlatform = `${process.platform}-${process.arch}`;

/** @throws Error without a commit and without `SOURCE_DATE_EPOCH` */
export function sourceOf(root: string): Source {
  return {
    root,
    build: buildOf(root),
    epochS: Number(process.env.SOURCE_DATE_EPOCH ?? timeOfCommit(root)),
    platform: ownPlatform,
    compiled: join(root, 'node_modules'),
  };
}

function timeOfCommit(root: string): string {
  try {
    return execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  } catch {
    throw new Error(
      'a release outside of a Git checkout needs SOURCE_DATE_EPOCH, the time of its files',
    );
  }
}

/** In hexadecimal digits. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Runs a program with the time of the release, and returns its output. */
export function runTool(
  { epochS }: Pick<Source, 'epochS'>,
  cwd: string,
  [program, ...words]: readonly [string, ...string[]],
): string {
  return execFileSync(program, words, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epochS) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Mistakes that a run of chaos finds. Their places in the source are those of the simulator. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mistakeNamed } from '../../sim/mistakes/list.ts';
import type { Place } from '../../sim/mistakes/mistake.ts';

export interface ChaosMistake {
  readonly name: string;
  /** The kinds of faults that bring it to light. */
  readonly kinds: readonly string[];
}

export const chaosMistakes: readonly ChaosMistake[] = [
  {
    name: 'an append to etcd compares nothing',
    kinds: ['etcd too late', 'server frozen'],
  },
  {
    name: 'a write is acknowledged before it is durable',
    kinds: ['server killed', 'etcd late'],
  },
  {
    name: 'the head of the log in etcd is read serializably',
    kinds: ['members late', 'member isolated'],
  },
  {
    name: 'a follower answers reads before it has caught up',
    kinds: ['hand-over', 'etcd late'],
  },
];

const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** Copies the program's source to the folder, with the mistake in it. Returns the copy. */
export function plantIn(folder: string, { name }: ChaosMistake): string {
  const mistake = mistakeNamed(name);
  if (mistake === undefined) throw new Error(`there is no mistake "${name}"`);
  const copy = join(folder, 'planted');
  for (const part of ['src', 'package.json', 'tsconfig.json']) {
    cpSync(join(checkout, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  for (const place of mistake.places) plantAt(copy, place);
  return copy;
}

function plantAt(root: string, { file, right, wrong }: Place): void {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(right).length !== 2) throw new Error(`${file} does not have once: ${right}`);
  writeFileSync(
    path,
    text.replace(right, () => wrong),
  );
}

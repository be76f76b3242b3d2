import { mkdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Defences } from '../defences.ts';
import { HeldDirectory } from '../held-directory.ts';

/**
 * Moves the entries of a directory into another, which is made when missing. A source that is no
 * directory, such as a link that a task put there, counts as empty.
 */
export async function takeOver(from: string, to: string, defences?: Defences): Promise<void> {
  const source = await HeldDirectory.open(from, defences).catch(() => undefined);
  if (source === undefined) return;
  try {
    const names = await source.names();
    if (names.length === 0) return;
    // `<task>/local` will be given to the task; its parents stay the agent's.
    await mkdir(dirname(to), { recursive: true, mode: 0o755 });
    await HeldDirectory.during(dirname(to), async (above) => {
      const held = await above.child(basename(to), undefined);
      try {
        for (const name of names) await held.take(source, name);
      } finally {
        await held.close();
      }
    });
  } finally {
    await source.close();
  }
}

/** A directory that exists while `use` runs. */
export async function withStaging(
  path: string,
  use: (path: string) => Promise<void>,
): Promise<void> {
  await HeldDirectory.during(dirname(path), async (above) => {
    const name = basename(path);
    await above.remove(name);
    await mkdir(above.at(name), { mode: 0o700 });
    try {
      await use(path);
    } finally {
      await above.remove(name);
    }
  });
}

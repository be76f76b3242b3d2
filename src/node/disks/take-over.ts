import { mkdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Defences } from '../defences.ts';
import { HeldDirectory } from '../held-directory.ts';

/**
 * Moves what is in a directory into another, which is made where it is not there. What is no
 * directory, or a link that a task put in its place, has nothing.
 */
export async function takeOver(from: string, to: string, defences?: Defences): Promise<void> {
  const source = await HeldDirectory.open(from, defences).catch(() => undefined);
  if (source === undefined) return;
  try {
    const names = await source.names();
    if (names.length === 0) return;
    // `<task>/local` is the task's own later; its parents are the agent's.
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

/** A directory for the time that `use` takes. */
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

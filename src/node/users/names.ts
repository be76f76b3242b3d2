/**
 * What an allocation's own user is called in its sandboxes: programs that ask who they are, and
 * where their home is, get an answer.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeBelow } from '../files.ts';
import type { SystemUser } from '../system-user.ts';

/** The machine's files that have names in them, and the allocation's, which tasks see in their place. */
export const nameFiles = (allocationRoot: string): Readonly<Record<string, string>> => ({
  '/etc/passwd': join(allocationRoot, '.passwd'),
  '/etc/group': join(allocationRoot, '.group'),
});

const userName = 'roster-task';

/** Writes the allocation's files: what the machine's have now, and the allocation's own user. */
export async function writeNames(allocationRoot: string, user: SystemUser): Promise<void> {
  const { uid, gid } = user;
  const added: Readonly<Record<string, string>> = {
    '/etc/passwd': `${userName}:x:${uid}:${gid}::/local:/bin/sh\n`,
    '/etc/group': `${userName}:x:${gid}:\n`,
  };
  for (const [path, own] of Object.entries(nameFiles(allocationRoot))) {
    const known = await readFile(path, 'utf8');
    const text = known === '' || known.endsWith('\n') ? known : `${known}\n`;
    const name = own.slice(allocationRoot.length);
    const bytes = Buffer.from(`${text}${added[path]}`);
    await writeBelow(allocationRoot, name, bytes, undefined, { modeBits: 0o644 });
  }
}

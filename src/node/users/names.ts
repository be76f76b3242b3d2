/** The name of an allocation's own user in its sandboxes, for programs that ask for it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeBelow } from '../files.ts';
import type { SystemUser } from '../system-user.ts';

/** The machine's files of names, and the allocation's files that its tasks see instead. */
export const nameFiles = (allocationRoot: string): Readonly<Record<string, string>> => ({
  '/etc/passwd': join(allocationRoot, '.passwd'),
  '/etc/group': join(allocationRoot, '.group'),
});

const userName = 'roster-task';

/** Writes the allocation's files: the machine's users and groups, and the allocation's own. */
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
    await writeBelow(allocationRoot, name, bytes, { modeBits: 0o644 });
  }
}

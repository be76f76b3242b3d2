/** Finds the user of a container's task before it runs, without running anything. */
import type { Container } from 'dockerode';
import { extract } from 'tar-stream';
import { giveDirectory, type TaskDirectories } from '../../directories.ts';
import { imageUserLimits } from '../../limits.ts';

export interface ImageUser {
  readonly uid: number;
  readonly gid: number;
}

/** Gives a task that is not root in its container its own directories. */
export async function giveDirectories(
  container: Container,
  directories: TaskDirectories,
): Promise<void> {
  const { Config } = await container.inspect();
  const user = await findImageUser(Config.User ?? '', () => readPasswd(container));
  if (user === undefined || user.uid === 0) return;
  const { local, secrets } = directories;
  await Promise.all([local, secrets].map((path) => giveDirectory(path, user)));
}

/** From `name`, `uid`, `name:group` or `uid:gid`; `undefined` for root and for unknown users. */
export async function findImageUser(
  user: string,
  passwd: () => Promise<string>,
): Promise<ImageUser | undefined> {
  const [name = '', group = ''] = user.split(':');
  if (name === '') return undefined;
  const isNumber = /^\d+$/.test(name);
  if (isNumber && /^\d+$/.test(group)) return { uid: Number(name), gid: Number(group) };
  for (const line of (await passwd()).split('\n')) {
    const [known, , uid, gid] = line.split(':');
    if (known !== name && uid !== name) continue;
    return { uid: Number(uid), gid: /^\d+$/.test(group) ? Number(group) : Number(gid) };
  }
  return isNumber ? { uid: Number(name), gid: Number(name) } : undefined;
}

async function readPasswd(container: Container): Promise<string> {
  const archive = await container.getArchive({ path: '/etc/passwd' }).catch(() => undefined);
  if (archive === undefined) return '';
  const entries = extract();
  archive.pipe(entries);
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const entry of entries) {
    for await (const chunk of entry as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= imageUserLimits.passwdBytesMax) parts.push(chunk);
    }
  }
  return Buffer.concat(parts).toString();
}

import { readFileSync } from 'node:fs';

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** Finds a user of `/etc/passwd` by name or number. The empty name is nobody's. */
export function findSystemUser(user: string): SystemUser | undefined {
  if (user === '') return undefined;
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name === user || uid === user) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

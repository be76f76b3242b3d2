import { stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface SocketSearch {
  /** What the agent's configuration says. */
  readonly socket?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly userId: number;
}

/** Where a runtime was found, or why none was. */
export type FoundSocket = { readonly path: string } | { readonly absent: string };

/**
 * The socket of a container runtime: what the configuration says, `DOCKER_HOST`, Docker's, Podman's,
 * that of the user's own Podman. What is named and not there is not replaced by another.
 */
export async function findSocket(search: SocketSearch): Promise<FoundSocket> {
  const { socket, environment, userId } = search;
  if (socket !== undefined) return await named(socket.replace(/^unix:\/\//, ''), 'docker.socket');
  const host = environment.DOCKER_HOST;
  if (host) {
    if (host.startsWith('unix://')) return await named(host.slice('unix://'.length), 'DOCKER_HOST');
    return { absent: 'DOCKER_HOST is no unix:// socket: only runtimes of this machine are used' };
  }
  const runtimeDirectory = environment.XDG_RUNTIME_DIR || `/run/user/${userId}`;
  const places = [
    '/var/run/docker.sock',
    '/run/podman/podman.sock',
    join(runtimeDirectory, 'podman/podman.sock'),
  ];
  const refused: string[] = [];
  for (const path of places) {
    const wrong = await fault(path);
    if (wrong === undefined) return { path };
    refused.push(`${path} ${wrong}`);
  }
  return { absent: `No container runtime was found: ${refused.join(', ')}` };
}

async function named(path: string, by: string): Promise<FoundSocket> {
  const wrong = await fault(path);
  return wrong === undefined ? { path } : { absent: `${by} names ${path}, which ${wrong}` };
}

async function fault(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isSocket() ? undefined : 'is no socket';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EACCES' ? 'may not be looked at' : 'does not exist';
  }
}

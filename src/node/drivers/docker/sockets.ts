import { stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface SocketSearch {
  /** From the agent's configuration. */
  readonly socket?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly userId: number;
}

/** The path of a runtime's socket, or why there is none. */
export type FoundSocket = { readonly path: string } | { readonly absent: string };

/**
 * Finds the socket of a container runtime: the configured one, that of `DOCKER_HOST`, Docker's,
 * Podman's, or that of the user's own Podman, in this order. A configured socket that is missing is
 * not replaced by another.
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

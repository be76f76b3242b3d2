import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Timers } from '../../../base/ports.ts';
import { limits } from '../../../model/limits.ts';
import { Budget } from './budget.ts';
import { ArtifactFailure } from './failure.ts';
import { findLocal } from './fetch-file.ts';
import { programEnd, startProgram } from './programs.ts';
import type { ArtifactSettings } from './settings.ts';
import type { Source } from './source.ts';

export interface GitFetch {
  readonly source: Source;
  readonly insecure: boolean;
  /** A directory for this artifact alone, in which the directory `tree` with the files is made. */
  readonly directory: string;
  readonly settings: ArtifactSettings;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

/** Without this machine's configuration, helpers, hooks and prompts. */
const configuration = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'credential.helper=',
  'protocol.allow=never',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
  'init.defaultBranch=main',
];
const protocols = ['https', 'http', 'ssh', 'git'];

/**
 * Fetches one commit of a repository, without its history. Rejects with an {@link ArtifactFailure}
 * or an error of the disk. Resolves with the directory of its files.
 */
export async function fetchGit(fetch: GitFetch): Promise<string> {
  const { source, directory, settings, timers } = fetch;
  const tree = join(directory, 'tree');
  const late = new AbortController();
  const timer = timers.after(settings.gitTimeoutMs, () => late.abort());
  const large = new AbortController();
  const signal = AbortSignal.any([fetch.signal, late.signal, large.signal]);
  const isOver = watchSize(join(tree, '.git'), settings, timers, large);
  try {
    await mkdir(tree);
    const url = await remoteOf(source);
    const git = await runner({ ...fetch, signal }, tree, url.startsWith('file:'));
    await git.run('init', '--quiet', '--template=');
    const depth = source.depth > 0 ? [`--depth=${source.depth}`] : [];
    const ref = source.ref === '' ? 'HEAD' : source.ref;
    await git.run('fetch', '--quiet', '--no-tags', ...depth, '--', url, ref);
    await git.read(counter(new Budget(settings)), 'ls-tree', '-r', '-l', '-z', 'FETCH_HEAD');
    await git.run('-c', 'core.symlinks=true', 'checkout', '--quiet', '--detach', 'FETCH_HEAD');
    return tree;
  } catch (error) {
    if (late.signal.aborted) {
      const seconds = settings.gitTimeoutMs / 1000;
      throw new ArtifactFailure(`the repository was not fetched within ${seconds} s`, true);
    }
    if (large.signal.aborted) {
      throw new ArtifactFailure(`it is larger than ${settings.downloadBytesMax} bytes`);
    }
    throw error;
  } finally {
    isOver();
    timer.clear();
    await rm(join(tree, '.git'), { recursive: true, force: true });
  }
}

/** The address for the program. A repository of this machine must be readable for every user. */
async function remoteOf({ location }: Source): Promise<string> {
  const path = /^file:\/\//.test(location)
    ? decodeURIComponent(new URL(location).pathname)
    : location;
  if (!path.startsWith('/')) return location;
  const found = await findLocal(path);
  if (found.kind !== 'directory') throw new ArtifactFailure(`"${path}" is no repository`);
  return `file://${found.path}`;
}

interface Git {
  run(...words: string[]): Promise<void>;
  /** Passes its output to `read`, as it comes. */
  read(read: (text: string) => void, ...words: string[]): Promise<void>;
}

async function runner(
  { source, insecure, directory, signal }: GitFetch,
  tree: string,
  isLocal: boolean,
): Promise<Git> {
  const key = join(directory, 'key');
  if (source.sshKey !== '') {
    const text = Buffer.from(source.sshKey, 'base64').toString('latin1');
    await writeFile(key, text.endsWith('\n') ? text : `${text}\n`, { mode: 0o600 });
  }
  const ssh = ['ssh', '-F', '/dev/null', '-o', 'BatchMode=yes'];
  ssh.push('-o', 'StrictHostKeyChecking=accept-new', '-o', `UserKnownHostsFile=${directory}/hosts`);
  if (source.sshKey !== '') ssh.push('-o', 'IdentitiesOnly=yes', '-i', key);
  const environment = {
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_SSH_COMMAND: ssh.join(' '),
    GIT_LFS_SKIP_SMUDGE: '1',
  };
  const allowed = isLocal ? ['file'] : protocols;
  const settings = [
    ...configuration,
    ...allowed.map((name) => `protocol.${name}.allow=always`),
    ...(insecure ? ['http.sslVerify=false'] : []),
  ].flatMap((setting) => ['-c', setting]);
  const read: Git['read'] = async (take, ...words) => {
    const all = [...settings, ...words];
    const child = startProgram('git', all, { directory: tree, signal, environment });
    child.stdin!.on('error', () => {}).end();
    let fault: Error | undefined;
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      try {
        if (fault === undefined) take(text);
      } catch (error) {
        fault = error as Error;
        child.kill('SIGKILL');
      }
    });
    await programEnd('git', child).catch((error: Error) => {
      throw fault ?? judged(error);
    });
    if (fault !== undefined) throw fault;
  };
  return { read, run: (...words) => read(() => {}, ...words) };
}

/** Counts the files of the fetched commit before they are written. */
function counter(budget: Budget): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = `${rest}${text}`.split('\0');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      budget.takeFile();
      budget.takeBytes(Number(/^\S+ \S+ \S+ +(\d+)\t/.exec(line)?.[1] ?? 0));
    }
  };
}

/** An unreachable server may be reachable later; a missing branch stays missing. */
function judged({ message }: Error): ArtifactFailure {
  const mayPass =
    /could not resolve|couldn't connect|connection|timed out|early EOF|unable to access|hung up|50\d/i;
  const isFull = /no space left/i.test(message);
  const plain = message.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/@\s']*@/gi, '$1');
  return new ArtifactFailure(isFull ? 'the disk is full' : plain, isFull || mayPass.test(message));
}

/** Aborts `large` when the directory becomes too large. Returns a function that ends the watch. */
function watchSize(
  directory: string,
  { downloadBytesMax }: ArtifactSettings,
  timers: Timers,
  large: AbortController,
): () => void {
  let isOver = false;
  const look = async (): Promise<void> => {
    const bytes = await sizeOf(directory).catch(() => 0);
    if (isOver) return;
    if (bytes > downloadBytesMax) large.abort();
    else timers.after(limits.artifact.measureMs, () => void look());
  };
  timers.after(limits.artifact.measureMs, () => void look());
  return () => {
    isOver = true;
  };
}

async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    bytes += await stat(join(entry.parentPath, entry.name)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  return bytes;
}

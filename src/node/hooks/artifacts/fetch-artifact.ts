import { chmod, lstat, mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Timers } from '../../../base/ports.ts';
import type { Artifact } from '../../../model/task/files.ts';
import type { TaskDirectories } from '../../directories.ts';
import type { SystemUser } from '../../system-user.ts';
import { Budget } from './budget.ts';
import { verify } from './checksum.ts';
import { ArtifactFailure } from './failure.ts';
import { copyDirectory, copyFile, findLocal } from './fetch-file.ts';
import { fetchGit } from './fetch-git.ts';
import { type Destination, destinationOf, inspect } from './landing.ts';
import type { ArtifactSettings } from './settings.ts';
import { parseSource, type Source } from './source.ts';

export interface ArtifactFetch {
  readonly artifact: Artifact;
  readonly directories: TaskDirectories;
  /** An empty directory for this artifact alone, out of reach of tasks. */
  readonly directory: string;
  /** The owner of the files; `undefined`: the agent. */
  readonly owner: SystemUser | undefined;
  readonly settings: ArtifactSettings;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

/** A fetched artifact, ready to be moved to its place. */
export interface Fetched {
  /** A file, or a directory whose content is to be moved. */
  readonly staged: string;
  readonly destination: Destination;
}

/** A fetched file, or a tree. */
interface Arrived {
  readonly kind: 'file' | 'tree';
  readonly path: string;
}

/**
 * Fetches, verifies and unpacks one artifact beside its place. Rejects with an
 * {@link ArtifactFailure}, or with an error of the disk.
 */
export async function fetchArtifact(fetch: ArtifactFetch): Promise<Fetched> {
  const { artifact, directories, settings } = fetch;
  const source = parseSource(artifact.GetterSource, artifact.GetterOptions ?? {});
  if (!settings.sources.includes(source.kind)) {
    throw new ArtifactFailure(`this node fetches nothing by "${source.kind}"`);
  }
  const destination = destinationOf(artifact.RelativeDest, directories);
  const arrived = await arrive(fetch, source);
  const whole = await opened(fetch, source, arrived);
  const wanted = await within(whole, source.subdirectory);
  const fetched = await asAsked(artifact.GetterMode, wanted, destination, source);
  await inspect(fetched.staged, new Budget(settings), fetch.owner);
  return fetched;
}

async function arrive(fetch: ArtifactFetch, source: Source): Promise<Arrived> {
  const { artifact, directory, settings, timers, signal } = fetch;
  const { kind, checksum } = source;
  const insecure = artifact.GetterInsecure;
  const file = join(directory, 'file');
  if (kind === 'git') {
    if (checksum !== undefined) throw noChecksum;
    const path = await fetchGit({ source, insecure, directory, settings, timers, signal });
    return { kind: 'tree', path };
  }
  if (kind === 'file') {
    const found = await findLocal(source.location);
    if (found.kind === 'directory') {
      if (checksum !== undefined) throw noChecksum;
      const path = await newDirectory(directory, 'tree');
      await copyDirectory(found.path, path, new Budget(settings), signal);
      return { kind: 'tree', path };
    }
    await copyFile(found.path, file, new Budget(settings), signal);
  } else {
    const headers = artifact.GetterHeaders ?? {};
    const { fetchHttp } = await import('./fetch-http.ts');
    await fetchHttp({ url: source.location, headers, insecure, file, settings, timers, signal });
    await chmod(file, 0o644);
  }
  if (checksum !== undefined) await verify(file, checksum, signal);
  return { kind: 'file', path: file };
}

const noChecksum = new ArtifactFailure('a checksum is of a file, and this source is none');

/** Unpacks it if it is an archive. */
async function opened(fetch: ArtifactFetch, source: Source, arrived: Arrived): Promise<Arrived> {
  const { directory, settings, signal } = fetch;
  if (arrived.kind === 'tree' || source.archive === undefined) return arrived;
  const into = await newDirectory(directory, 'tree');
  const scratch = await newDirectory(directory, 'scratch');
  const { unpack } = await import('./unpack.ts');
  await unpack({
    file: arrived.path,
    format: source.archive,
    name: source.name,
    into,
    settings,
    signal,
    directory: scratch,
  });
  return { kind: 'tree', path: into };
}

async function newDirectory(above: string, name: string): Promise<string> {
  const path = join(above, name);
  await mkdir(path, { mode: 0o700 });
  // The task must be able to enter the unpacked tree.
  await chmod(path, 0o755);
  return path;
}

/** The part below the `//` of the source. No link on the way is followed. */
async function within(whole: Arrived, subdirectory: string): Promise<Arrived> {
  const parts = subdirectory.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0) return whole;
  if (whole.kind === 'file') {
    throw new ArtifactFailure(`it is a file, and has no "${subdirectory}" in it`);
  }
  let path = whole.path;
  for (const [index, part] of parts.entries()) {
    path = join(path, part);
    const found = await lstat(path).catch(() => undefined);
    const isLast = index === parts.length - 1;
    if (found?.isDirectory()) continue;
    if (isLast && found?.isFile()) return { kind: 'file', path };
    throw new ArtifactFailure(`it has no "${subdirectory}" in it`);
  }
  return { kind: 'tree', path };
}

async function asAsked(
  mode: Artifact['GetterMode'],
  wanted: Arrived,
  destination: Destination,
  source: Source,
): Promise<Fetched> {
  const { path } = wanted;
  if (mode !== 'file') {
    if (wanted.kind === 'tree') return { staged: path, destination };
    if (mode === 'dir') throw new ArtifactFailure('it is a file, and the mode is "dir"');
    return named(path, destination, nameOf(wanted, source));
  }
  const file = wanted.kind === 'file' ? path : await onlyFile(path);
  if (!destination.isDirectory) return { staged: file, destination };
  return named(file, destination, wanted.kind === 'file' ? nameOf(wanted, source) : basename(file));
}

/** A file under its name in the destination. */
function named(staged: string, destination: Destination, name: string): Fetched {
  if (name === '')
    throw new ArtifactFailure('the source has no name for a file: give one as "filename"');
  return { staged, destination: { ...destination, parts: [...destination.parts, name] } };
}

const nameOf = ({ path }: Arrived, { subdirectory, name }: Source): string =>
  subdirectory === '' ? name : basename(path);

async function onlyFile(directory: string): Promise<string> {
  const [only, ...more] = await readdir(directory, { withFileTypes: true });
  if (only?.isFile() && more.length === 0) return join(directory, only.name);
  throw new ArtifactFailure('it holds other than one file, and the mode is "file"');
}

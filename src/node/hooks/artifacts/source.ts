/**
 * Parses the source of an artifact. Pure. Forms: `https://host/path.tgz`, `file:///path`, `/path`,
 * `git::https://host/repo`, `git@host:repo.git`, `host/path//directory?ref=v1`; options stand in
 * the query or in `GetterOptions`.
 * Source: docs/behaviour/job-specification.md#artifacts, docs/guides/artifacts.md#when-it-fails.
 */
import { type ArtifactSource, artifactSources } from '../../../model/task/files.ts';
import { type ArchiveFormat, archiveWords, formatNamed, formatOfFile } from './archives.ts';
import { ArtifactFailure } from './failure.ts';

export interface Checksum {
  readonly algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512';
  /** Hex, lower case. */
  readonly digest: string;
}

export interface Source {
  readonly kind: ArtifactSource;
  /** The URL; for `file` a path, for `git` the address for the program. */
  readonly location: string;
  /** The wanted directory in an archive or a repository; empty: all. */
  readonly subdirectory: string;
  readonly archive: ArchiveFormat | undefined;
  readonly checksum: Checksum | undefined;
  readonly name: string;
  /** A branch, tag or commit; empty: the repository's default branch. */
  readonly ref: string;
  readonly depth: number;
  /** A private key in base64; a secret. */
  readonly sshKey: string;
  /** Its name in messages: without user, query and fragment, which may contain secrets. */
  readonly shown: string;
}

const digits = { md5: 32, sha1: 40, sha256: 64, sha512: 128 } as const;
/** Hosts on which `owner/repository` is a repository. */
const forges = new Set(['github.com', 'gitlab.com', 'bitbucket.org']);

/** @throws ArtifactFailure whose message has no secret */
export function parseSource(given: string, options: Readonly<Record<string, string>>): Source {
  const [, forced = '', rest = ''] = /^(?:([a-z0-9]+)::)?(.*)$/s.exec(given.trim()) ?? [];
  if (rest === '') throw new ArtifactFailure('the source is empty');
  const [withPath, query = ''] = splitOnce(rest, '?');
  const { url, subdirectory, kind } = locate(forced, withPath, options);
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(options)) parameters.set(name, value);
  const take = (name: string): string => {
    const value = parameters.get(name) ?? '';
    parameters.delete(name);
    return value;
  };
  const name = take('filename') || lastPart(kind === 'file' ? url : url.replace(/[?#].*$/s, ''));
  const own = {
    archive: archiveOf(take('archive'), name, kind),
    checksum: checksumOf(take('checksum')),
    ref: kind === 'git' ? take('ref') : '',
    depth: kind === 'git' ? depthOf(take('depth')) : 0,
    sshKey: kind === 'git' ? take('sshkey') : '',
  };
  const asked = String(parameters);
  const isHttp = kind === 'http' || kind === 'https';
  const location = isHttp && asked !== '' ? `${url}?${asked}` : url;
  if (own.ref.startsWith('-')) throw new ArtifactFailure('the ref must not begin with "-"');
  checkSubdirectory(subdirectory);
  return { kind, location, subdirectory, name: checkName(name), shown: shownOf(url), ...own };
}

function locate(forced: string, text: string, options: Readonly<Record<string, string>>) {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined) {
    const [url, subdirectory] = splitSubdirectory(text, scheme.length + '://'.length);
    if (scheme === 'file' && forced !== 'git') {
      return { kind: kindOf(forced || scheme), url: filePath(url), subdirectory };
    }
    const isGit = forced === 'git' || scheme === 'git' || scheme === 'ssh' || /\.git$/.test(url);
    return { kind: kindOf(forced || (isGit ? 'git' : scheme)), url: checkUrl(url), subdirectory };
  }
  if (text.startsWith('/')) {
    const [url, subdirectory] = splitSubdirectory(text, 1);
    return { kind: kindOf(forced || 'file'), url, subdirectory };
  }
  if (/^[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:/.test(text)) {
    const [url, subdirectory] = splitSubdirectory(text, 0);
    return { kind: kindOf(forced || 'git'), url, subdirectory };
  }
  return locateBare(forced, text, options);
}

/** `host/path`, without a scheme. */
function locateBare(forced: string, text: string, options: Readonly<Record<string, string>>) {
  const [host = '', ...parts] = text.split('/');
  if (!/^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:\d+)?$|^localhost(:\d+)?$/.test(host)) {
    throw new ArtifactFailure(`"${text.slice(0, 100)}" is neither a URL nor an absolute path`);
  }
  if (forges.has(host) && (forced === '' || forced === 'git')) {
    const [owner, repository = '', ...below] = parts;
    const url = `https://${host}/${owner}/${repository.replace(/\.git$/, '')}.git`;
    return {
      kind: kindOf('git'),
      url: checkUrl(url),
      subdirectory: below.join('/').replace(/^\/+/, ''),
    };
  }
  const [url, subdirectory] = splitSubdirectory(`https://${text}`, 'https://'.length);
  const isGit = forced === 'git' || Object.hasOwn(options, 'ref') || /\.git$/.test(url);
  return { kind: kindOf(forced || (isGit ? 'git' : 'https')), url: checkUrl(url), subdirectory };
}

function kindOf(word: string): ArtifactSource {
  const kind = artifactSources.find((known) => known === word);
  if (kind !== undefined) return kind;
  throw new ArtifactFailure(
    `"${word}" sources are not supported, only ${artifactSources.join(', ')}`,
  );
}

/** Splits `path//below` into the path and the wanted directory in it. */
function splitSubdirectory(text: string, from: number): readonly [string, string] {
  const at = text.indexOf('//', from);
  if (at < 0) return [text, ''];
  return [text.slice(0, at), text.slice(at + 2).replace(/^\/+/, '')];
}

function splitOnce(text: string, mark: string): readonly [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function checkUrl(url: string): string {
  if (!URL.canParse(url)) throw new ArtifactFailure('the source is no URL');
  return url;
}

function filePath(url: string): string {
  if (!URL.canParse(url)) throw new ArtifactFailure('the source is no URL');
  const { hostname, pathname } = new URL(url);
  if (hostname !== '' && hostname !== 'localhost') {
    throw new ArtifactFailure('a file is on this machine: write file:///path, without a host');
  }
  try {
    return decodeURIComponent(pathname);
  } catch {
    throw new ArtifactFailure('the path of the file is not well-formed');
  }
}

function archiveOf(word: string, name: string, kind: ArtifactSource): ArchiveFormat | undefined {
  if (kind === 'git' || word === 'false' || word === '0') return undefined;
  if (word === '' || word === 'true') return formatOfFile(name);
  const format = formatNamed(word);
  if (format !== undefined) return format;
  throw new ArtifactFailure(`archive must be false or one of ${archiveWords.join(', ')}`);
}

function checksumOf(text: string): Checksum | undefined {
  if (text === '') return undefined;
  const [, algorithm = '', digest = ''] = /^([a-z0-9]+):([0-9a-f]+)$/i.exec(text) ?? [];
  const known = Object.keys(digits).find((name) => name === algorithm) as keyof typeof digits;
  if (known !== undefined && digest.length === digits[known]) {
    return { algorithm: known, digest: digest.toLowerCase() };
  }
  throw new ArtifactFailure(
    'the checksum must be md5, sha1, sha256 or sha512, a colon and as many hex digits',
  );
}

function depthOf(text: string): number {
  if (text === '') return 1;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new ArtifactFailure('the depth must be a whole number; 0 is all of the history');
}

function checkSubdirectory(path: string): void {
  if (path.split('/').some((part) => part === '..')) {
    throw new ArtifactFailure('the directory after "//" must not hold ".."');
  }
}

function checkName(name: string): string {
  if (name.includes('/') || name.includes('\0') || name === '..' || name === '.') {
    throw new ArtifactFailure('the name of the file must be one name');
  }
  return name;
}

function lastPart(path: string): string {
  const name = path.split('/').filter(Boolean).at(-1) ?? '';
  try {
    return decodeURIComponent(name).replaceAll('/', '_');
  } catch {
    return name;
  }
}

function shownOf(url: string): string {
  const plain = url.replace(/[?#].*$/s, '').slice(0, 200);
  return plain.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1').replace(/^[^/@:]+@/, '');
}

import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { delay, type Timers } from '../../../base/ports.ts';
import { limits } from '../../../model/limits.ts';
import { ArtifactFailure } from './failure.ts';
import type { ArtifactSettings } from './settings.ts';

export interface HttpFetch {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly insecure: boolean;
  /** It must not exist yet. */
  readonly file: string;
  readonly settings: ArtifactSettings;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

/** The progress of a download, and the validator for asking for the rest. */
interface Progress {
  bytes: number;
  /** Identifies the version of the file; empty: it must be fetched from its beginning. */
  validator: string;
}

/**
 * Downloads a file. After a broken connection it goes on at the same place, if the server can.
 * Rejects with an {@link ArtifactFailure} or an error of the disk, and then leaves no file.
 */
export async function fetchHttp(fetch: HttpFetch): Promise<void> {
  const { artifact } = limits;
  const { settings, timers, file } = fetch;
  const dispatcher = new Agent({
    connect: { timeout: artifact.connectTimeoutMs, rejectUnauthorized: !fetch.insecure },
    headersTimeout: artifact.idleTimeoutMs,
    bodyTimeout: artifact.idleTimeoutMs,
    maxHeaderSize: limits.http.headerBytesMax,
    // Without it a second address of a host could be tried for ever.
    autoSelectFamilyAttemptTimeout: artifact.connectTimeoutMs,
  });
  const late = new AbortController();
  const timer = timers.after(settings.httpTimeoutMs, () => late.abort());
  const signal = AbortSignal.any([fetch.signal, late.signal]);
  const progress: Progress = { bytes: 0, validator: '' };
  try {
    for (let resumes = 0; ; resumes++) {
      try {
        return await fetchOnce({ ...fetch, signal }, dispatcher, progress);
      } catch (error) {
        const failure = httpFailure(error, late.signal.aborted, settings);
        const isOver = signal.aborted || !isBroken(error) || progress.validator === '';
        if (isOver || resumes >= artifact.resumesMax) throw failure;
      }
      await delay(timers, artifact.resumeDelayMs * 2 ** resumes, signal);
    }
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    timer.clear();
    await dispatcher.destroy();
  }
}

async function fetchOnce(
  fetch: HttpFetch,
  dispatcher: Dispatcher,
  progress: Progress,
): Promise<void> {
  const { settings, file, signal } = fetch;
  const answer = await follow(fetch, dispatcher, progress);
  const resumed = answer.statusCode === partialContent && progress.bytes > 0;
  if (!resumed) {
    progress.bytes = 0;
    progress.validator = validatorOf(answer);
  }
  const range = String(answer.headers['content-range'] ?? '');
  if (resumed && !range.startsWith(`bytes ${progress.bytes}-`)) {
    answer.body.on('error', () => {}).destroy();
    throw new ArtifactFailure('the server sent another part than it was asked for', true);
  }
  const length = lengthOf(answer);
  const expected = length === undefined ? undefined : progress.bytes + length;
  if (expected !== undefined && expected > settings.downloadBytesMax) {
    answer.body.on('error', () => {}).destroy();
    throw tooLarge(settings);
  }
  const flags = resumed ? 'a' : 'w';
  let bytes = progress.bytes;
  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > settings.downloadBytesMax) throw tooLarge(settings);
      yield chunk;
    }
  }
  const sink = createWriteStream(file, { flags, mode: 0o644 });
  const before = progress.bytes;
  try {
    await pipeline(answer.body, counted, sink, { signal });
  } finally {
    // The rest is written after these bytes.
    progress.bytes = before + sink.bytesWritten;
  }
  if (expected !== undefined && progress.bytes !== expected) {
    throw new BrokenOff(`the server promised ${expected} bytes and sent ${progress.bytes}`);
  }
}

const ok = 200;
const partialContent = 206;
const redirects = new Set([301, 302, 303, 307, 308]);

/** The first answer that is no redirect. */
async function follow(
  { url, headers, signal }: HttpFetch,
  dispatcher: Dispatcher,
  progress: Progress,
): Promise<Dispatcher.ResponseData> {
  const first = new URL(url);
  const resuming = progress.bytes > 0 && progress.validator !== '';
  const range = { range: `bytes=${progress.bytes}-`, 'if-range': progress.validator };
  let at = first;
  for (let hops = 0; ; hops++) {
    // The user's headers are for the first host, not for the target of a redirect.
    const own = at.origin === first.origin ? headers : {};
    const answer = await request(withoutUser(at), {
      method: 'GET',
      headers: {
        'accept-encoding': 'identity',
        ...credentials(at),
        ...lowerCase(own),
        ...(resuming && range),
      },
      dispatcher,
      signal,
    });
    const { statusCode } = answer;
    if (statusCode === ok || (statusCode === partialContent && resuming)) return answer;
    // To close the connection costs less than to read the body.
    answer.body.on('error', () => {}).destroy();
    if (!redirects.has(statusCode)) throw refused(statusCode);
    if (hops >= limits.artifact.redirectsMax) {
      throw new ArtifactFailure(
        `the server redirects more than ${limits.artifact.redirectsMax} times`,
      );
    }
    at = redirected(at, answer.headers.location);
  }
}

function redirected(from: URL, location: unknown): URL {
  const text = typeof location === 'string' ? location : '';
  if (text === '' || !URL.canParse(text, from.href)) {
    throw new ArtifactFailure('the server redirects to nowhere');
  }
  const to = new URL(text, from.href);
  const isSafe = to.protocol === 'https:' || (to.protocol === 'http:' && from.protocol === 'http:');
  if (isSafe) return to;
  throw new ArtifactFailure(`the server redirects from ${from.protocol} to ${to.protocol}`);
}

const withoutUser = (url: URL): URL => {
  const plain = new URL(url);
  plain.username = '';
  plain.password = '';
  return plain;
};

function credentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Only a strong validator may join two parts of a file. */
function validatorOf({ headers }: Dispatcher.ResponseData): string {
  if (headers['accept-ranges'] === 'none') return '';
  const tag = headers.etag;
  return typeof tag === 'string' && tag.startsWith('"') ? tag : '';
}

function lengthOf({ headers }: Dispatcher.ResponseData): number | undefined {
  const text = headers['content-length'];
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const refused = (status: number): ArtifactFailure =>
  new ArtifactFailure(
    `the server answered ${status}`,
    status >= 500 || status === 408 || status === 425 || status === 429,
  );

const tooLarge = ({ downloadBytesMax }: ArtifactSettings): ArtifactFailure =>
  new ArtifactFailure(`it is larger than ${downloadBytesMax} bytes`);

/** The connection ended before the file did. */
class BrokenOff extends Error {}

const isBroken = (error: unknown): boolean => {
  const { code = '' } = error as { code?: string };
  return error instanceof BrokenOff || /^(UND_ERR|ECONN|EPIPE|ETIMEDOUT|HPE_)/.test(code);
};

function httpFailure(error: unknown, isLate: boolean, settings: ArtifactSettings): Error {
  if (error instanceof ArtifactFailure) return error;
  if (isLate) {
    const seconds = settings.httpTimeoutMs / 1000;
    return new ArtifactFailure(`the download was not done within ${seconds} s`, true);
  }
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code.endsWith('_TIMEOUT')) {
    const idleMs = code.includes('CONNECT')
      ? limits.artifact.connectTimeoutMs
      : limits.artifact.idleTimeoutMs;
    return new ArtifactFailure(`the server said nothing for ${idleMs / 1000} s`, true);
  }
  if (isBroken(error)) {
    return new ArtifactFailure(`the download broke off: ${message}`, true);
  }
  const isInput = code === 'UND_ERR_INVALID_ARG' || code === 'ERR_INVALID_ARG_TYPE';
  if (isInput) return new ArtifactFailure('a header or the URL is not well-formed');
  return error as Error;
}

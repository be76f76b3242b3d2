import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { problemAnswer, unroutedAnswer } from '../answers.ts';
import { defaultDialect } from '../dialect/dialects.ts';
import { type Answer, header, type Request } from '../http.ts';
import { foreignHeader, type OwnHosts } from '../own-site.ts';
import { indexName, packedFor, type UiFile, type UiFiles } from './files.ts';
import { uiHeaders } from './headers.ts';
import { baseOf, messagePage, withBase } from './pages.ts';

/** Where the files of the interface come from. */
export interface UiSource {
  /** Asked at the first request. Later requests ask again unless the files are there. */
  read(): Promise<UiFiles | UiAbsence>;
}

export interface UiAbsence {
  /** `made`: they are being made, and come later. */
  readonly kind: 'made' | 'missing';
  /** A sentence for the user. */
  readonly reason: string;
}

/** How the interface shows which environment it is of. */
export interface UiLook {
  readonly label?: string | undefined;
  /** `#rrggbb`. */
  readonly color?: string | undefined;
}

export interface UiOptions {
  /** `undefined`: the interface is not served. */
  readonly source: UiSource | undefined;
  /** A reader leaves it to the main thread. */
  readonly look?: UiLook;
}

/** Not in limits: seconds until a browser asks again for files that are being made. */
const refreshS = 2;

const root = '/ui/';
const hashedFolder = 'assets/';
const html = { 'content-type': 'text/html; charset=utf-8' };
const asksAgain = 'no-cache';
const keepsForever = 'public, max-age=31536000, immutable';

/**
 * Serves the web interface. It is no endpoint of the API: its files are the same for everybody and need no permission.
 *
 * Invariants
 *  U1. An answer has the bytes of a file of the bundle, or a page without a text of the request. A path is only looked
 *      up in the table of files, so nothing outside the bundle can be reached.
 *  U2. Every answer has the headers of `headers.ts`.
 *  U3. Names of other hosts get nothing, so that no foreign page can show the interface as its own (`own-site.ts`).
 */
export class Ui {
  /** A running agent may change it. */
  look: UiLook;
  readonly #source: UiSource | undefined;
  readonly #hosts: OwnHosts;
  #files: UiFiles | undefined;

  constructor(hosts: OwnHosts, { source, look = {} }: UiOptions = { source: undefined }) {
    this.#hosts = hosts;
    this.#source = source;
    this.look = look;
  }

  get isServed(): boolean {
    return this.#source !== undefined;
  }

  /** The answer to a request for the interface; `undefined`: the request is for the API. */
  answer(request: Request): Answer | Promise<Answer> | undefined {
    const source = this.#source;
    if (source === undefined) return undefined;
    const { path } = request;
    const isHome = path === '/' && isRead(request) && wantsPage(request);
    if (!isHome && path !== '/ui' && !path.startsWith(root)) return undefined;
    const refused = this.#refusalOf(request);
    if (refused !== undefined) return withHeaders(refused);
    if (!path.startsWith(root)) return redirect(request);
    const files = this.#files;
    if (files !== undefined) return withHeaders(fileAnswer(request, files));
    return this.#firstAnswer(request, source).then(withHeaders);
  }

  async #firstAnswer(request: Request, source: UiSource): Promise<Answer> {
    const found = await source.read();
    if (!('kind' in found)) {
      this.#files = found;
      return fileAnswer(request, found);
    }
    const isLater = found.kind === 'made';
    if (!wantsPage(request)) {
      const headers = { 'content-type': 'text/plain; charset=utf-8' };
      return { status: 503, headers, body: `${found.reason}\n` };
    }
    const title = isLater
      ? 'The web interface is being made'
      : 'This agent has no web interface to show';
    return {
      status: 503,
      headers: html,
      body: messagePage(title, [found.reason], isLater ? refreshS : undefined),
    };
  }

  #refusalOf(request: Request): Answer | undefined {
    const { path, query } = request;
    if (path.length + query.length > limits.http.urlBytesMax) {
      return problemAnswer(refusal('url-too-long', { limit: limits.http.urlBytesMax }));
    }
    if (!isRead(request)) {
      return unroutedAnswer({ kind: 'method', allow: ['GET'] }, request, defaultDialect);
    }
    // Links of other sites may lead here, so only the host is of interest.
    const host = header(request, 'host');
    if (host === undefined) return undefined;
    const foreign = foreignHeader({ headers: { host } }, this.#hosts);
    if (foreign === undefined) return undefined;
    if (!wantsPage(request)) {
      return problemAnswer(refusal('foreign-site', { header: 'Host', value: host.slice(0, 256) }));
    }
    return {
      status: 403,
      headers: html,
      body: messagePage('This address is unknown to the agent', [
        'The agent shows its web interface only at host names that it knows, so that no other site can show it as its own.',
        'List the name in "http.allowed_hosts" of the agent, and start the agent again.',
      ]),
    };
  }
}

const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD';

const wantsPage = (request: Request): boolean =>
  header(request, 'accept')?.includes('text/html') === true;

const withHeaders = (answer: Answer): Answer => ({
  ...answer,
  keepAliveMs: limits.ui.keepAliveMs,
  headers: { 'cache-control': 'no-store', ...answer.headers, ...uiHeaders },
});

/** Relative, because a proxy may serve the agent below a path. */
function redirect({ query }: Request): Answer {
  const location = query === '' ? 'ui/' : `ui/?${query}`;
  const headers = { location, vary: 'accept' };
  return withHeaders({ status: 307, headers, body: undefined });
}

function fileAnswer(request: Request, files: UiFiles): Answer {
  const path = request.path.slice(root.length);
  const file = files.get(path);
  if (file !== undefined && path !== indexName) return bytesAnswer(request, file, path);
  // Names of jobs and services may have dots, so a browser that asks for a page gets the page.
  const isFile = path !== indexName && /\.\w+$/.test(path) && !wantsPage(request);
  // Browsers resolve dots before they ask.
  const isClimbing = /(^|\/)\.\.?(\/|$)/.test(path);
  if (!isFile && !isClimbing && !path.startsWith(hashedFolder)) {
    return pageAnswer(request, files.get(indexName)!, path);
  }
  const shown = request.path.slice(0, limits.names.lengthMax);
  return problemAnswer(refusal('route-not-found', { path: shown }));
}

function bytesAnswer(request: Request, file: UiFile, path: string): Answer {
  const packed = packedFor(file, header(request, 'accept-encoding'));
  const tag = `"${file.hash}${packed === undefined ? '' : `-${packed[0]}`}"`;
  const headers = {
    'content-type': file.type,
    'cache-control': path.startsWith(hashedFolder) ? keepsForever : asksAgain,
    etag: tag,
    vary: 'accept-encoding',
  };
  if (isKnown(request, tag)) return { status: 304, headers, body: undefined };
  if (packed === undefined) return { status: 200, headers, body: file.bytes };
  return {
    status: 200,
    headers: { ...headers, 'content-encoding': packed[0] },
    body: packed[1],
  };
}

/** The page, which is the same for all paths but for the way back to the folder. */
function pageAnswer(request: Request, { bytes, hash }: UiFile, path: string): Answer {
  const base = baseOf(path);
  // Weak, since the connection may compress it.
  const tag = `W/"${hash}-${base.length}"`;
  const headers = { ...html, 'cache-control': asksAgain, etag: tag };
  if (isKnown(request, tag)) return { status: 304, headers, body: undefined };
  return { status: 200, headers, body: withBase(Buffer.from(bytes).toString(), base) };
}

const isKnown = (request: Request, tag: string): boolean =>
  (header(request, 'if-none-match') ?? '')
    .split(',')
    .some((one) => one.trim().replace(/^W\//, '') === tag.replace(/^W\//, ''));

/**
 * Which page is shown. Addresses are real paths below the base of the interface; each page is loaded when it is first
 * visited.
 *
 * 1. Only this file writes to the history.
 * 2. After a navigation the focus moves to the heading of the new page, and the page begins at its top; back and
 *    forward bring back the place where the reader was.
 */
import type { Component } from 'svelte';
import { pagePath, uiBase } from '../base.ts';

export type Params = Readonly<Record<string, string>>;

export interface Route {
  /** Below `/ui`: `/jobs/:namespace/:id`. Each parameter is one segment. */
  readonly path: string;
  /** Title until the page has its own. */
  readonly title: string;
  readonly load: () => Promise<{ readonly default: Component<never> }>;
}

export interface Match {
  readonly route: Route;
  readonly params: Params;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The address of a page: `href('/jobs/:namespace/:id', { namespace, id }, { tab: 'versions' })`. */
export function href(path: string, params: Params = {}, query: Query = {}): string {
  const filled = path
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) =>
      segment.startsWith(':') ? encodeURIComponent(params[segment.slice(1)] ?? '') : segment,
    )
    .join('/');
  const search = searchOf(query);
  return `${uiBase.pathname}${filled}${search === '' ? '' : `?${search}`}`;
}

/** The path of a read of the API: `apiPath('/v1/jobs/statuses', { per_page: 100, filter })`. */
export function apiPath(path: string, query: Query = {}): string {
  const search = searchOf(query);
  return search === '' ? path : `${path}?${search}`;
}

function searchOf(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
}

interface Shown {
  readonly path: string;
  readonly search: string;
  /** Counts navigations to another page, not changes of the query. */
  readonly visit: number;
}

const read = (visit: number): Shown => ({
  path: `/${pagePath()}`.replace(/(.)\/$/, '$1'),
  search: location.search,
  visit,
});

let shown = $state.raw<Shown>(read(0));
let routes: readonly Route[] = [];
let isFocusDue = false;
/** Where the page was scrolled when it was left, by the key of its entry in the history. */
const scrolls = new Map<string, number>();
let entryKey = keyOf(history.state);
let entries = 0;

function keyOf(state: unknown): string {
  return (state as { readonly key?: string } | null)?.key ?? 'first';
}

export const router = {
  get path(): string {
    return shown.path;
  },
  get search(): string {
    return shown.search;
  },
  get visit(): number {
    return shown.visit;
  },
  get match(): Match | undefined {
    return matchOf(routes, shown.path);
  },
  has: (path: string): boolean => matchOf(routes, path) !== undefined,
  query: (name: string): string | undefined =>
    new URLSearchParams(shown.search).get(name) ?? undefined,

  /** Shows another page. `address` comes from `href`. */
  go(address: string, { replace = false } = {}): void {
    const url = new URL(address, uiBase);
    const isSamePage = url.pathname === location.pathname;
    scrolls.set(entryKey, scrollY);
    if (!replace) {
      entries += 1;
      entryKey = `${performance.timeOrigin}-${entries}`;
    }
    history[replace ? 'replaceState' : 'pushState']({ key: entryKey }, '', url);
    if (isSamePage) {
      shown = read(shown.visit);
      return;
    }
    arrive(0);
  },
  /** Changes a value of the query of this page; `undefined` takes it out. */
  setQuery(name: string, value: string | undefined, { push = false } = {}): void {
    const query = new URLSearchParams(location.search);
    if (value === undefined) query.delete(name);
    else query.set(name, value);
    const search = query.toString();
    router.go(`${location.pathname}${search === '' ? '' : `?${search}`}${location.hash}`, {
      replace: !push,
    });
  },
  /** Whether the heading that has just appeared is the first one after a navigation, and takes the focus. */
  takeFocus(): boolean {
    const isDue = isFocusDue;
    isFocusDue = false;
    return isDue;
  },
};

export function startRouter(all: readonly Route[]): void {
  routes = [...all].sort((a, b) => placeholders(a.path) - placeholders(b.path));
  history.scrollRestoration = 'manual';
  addEventListener('popstate', (event) => {
    scrolls.set(entryKey, scrollY);
    entryKey = keyOf(event.state);
    arrive(scrolls.get(entryKey) ?? 0);
  });
  document.addEventListener('click', followLink);
  shown = read(0);
}

function arrive(scroll: number): void {
  const next = read(shown.visit + 1);
  if (next.path === shown.path) {
    shown = { ...next, visit: shown.visit };
    return;
  }
  isFocusDue = true;
  shown = next;
  restore(scroll);
}

/** The page grows while its rows arrive, so the place is tried again for some frames. */
function restore(scroll: number, attempt = 0): void {
  requestAnimationFrame(() => {
    scrollTo(0, scroll);
    if (Math.abs(scrollY - scroll) > 1 && attempt < restoreFrames) restore(scroll, attempt + 1);
  });
}

/** Not in limits: half a second of frames, after which the reader has begun to scroll. */
const restoreFrames = 30;

const placeholders = (path: string): number => path.split('/:').length;

function matchOf(all: readonly Route[], path: string): Match | undefined {
  for (const route of all) {
    const params = paramsOf(route.path, path);
    if (params !== undefined) return { route, params };
  }
  return undefined;
}

function paramsOf(pattern: string, path: string): Params | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const value = given[index]!;
    if (segment.startsWith(':')) params[segment.slice(1)] = decoded(value);
    else if (segment !== value) return undefined;
  }
  return params;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Plain clicks on links to pages stay in this document; all other clicks are the browser's. */
function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.('a');
  if (link == null || link.target !== '' || link.hasAttribute('download')) return;
  const url = new URL(link.href, document.baseURI);
  if (url.origin !== location.origin || !url.pathname.startsWith(uiBase.pathname)) return;
  event.preventDefault();
  router.go(url.href);
}

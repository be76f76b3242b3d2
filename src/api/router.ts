import { refusal } from '../model/errors.ts';
import { limits } from './limits.ts';

/**
 * Finds the route of a path. It is pure, so the simulator and `createAgent` use it as well.
 *
 * A pattern consists of literal segments and parameters (`:name`). Ids may contain `/` (child jobs:
 * docs/contract/http.md#paths), so a parameter written `:name+` takes as many segments as the rest
 * of the pattern leaves. If several patterns match, the one with the most literal segments wins, so
 * known suffixes are split off. Such a suffix may contain a second parameter of one segment
 * (`/v1/job/:job_id+/tag/:name`).
 *
 * A path with an empty id (`/v1/acl/token/`) is treated as the path without the slash, if the
 * method has a route there, as PUT does to create. Otherwise the refusal names the missing
 * parameter.
 * Source: docs/contract/access-control.md#paths.
 */
interface Pattern<R> {
  readonly route: R;
  /** The literals before the parameter, its name, and the segments after it. */
  readonly before: readonly string[];
  readonly parameter: string | undefined;
  readonly greedy: boolean;
  readonly after: readonly string[];
  /** A second parameter of one segment: its name and its position in `after`. */
  readonly second: { readonly name: string; readonly offset: number } | undefined;
}

export interface Routed {
  readonly method: string;
  readonly path: string;
}

export type Match<R> =
  | { readonly kind: 'route'; readonly route: R; readonly parameters: Readonly<Parameters> }
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' };

export type Parameters = Record<string, string>;

const noParameters: Readonly<Parameters> = Object.freeze({});

export class Router<R extends Routed> {
  /** Patterns without parameters, by path and method. */
  readonly #fixed = new Map<string, Map<string, R>>();
  /** Patterns with parameters, by their leading literals; the most literal ones first. */
  readonly #byHead = new Map<string, Pattern<R>[]>();
  /** Recent matches, because paths repeat. */
  readonly #recent = new Map<string, Match<R> & { readonly kind: 'route' }>();

  constructor(routes: readonly R[]) {
    for (const route of routes) this.#addRoute(route);
    for (const patterns of this.#byHead.values()) {
      patterns.sort((left, right) => literals(right) - literals(left));
    }
  }

  /**
   * `path` is percent-encoded and has no query.
   * @throws RosterError `invalid-path` if a parameter is empty
   */
  match(method: string, path: string): Match<R> {
    const known = this.#recent.get(path);
    if (known?.route.method === method) return known;
    const found = this.#findRoute(method, path);
    if (found.kind === 'route') {
      if (this.#recent.size >= limits.recentPathsMax) this.#recent.clear();
      this.#recent.set(path, found);
    }
    return found;
  }

  #findRoute(method: string, path: string): Match<R> {
    const fixed = this.#fixed.get(path);
    const route = fixed?.get(method);
    if (route !== undefined) return { kind: 'route', route, parameters: noParameters };
    const allow = new Set<string>(fixed?.keys());
    const segments = path.split('/');
    let lacking: R | undefined;
    for (let headLength = segments.length - 1; headLength >= 2; headLength--) {
      const patterns = this.#byHead.get(segments.slice(0, headLength).join('/'));
      if (patterns === undefined) continue;
      let mostLiteral: number | undefined;
      for (const pattern of patterns) {
        // A path with a known suffix is never an id, whatever the method.
        if (mostLiteral !== undefined && literals(pattern) < mostLiteral) break;
        const value = parameterOf(pattern, segments);
        if (value === undefined) continue;
        const second = secondOf(pattern, segments);
        if (second === undefined) continue;
        if (pattern.route.method === method && (value === '' || second.value === '')) {
          lacking ??= pattern.route;
        } else if (pattern.route.method === method) {
          const parameters = {
            [pattern.parameter!]: value,
            ...(pattern.second && { [pattern.second.name]: second.value }),
          };
          return { kind: 'route', route: pattern.route, parameters };
        }
        mostLiteral = literals(pattern);
        allow.add(pattern.route.method);
      }
      if (allow.size > 0) break;
    }
    if (lacking !== undefined) return this.#findWithoutId(lacking, path);
    return allow.size > 0 ? { kind: 'method', allow: [...allow].sort() } : { kind: 'unknown' };
  }

  /** Handles a path with an empty parameter. */
  #findWithoutId(lacking: R, path: string): Match<R> {
    const route = path.endsWith('/')
      ? this.#fixed.get(path.slice(0, -1))?.get(lacking.method)
      : undefined;
    if (route !== undefined) return { kind: 'route', route, parameters: noParameters };
    const names = [...lacking.path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name);
    const name = names.length > 1 && path.endsWith('/') ? names.at(-1) : names[0];
    const form = lacking.path.replace(/:([a-z_]+)\+?/g, '{$1}');
    throw refusal('invalid-path', { reason: `lacks its ${name}: ${form}` });
  }

  #addRoute(route: R): void {
    const segments = route.path.split('/');
    const position = segments.findIndex((segment) => segment.startsWith(':'));
    if (position < 0) {
      const methods = this.#fixed.get(route.path) ?? new Map<string, R>();
      methods.set(route.method, route);
      this.#fixed.set(route.path, methods);
      return;
    }
    const greedy = segments[position]!.endsWith('+');
    const after = segments.slice(position + 1);
    const offset = after.findIndex((segment) => segment.startsWith(':'));
    const pattern: Pattern<R> = {
      route,
      before: segments.slice(0, position),
      parameter: segments[position]!.slice(1, greedy ? -1 : undefined),
      greedy,
      after,
      second: offset < 0 ? undefined : { name: after[offset]!.slice(1), offset },
    };
    const head = pattern.before.join('/');
    this.#byHead.set(head, [...(this.#byHead.get(head) ?? []), pattern]);
  }
}

const literals = <R>(pattern: Pattern<R>): number => pattern.before.length + pattern.after.length;

/** The decoded parameter, which may be empty; `undefined`: the path does not match the pattern. */
function parameterOf<R>(pattern: Pattern<R>, segments: readonly string[]): string | undefined {
  const start = pattern.before.length;
  const end = segments.length - pattern.after.length;
  if (end <= start || (!pattern.greedy && end !== start + 1)) return undefined;
  for (let offset = 0; offset < pattern.after.length; offset++) {
    if (offset === pattern.second?.offset) continue;
    if (segments[end + offset] !== pattern.after[offset]) return undefined;
  }
  return decoded(end === start + 1 ? segments[start]! : segments.slice(start, end).join('/'));
}

/** The decoded second parameter; `undefined`: the path does not match the pattern. */
function secondOf<R>({ after, second }: Pattern<R>, segments: readonly string[]) {
  if (second === undefined) return { value: 'none' };
  const value = decoded(segments[segments.length - after.length + second.offset]!);
  return value === undefined ? undefined : { value };
}

function decoded(raw: string): string | undefined {
  if (!raw.includes('%')) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

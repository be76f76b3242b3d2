import { compilePattern } from '../../language/filter/regex/pattern.ts';
import type { IntentionPermission, PermissionHeader } from './intention.ts';

/** A request from a service to another. */
export interface HttpRequest {
  /** In capital letters. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

/** Whether the permission fits the request. */
export function permissionFits({ HTTP }: IntentionPermission, request: HttpRequest): boolean {
  if (HTTP === null) return true;
  const { PathExact, PathPrefix, PathRegex, Header, Methods } = HTTP;
  if (PathExact !== '' && request.path !== PathExact) return false;
  if (PathPrefix !== '' && !request.path.startsWith(PathPrefix)) return false;
  if (PathRegex !== '' && !fits(PathRegex, request.path)) return false;
  if (Methods !== null && !Methods.includes(request.method)) return false;
  return (Header ?? []).every((header) => headerFits(header, request.headers));
}

function headerFits(header: PermissionHeader, headers: HttpRequest['headers']): boolean {
  return isThere(header, headers.get(header.Name.toLowerCase())) !== header.Invert;
}

function isThere(header: PermissionHeader, given: string | undefined): boolean {
  if (given === undefined) return false;
  if (header.Present) return true;
  if (header.Regex !== '') return fits(header.Regex, given);
  const fold = (text: string) => (header.IgnoreCase ? text.toLowerCase() : text);
  const value = fold(given);
  if (header.Exact !== '') return value === fold(header.Exact);
  if (header.Prefix !== '') return value.startsWith(fold(header.Prefix));
  if (header.Suffix !== '') return value.endsWith(fold(header.Suffix));
  return value.includes(fold(header.Contains));
}

/** Proxies match a pattern against the whole text, too. */
const fits = (pattern: string, text: string): boolean => compilePattern(`^(?:${pattern})$`)(text);

import { type Path, quote, type Report } from '../path.ts';

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const hostnameForm = new RegExp(`^(?=.{1,253}$)${label}(\\.${label})*$`, 'i');

/** Whether the text is a host name of DNS: labels of letters, digits and inner hyphens. */
export const isHostname = (text: string): boolean => hostnameForm.test(text);

/** The same, or with `*` for its first label. */
export const isHostnameOrWildcard = (text: string): boolean =>
  isHostname(text.startsWith('*.') ? text.slice(2) : text);

/** Reports a host name that is none; a wildcard is one only where it is allowed. */
export function checkHostname(
  text: string,
  wildcard: 'no wildcard' | 'first label',
  path: Path,
  report: Report,
): void {
  if (text === '') report(path, 'must not be empty');
  else if (wildcard === 'no wildcard') {
    if (text.includes('*')) report(path, `must not have a wildcard, got ${quote(text)}`);
    else if (!isHostname(text)) report(path, `is not a host name: ${quote(text)}`);
  } else if (text.slice(1).includes('*') || (text.startsWith('*') && !text.startsWith('*.'))) {
    report(path, `may have "*" only for the whole first label, got ${quote(text)}`);
  } else if (!isHostnameOrWildcard(text)) report(path, `is not a host name: ${quote(text)}`);
}

/** What a listener without a host name, or with `*`, accepts: every host. */
export const everyHost = '*';

/**
 * Whether a host is among those that a listener accepts: its own, and below a wildcard any number
 * of labels, at least one.
 */
export function acceptsHost(listenerHost: string, host: string): boolean {
  if (listenerHost === '' || listenerHost === everyHost) return true;
  const wanted = host.toLowerCase();
  const offered = listenerHost.toLowerCase();
  if (!offered.startsWith('*.')) return offered === wanted;
  const suffix = offered.slice(1);
  return wanted.length > suffix.length && wanted.endsWith(suffix);
}

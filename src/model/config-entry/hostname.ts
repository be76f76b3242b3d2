import { type Path, quote, type Report } from '../path.ts';

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const hostnameForm = new RegExp(`^(?=.{1,253}$)${label}(\\.${label})*$`, 'i');

/** Whether the text is a host name of DNS: labels of letters, digits and inner hyphens. */
export const isHostname = (text: string): boolean => hostnameForm.test(text);

/** Whether the text is a host name, or one whose first label is `*`. */
export const isHostnameOrWildcard = (text: string): boolean =>
  isHostname(text.startsWith('*.') ? text.slice(2) : text);

/** Reports a faulty host name. A wildcard is a fault unless it is allowed. */
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

/** A listener without a host name accepts every host, like a listener with `*`. */
export const everyHost = '*';

/** Whether a listener accepts a host: its own, and below a wildcard any host with at least one more label. */
export function acceptsHost(listenerHost: string, host: string): boolean {
  if (listenerHost === '' || listenerHost === everyHost) return true;
  const wanted = host.toLowerCase();
  const offered = listenerHost.toLowerCase();
  if (!offered.startsWith('*.')) return offered === wanted;
  const suffix = offered.slice(1);
  return wanted.length > suffix.length && wanted.endsWith(suffix);
}

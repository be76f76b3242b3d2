/** How to do from a terminal what a page shows or does. */
import { apiBase } from '../base.ts';

export interface CommandForms {
  /** Words of the command line without `roster`: `['job', 'status', id]`. */
  readonly cli?: readonly string[] | undefined;
  readonly api?: ApiForm | undefined;
}

export interface ApiForm {
  readonly method?: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** `/v1/jobs?filter=…` */
  readonly path: string;
  readonly body?: unknown;
}

/** Safe in a shell: quoted unless it is a plain word. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

export const cliText = (words: readonly string[]): string =>
  ['roster', ...words].map(shellWord).join(' ');

/** The token is named, and never written out. */
export function curlText({ method = 'GET', path, body }: ApiForm): string {
  const address = new URL(path.replace(/^\/v1\//, ''), apiBase).href;
  return [
    'curl -H "X-Registry-Token: $ROSTER_TOKEN"',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(body === undefined ? [] : [`--json ${shellWord(JSON.stringify(body))}`]),
    shellWord(address),
  ].join(' ');
}

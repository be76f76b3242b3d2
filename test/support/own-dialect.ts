import type { ForeignDialect } from '../../src/api/dialect/dialect.ts';
import { checkedPlace } from '../../src/api/dialect/dialect.ts';

const prefix = '/own/v9';

/**
 * A third dialect in one file: other header names, headers for token and namespace, errors as plain
 * text, and 410 for missing records.
 */
export const ownDialect: ForeignDialect = {
  name: 'own',
  headers: {
    index: 'own-index',
    knownLeader: 'own-leader',
    lastContact: 'own-contact',
    nextToken: 'own-next',
  },
  readHeaders: (index) => ({ 'content-type': 'application/json', 'own-index': index }),
  secretIn: ({ headers }) => textOf(headers['own-secret']),
  placeOf: (_query, _given, { headers }) => {
    const namespace = textOf(headers['own-place']) ?? 'default';
    const place = checkedPlace({ namespace, partition: 'default' });
    return () => place;
  },
  statusOf: ({ status }) => (status === 404 ? 410 : status),
  problemOf: ({ code, detail }) => ({
    contentType: 'text/plain; charset=utf-8',
    body: `${code}: ${detail}`,
  }),
  pathOf: ({ noun, path }) =>
    noun === 'job' || noun === 'acl-policy' ? `${prefix}${path.slice('/v1'.length)}` : undefined,
  owns: (path) => path.startsWith(`${prefix}/`),
};

const textOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

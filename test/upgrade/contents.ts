/** The contents of a sample of a data directory: rows in every table, written over HTTP. */
import { kinds } from '../../src/model/config-entry/kinds.ts';
import { certificate } from '../support/certificate.ts';
import { clientId, clientSecret, redirectUri } from '../support/oidc-provider.ts';

export type Write = readonly [method: string, path: string, body: object];

const jwt = ['{"alg":"RS256"}', '{"sub":"reviewer"}', 'signature']
  .map((part) => Buffer.from(part).toString('base64url'))
  .join('.');

/** Prints a number every tenth of a second. */
const counting = {
  Config: {
    command: '/bin/sh',
    args: ['-c', 'n=0; while :; do n=$((n+1)); echo $n; sleep 0.1; done'],
  },
};

const job = (
  ID: string,
  task: object,
  { group = {}, ...changes }: { readonly group?: object; readonly [field: string]: unknown } = {},
) => ({
  Submission: { Format: 'hcl2', Source: `job "${ID}" {}` },
  Job: {
    ID,
    Type: 'service',
    TaskGroups: [
      {
        Name: 'main',
        Count: 1,
        Tasks: [
          { Name: 'task', Driver: 'raw_exec', Resources: { CPU: 20, MemoryMB: 32 }, ...task },
        ],
        ...group,
      },
    ],
    ...changes,
  },
});

/** Jobs whose tasks never end. */
export const lasting = ['counter', 'isolated'] as const;

const service = { Name: 'counter', Port: 9000, Tags: ['blue'], Provider: 'scheduler' };
const scaling = { Min: 1, Max: 3, Enabled: true, Policy: { why: 'a sample' } };
const once = { Config: { command: '/bin/true' } };

const edited = (edition: string) =>
  job('edited', { ...once, Meta: { edition } }, { Type: 'batch' });

const jobs: readonly Write[] = [
  [
    'PUT',
    '/v1/jobs',
    job('counter', counting, { group: { Services: [service], Scaling: scaling } }),
  ],
  ['PUT', '/v1/jobs', job('isolated', { ...counting, Driver: 'exec' })],
  ['PUT', '/v1/jobs', edited('1')],
  ['PUT', '/v1/jobs', edited('2')],
  ['PUT', '/v1/job/edited/plan', { Job: edited('3').Job }],
  ['POST', '/v1/plan', { Kind: 'revert', JobID: 'edited', JobVersion: 0 }],
  [
    'PUT',
    '/v1/jobs',
    job('unplaced', once, {
      Constraints: [{ LTarget: '${node.class}', RTarget: 'none', Operand: '=' }],
    }),
  ],
  ['PUT', '/v1/jobs', job('nightly', once, { Type: 'batch', Periodic: { Spec: '0 3 * * *' } })],
  ['PUT', '/v1/job/nightly/periodic/force', {}],
  [
    'PUT',
    '/v1/jobs',
    job('render', once, { Type: 'batch', ParameterizedJob: { MetaOptional: ['size'] } }),
  ],
  ['POST', '/v1/job/render/dispatch', { Meta: { size: 'large' }, Payload: 'cGljdHVyZQ==' }],
  [
    'POST',
    '/v1/job/edited/scale',
    { Target: { Group: 'main' }, Message: 'for the sample', Count: 1 },
  ],
  [
    'PUT',
    '/v1/job-policy/careful',
    { EnforcementLevel: 'advisory', Rule: 'Priority != 90', Message: 'Be modest.' },
  ],
];

const access: readonly Write[] = [
  ['PUT', '/v1/partition', { Name: 'south' }],
  ['PUT', '/v1/namespace', { Name: 'team', Description: 'a sample', Meta: { owner: 'sample' } }],
  ['PUT', '/v1/acl/policy', { Name: 'readers', Rules: 'namespace "team" { policy = "read" }' }],
  ['PUT', '/v1/acl/role', { Name: 'reader', Policies: [{ Name: 'readers' }] }],
  [
    'PUT',
    '/v1/acl/token',
    {
      SecretID: '12121212-1212-4212-8212-121212121212',
      Roles: [{ Name: 'reader' }],
      Description: 'kept',
    },
  ],
  [
    'PUT',
    '/v1/acl/auth-method',
    {
      Name: 'k8s',
      Type: 'kubernetes',
      Config: { Host: 'https://k8s.example', CACert: certificate, ServiceAccountJWT: jwt },
    },
  ],
  ['PUT', '/v1/acl/binding-rule', { AuthMethod: 'k8s', BindType: 'role', BindName: 'reader' }],
];

/** Logins in a browser by a provider, one of which begins. */
export const browserLogins = (issuer: string): readonly Write[] => [
  [
    'PUT',
    '/v1/acl/auth-method',
    {
      Name: 'sso',
      Type: 'oidc',
      MaxTokenTTL: '1h',
      Config: {
        OIDCDiscoveryURL: issuer,
        OIDCClientID: clientId,
        OIDCClientSecret: clientSecret,
        AllowedRedirectURIs: [redirectUri],
      },
    },
  ],
  [
    'POST',
    '/v1/acl/oidc/auth-url',
    { AuthMethod: 'sso', RedirectURI: redirectUri, ClientNonce: 'of the sample' },
  ],
];

/** A login that is refused. */
export const guess: Write = [
  'POST',
  '/v1/acl/login',
  { AuthMethod: 'nobody', BearerToken: 'a guess' },
];

const others: readonly Write[] = [
  ['PUT', '/v1/node/introduction-token', { Description: 'kept', Uses: 3, TTL: '720h' }],
  ['PUT', '/v1/node/pool/build', { Description: 'for builds', Meta: { size: 'large' } }],
  ['PUT', '/v1/operator/scheduler/configuration', { SchedulerAlgorithm: 'spread' }],
  ['PUT', '/v1/var/db/main', { Items: { password: 'first' } }],
  ['PUT', '/v1/var/db/main', { Items: { password: 'correct horse battery staple' } }],
  ['PUT', '/v1/operator/keyring/rotate', {}],
  ['PUT', '/v1/var/db/other', { Items: { password: 'under the second key' } }],
];

/** Entries of different kinds may contradict each other, so each kind has its own partition. */
const entryKinds = kinds.filter(
  ({ kind }) => kind !== 'bound-api-gateway' && kind !== 'exported-services',
);

const entries: readonly Write[] = entryKinds.flatMap(({ kind, example, exampleNeeds = [] }) => [
  ['PUT', '/v1/partition', { Name: kind }] as const,
  ...[...exampleNeeds, example].map(
    (entry) => ['PUT', `/v1/config?partition=${kind}`, entry] as const,
  ),
]);

export const writes: readonly Write[] = [...access, ...others, ...entries, ...jobs];

/** Reads whose answers never change with time or version, except for added fields. */
export const reads: readonly string[] = [
  'acl/policies',
  'acl/roles',
  'acl/auth-methods',
  'acl/binding-rules',
  'partitions',
  'namespaces',
  'acl/auth-method/k8s',
  'node/pools',
  'operator/scheduler/configuration',
  'job-policies',
  'var/db/main',
  'var/db/other',
  'vars',
  'scaling/policies',
  'job/edited/versions',
  'job/counter',
  'job/isolated',
  'job/render',
  'job/edited/scale',
  'job/edited/submission?version=1',
  ...entryKinds.map(({ kind }) => `config/${kind}?partition=${kind}`),
].map((path) => `/v1/${path}`);

/** Decisions by the rules of a token, without HTTP. */
import { type Authorizer, authorizerFor } from '../src/acl/authorizer.ts';
import { questionOf, type RulePermission } from '../src/acl/decide.ts';
import { decideSlowly } from '../src/acl/oracle.test-helper.ts';
import { policyOf } from '../src/acl/policy-test.ts';
import { Resolver } from '../src/acl/resolve.ts';
import { RuleTable } from '../src/acl/rule-table.ts';
import { realWorld } from '../src/base/ports-real.ts';
import { rootKeyBox } from '../src/base/secret-box.ts';
import {
  namedAccess,
  namespaceCapability,
  resourceAccess,
} from '../src/model/permission/permission.ts';
import { memoryState } from '../src/state/state.test-helper.ts';
import { aclPolicies, aclTokens, allTables } from '../src/state/tables.ts';
import type { Benchmark } from './benchmark.ts';

const rulesCount = 1000;
const sliceMs = 1000;

/** 1,000 rules of one token: prefixes that nest, names, globs of namespaces, keys. */
export const manyRules = (): string =>
  Array.from({ length: rulesCount / 5 }, (_, at) =>
    [
      `service_prefix "team-${at}-" { policy = "read" }`,
      `service "team-${at}-web" { policy = "write" }`,
      `key_prefix "config/${at}/" { policy = "write" }`,
      `key_prefix "config/${at}/secret/" { policy = "deny" }`,
      `namespace "*-${at}-prod*" { policy = "write" }`,
    ].join('\n'),
  ).join('\n');

/** The questions, in turn: allowed by prefix, by name, by glob, and not at all. */
const permissions = (): RulePermission[] =>
  Array.from({ length: rulesCount / 5 }, (_, at) => [
    namedAccess('service', 'read', `team-${at}-api`),
    namedAccess('service', 'write', `team-${at}-web`),
    namedAccess('key', 'write', `config/${at}/secret/password`),
    namespaceCapability(`eu-${at}-production`, 'submit-job') as RulePermission,
    resourceAccess('operator', 'read') as RulePermission,
  ]).flat();

const policy = policyOf('bench', manyRules());

/** Decisions per second; `run` returns the number of decisions that it made. */
function perSecond(run: () => number): number {
  const startMs = performance.now();
  let done = 0;
  let elapsedMs = 0;
  while (elapsedMs < sliceMs) {
    done += run();
    elapsedMs = performance.now() - startMs;
  }
  return (done / elapsedMs) * 1000;
}

function decisions(authorizer: Authorizer): number {
  const asked = permissions();
  return perSecond(() => {
    for (const permission of asked) authorizer.allows(permission);
    return asked.length;
  });
}

function slowDecisions(): number {
  const asked = permissions().map(questionOf);
  let at = 0;
  return perSecond(() => {
    decideSlowly([policy], asked[at++ % asked.length]!, false, []);
    return 1;
  });
}

/** The cost of authentication that each request adds, when the rules are in the cache. */
async function resolving(): Promise<() => number> {
  const box = rootKeyBox(new Uint8Array(32), realWorld.secrets);
  const state = await memoryState(allTables, realWorld);
  const secret = realWorld.secrets.uuid();
  const place = { Namespace: 'default', Partition: 'default' };
  await state.write((transaction) => {
    const named = { ID: 'bench', Name: 'bench', Description: '', Rules: manyRules(), Hash: 'h' };
    transaction.table(aclPolicies).put({ ...named, ...place, Datacenters: null, JobACL: null });
    transaction.table(aclTokens).put({
      AccessorID: 'a',
      SecretSealed: '',
      SecretHash: box.fingerprint(secret),
      Description: '',
      Policies: [{ ID: 'bench' }],
      Roles: [],
      Local: false,
      Hash: '',
      ServiceIdentities: [],
      NodeIdentities: [],
      TemplatedPolicies: [],
      AuthMethod: '',
      AuthMethodNamespace: '',
      ExpirationTime: 0,
      CreateTime: 0,
      ...place,
    });
  });
  const { secrets, clock } = realWorld;
  const resolver = new Resolver({
    enabled: true,
    secrets,
    box,
    clock,
  });
  return () =>
    perSecond(() => {
      for (let at = 0; at < 100; at++) resolver.resolve(state.read(), secret);
      return 100;
    });
}

export const acl: Benchmark = {
  name: 'acl',
  title: `Decisions for a token with ${rulesCount} rules, no HTTP`,
  baseline: 'reading the rules one by one, as the tests do',
  takesGiven: false,
  async run({ runs, progress }) {
    const caller = { kind: 'anonymous', accessor: '' } as const;
    const rules = new RuleTable([policy]);
    const authorizer = authorizerFor({ caller, rules, defaultPolicy: 'deny' });
    const resolve = await resolving();
    const figures = { decisions: [] as number[], slow: [] as number[], resolved: [] as number[] };
    for (let run = 1; run <= runs; run++) {
      progress(`run ${run} of ${runs}`);
      figures.decisions.push(decisions(authorizer));
      figures.slow.push(slowDecisions());
      figures.resolved.push(resolve());
    }
    const target = { of: 'median', is: 'at least', value: 500_000 } as const;
    return {
      figures: [
        { name: 'decisions', unit: '/s', ours: figures.decisions, baseline: figures.slow, target },
        { name: 'secrets resolved', unit: '/s', ours: figures.resolved },
      ],
      notes: [
        'Half of the questions are found by a prefix or a name, the others by a glob, or by none. ' +
          'Resolving a secret takes its fingerprint, finds the token and the compiled rules.',
      ],
    };
  },
};

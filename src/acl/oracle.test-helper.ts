/** The oracle of decisions by rules: slow and plain. */
import type { Rule, ScopeName } from '../language/rules/rule.ts';
import type { Question } from './decide.ts';
import type { Policy } from './grants.ts';

interface Claim {
  readonly place: readonly [partition: number, namespace: number];
  readonly match: string;
  readonly name: string;
  readonly holds: readonly string[] | 'deny';
  readonly derived: boolean;
}

const levels: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  key: { read: ['read'], list: ['read', 'list'], write: ['read', 'list', 'write'] },
  plugin: { list: ['list'], read: ['list', 'read'] },
  other: { read: ['read'], write: ['read', 'write'] },
};
const byCapability = ['namespace', 'node_pool', 'host_volume', 'variable'];
const inNoNamespace = [
  'agent',
  'keyring',
  'mesh',
  'operator',
  'peering',
  'plugin',
  'quota',
  'node_pool',
  'host_volume',
  'namespace',
];

/** Larger than the length of any name. */
const exact = 1e3;

const regexOf = (match: string, name: string): RegExp => {
  const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  if (match === 'all') return /^.*$/;
  if (match === 'exact') return new RegExp(`^${escaped(name)}$`);
  if (match === 'prefix') return new RegExp(`^${escaped(name)}.*$`);
  return new RegExp(`^${name.split('*').map(escaped).join('.*')}$`);
};

const near = (match: string, name: string, of: string): number => {
  if (!regexOf(match, name).test(of)) return -1;
  if (match === 'exact' || (match === 'glob' && !name.includes('*'))) return exact;
  return [...name].filter((one) => match === 'prefix' || one !== '*').length;
};

/** The nearness of the block to `place`, for a policy in `home`; -1 if it does not reach the place. */
const reaches = (home: string, block: ScopeName | undefined, place: string): number => {
  if (block === undefined) return home === place ? exact : -1;
  if (home === 'default') return near(block.match, block.name, place);
  return home === place && near(block.match, block.name, place) >= 0 ? exact : -1;
};

function claimsOf(policy: Policy, rule: Rule, question: Question): Claim[] {
  const { resource } = question;
  const isIntention = resource === 'intention';
  if (rule.resource !== (isIntention ? 'service' : resource)) return [];
  let place: [number, number] = [
    reaches(policy.Partition, rule.partition, question.partition),
    reaches(policy.Namespace, rule.namespace, question.namespace),
  ];
  let { match, name }: { match: string; name: string } = rule;
  const isHome = policy.Namespace === 'default';
  if (/^0.*-00000000000[12]$/.test(policy.ID)) {
    place = [0, 0];
  } else if (resource === 'namespace') {
    place[1] = 0;
    if (!isHome) {
      if (near(match, name, policy.Namespace) < 0) return [];
      [match, name] = ['exact', policy.Namespace];
    }
  } else if (inNoNamespace.includes(resource)) {
    place[1] = isHome && rule.namespace === undefined ? 0 : -1;
  } else if ((resource === 'acl' || resource === 'node') && isHome && !rule.namespace) {
    place[1] = 0;
  }
  if (place[0] < 0 || place[1] < 0) return [];
  let holds: readonly string[] | 'deny';
  let derived = false;
  if (isIntention && rule.intentions === undefined) {
    derived = true;
    holds = rule.access === 'deny' ? 'deny' : ['read'];
  } else {
    const word = isIntention ? rule.intentions : rule.access;
    const denies = word === 'deny' || rule.capabilities.includes('deny');
    const table = levels[resource] ?? levels.other!;
    const given = byCapability.includes(resource) ? rule.capabilities : (table[word!] ?? []);
    const all = new Set(given);
    if (resource === 'variable' && (all.has('read') || all.has('write'))) all.add('list');
    if (resource === 'namespace' && all.has('host-volume-write')) {
      for (const one of ['create', 'register', 'delete', 'read']) all.add(`host-volume-${one}`);
    }
    holds = denies ? 'deny' : [...all];
  }
  return [{ place, match, name, holds, derived }];
}

const rank = ({ place }: Claim): number => place[0] * 1e4 + place[1];

/** The accesses of all claims, or `undefined` without claims. */
function together(claims: readonly Claim[]): readonly string[] | undefined {
  if (claims.length === 0) return undefined;
  const written = claims.filter((claim) => !claim.derived);
  const counted = written.length > 0 ? written : claims;
  if (counted.some(({ holds }) => holds === 'deny')) return [];
  return counted.flatMap(({ holds }) => holds);
}

function heldOn(claims: readonly Claim[], name: string): readonly string[] | undefined {
  for (const place of [...new Set(claims.map(rank))].sort((left, right) => right - left)) {
    const here = claims.filter((claim) => rank(claim) === place);
    const nearest = Math.max(...here.map((claim) => near(claim.match, claim.name, name)));
    if (nearest < 0) continue;
    return together(here.filter((claim) => near(claim.match, claim.name, name) === nearest));
  }
  return undefined;
}

/** `names`: every name in the test's world. */
export function decideSlowly(
  policies: readonly Policy[],
  question: Question,
  defaultAllows: boolean,
  names: readonly string[],
): boolean {
  const { resource, access, name, extent } = question;
  const claims = policies.flatMap((policy) =>
    policy.rules.flatMap((rule) => claimsOf(policy, rule, question)),
  );
  const otherwise = (): boolean => {
    if (resource !== 'mesh' && resource !== 'peering') return defaultAllows && resource !== 'acl';
    const operator = { ...question, resource: 'operator' };
    return decideSlowly(policies, operator, defaultAllows, names);
  };
  const allows = (one: string): boolean => {
    const held = heldOn(claims, one);
    if (held === undefined) return otherwise();
    const isHeld = access === 'any' ? held.length > 0 : held.includes(access);
    // Mesh rules that give too little fall back to the operator's; mesh denials do not.
    return isHeld || (resource === 'mesh' && held.length > 0 && otherwise());
  };
  if (extent === 'one') return allows(name);
  if (extent === 'under') return names.filter((one) => one.startsWith(name)).every(allows);
  const labels = Map.groupBy(claims, (claim) => `${rank(claim)} ${claim.match} ${claim.name}`);
  return [...labels.values()].some((same) => together(same)!.includes(access)) || otherwise();
}

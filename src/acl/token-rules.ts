import { parseRules } from '../language/rules/parse.ts';
import type { AclPolicy } from '../model/acl-policy/acl-policy.ts';
import { type AclToken, managementPolicyId } from '../model/acl-token/acl-token.ts';
import type { Snapshot } from '../state/types.ts';
import type { Policy } from './grants.ts';
import { limits } from './limits.ts';
import { type Linked, linksOf, linksVersion } from './links.ts';
import { RuleTable } from './rule-table.ts';

/** The rules of a token, compiled. */
export interface TokenRules {
  readonly table: RuleTable;
  /** Whether any link of the token leads to the management policy. */
  readonly management: boolean;
}

interface Known {
  readonly token: AclToken;
  readonly version: string;
  readonly rules: TokenRules;
}

/**
 * The compiled rules of tokens.
 *
 * Invariants
 *  R1. Compiled rules always correspond to the rows of the snapshot: a revocation takes effect with
 *      the first request after its commit.
 *  R2. While no policy, role or namespace changes, finding a token's rules reads no row.
 *  R3. Tokens whose policies have the same content share one table.
 *  R4. Both caches are bounded; the oldest entry is dropped first.
 */
export class TokenRulesCache {
  readonly #datacenter: string;
  readonly #tokens = new Map<string, Known>();
  readonly #tables = new Map<string, TokenRules>();
  #version: { readonly snapshot: Snapshot; readonly version: string } | undefined;

  constructor(datacenter: string) {
    this.#datacenter = datacenter;
  }

  rulesOf(snapshot: Snapshot, token: AclToken): TokenRules {
    const version = this.#versionOf(snapshot);
    const known = this.#tokens.get(token.AccessorID);
    if (known !== undefined && known.token === token && known.version === version) {
      return known.rules;
    }
    const rules = this.#compiled(linksOf(snapshot, token, this.#datacenter));
    this.#tokens.delete(token.AccessorID);
    keep(this.#tokens, token.AccessorID, { token, version, rules }, limits.compiledTokensMax);
    return rules;
  }

  linksOf(snapshot: Snapshot, token: AclToken): readonly Linked[] {
    return linksOf(snapshot, token, this.#datacenter);
  }

  #versionOf(snapshot: Snapshot): string {
    if (this.#version?.snapshot === snapshot) return this.#version.version;
    const version = linksVersion(snapshot);
    this.#version = { snapshot, version };
    return version;
  }

  #compiled(links: readonly Linked[]): TokenRules {
    const here = links.filter(({ elsewhere }) => !elsewhere);
    const key = here.map(({ policy, from }) => `${policy.ID} ${policy.Hash} ${from}`).join('\n');
    const known = this.#tables.get(key);
    if (known !== undefined) return known;
    const rules = rulesOfLinks(here);
    keep(this.#tables, key, rules, limits.compiledTablesMax);
    return rules;
  }
}

/** The rules of policies that have an effect here. */
export function rulesOfLinks(links: readonly Linked[]): TokenRules {
  const from = (origin: Linked['from']) =>
    distinct(links.filter((one) => one.from === origin)).map(parsedPolicy);
  return {
    table: new RuleTable(from('token'), from('namespace')),
    management: links.some((one) => one.from === 'token' && one.policy.ID === managementPolicyId),
  };
}

const parsed = new WeakMap<AclPolicy, Policy>();

/** Rows are immutable, so each is parsed once. */
export function parsedPolicy(row: AclPolicy): Policy {
  const known = parsed.get(row);
  if (known !== undefined) return known;
  const { ID, Name, Namespace, Partition, Rules } = row;
  const policy = { ID, Name, Namespace, Partition, rules: parseRules(Rules).rules };
  parsed.set(row, policy);
  return policy;
}

/** A policy with two links counts once. */
const distinct = (links: readonly Linked[]): AclPolicy[] => [
  ...new Map(links.map(({ policy }) => [policy.ID, policy])).values(),
];

function keep<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  if (map.size >= most) map.delete(map.keys().next().value as K);
  map.set(key, value);
}

import type { Position } from '../hcl/source.ts';

/**
 * Policy rules as plain data, in the order of the text. The authorizer decides how they work together.
 * Source: docs/reference/rules.md.
 */
export interface Rules {
  readonly rules: readonly Rule[];
}

export interface Rule {
  readonly resource: RuleResource;
  /**
   * The names that the rule covers: `name` itself; names that begin with it; names that match it, with `*`
   * for any characters; or all names, with an empty `name`. Resources without names, `agent { … }` and
   * `node { … }` cover all.
   */
  readonly match: 'exact' | 'prefix' | 'glob' | 'all';
  readonly name: string;
  /** The policy as written; `undefined` if only capabilities are given. */
  readonly access: Access | undefined;
  /** Only on a service: its own policy for intentions. */
  readonly intentions: Access | undefined;
  /**
   * The sorted capabilities: given capabilities, and the capabilities of the policy. `deny` among them denies all.
   * Empty for resources without capabilities.
   */
  readonly capabilities: readonly string[];
  /** The blocks around the rule; `undefined`: the partition or namespace of the policy. */
  readonly partition: ScopeName | undefined;
  readonly namespace: ScopeName | undefined;
  /** The beginning of the rule. */
  readonly position: Position;
  /** The rule as written, shortened to `rulesLimits.ruleTextLengthMax`. */
  readonly text: string;
}

export type RuleResource =
  | ('acl' | 'agent' | 'event' | 'host_volume' | 'identity' | 'key' | 'keyring' | 'mesh')
  | ('namespace' | 'node')
  | ('node_pool' | 'operator' | 'peering' | 'plugin' | 'query' | 'quota' | 'service' | 'session')
  | 'variable';

/** `list` is for keys and plugins only, `scale` for namespaces only. */
export type Access = 'deny' | 'list' | 'read' | 'scale' | 'write';

export interface ScopeName {
  readonly match: 'exact' | 'prefix' | 'glob';
  readonly name: string;
}

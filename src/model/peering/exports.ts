/**
 * The services that an `exported-services` entry exports to a peer, and the reasons.
 * Source: docs/behaviour/peering.md#exported-services.
 *
 * A rule names a service, or `*` for every existing service, and a namespace, or `*`. A service exists if it
 * has an instance, or a discovery chain from its routing entries. A service that a rule names in full is
 * exported even while it does not exist.
 */
import { defaultNamespace } from '../namespace/namespace.ts';
import type { ServiceKey } from './exchange.ts';

export const everyOne = '*';

/** The fields of an `exported-services` entry that matter here. */
export interface ExportsEntry {
  readonly Services: readonly ExportRule[] | null;
}

export interface ExportRule {
  readonly Name: string;
  /** Empty: `default`. */
  readonly Namespace: string;
  readonly Consumers: readonly Consumer[] | null;
}

/** One of the three fields is given. */
export interface Consumer {
  readonly Peer?: string;
  readonly Partition?: string;
  readonly SamenessGroup?: string;
}

/** A service as text: neither part can have a slash. */
export const textOfService = ({ namespace, name }: ServiceKey): string => `${namespace}/${name}`;

export function serviceOfText(text: string): ServiceKey {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** The service for people: with its namespace unless that is `default`. */
export const shownService = (service: ServiceKey): string =>
  service.namespace === defaultNamespace ? service.name : textOfService(service);

const namespaceOf = (rule: ExportRule): string => rule.Namespace || defaultNamespace;

const coversNamespace = (rule: ExportRule, { namespace }: ServiceKey): boolean =>
  namespaceOf(rule) === everyOne || namespaceOf(rule) === namespace;

const coversName = (rule: ExportRule, { name }: ServiceKey): boolean =>
  rule.Name === everyOne || rule.Name === name;

const goesTo = (rule: ExportRule, peer: string): boolean =>
  (rule.Consumers ?? []).some(({ Peer = '' }) => Peer === peer && peer !== '');

/** Whether the rule names a single service of a single namespace. */
const namesOne = (rule: ExportRule): boolean =>
  rule.Name !== everyOne && namespaceOf(rule) !== everyOne;

/** Whether a rule exports a service to a peer, or the first condition that fails. */
export type RuleVerdict = 'exports' | 'other-namespace' | 'other-service' | 'other-consumers';

export interface RuleTrace {
  /** The index of the rule in `Services`. */
  readonly position: number;
  readonly rule: ExportRule;
  readonly verdict: RuleVerdict;
}

export interface ExportTrace {
  readonly isExported: boolean;
  /** A rule with `*` exports only existing services, and this service does not exist. */
  readonly isMissing: boolean;
  readonly rules: readonly RuleTrace[];
}

/** Answers like {@link PeerExports}, with the verdict of each rule. */
export function traceExport(
  entry: ExportsEntry | undefined,
  service: ServiceKey,
  { peer, isThere }: { readonly peer: string; readonly isThere: boolean },
): ExportTrace {
  const rules = (entry?.Services ?? []).map((rule, position) => {
    return { position, rule, verdict: verdictOf(rule, service, peer) };
  });
  const giving = rules.filter(({ verdict }) => verdict === 'exports');
  const isExported = giving.some(({ rule }) => isThere || namesOne(rule));
  return { isExported, isMissing: giving.length > 0 && !isExported, rules };
}

function verdictOf(rule: ExportRule, service: ServiceKey, peer: string): RuleVerdict {
  if (!coversNamespace(rule, service)) return 'other-namespace';
  if (!coversName(rule, service)) return 'other-service';
  return goesTo(rule, peer) ? 'exports' : 'other-consumers';
}

/** The exports of an entry to a peer, compiled, as every change of an instance asks for them. */
export class PeerExports {
  /** Services that rules name in full, as texts, in order. */
  readonly named: ReadonlySet<string>;
  /** The service names of rules with a `*`, by namespace. */
  readonly #open = new Map<string, Set<string>>();

  constructor(entry: ExportsEntry | undefined, peer: string) {
    const named = new Set<string>();
    for (const rule of entry?.Services ?? []) {
      if (!goesTo(rule, peer)) continue;
      const [namespace, name] = [namespaceOf(rule), rule.Name];
      if (namesOne(rule)) named.add(textOfService({ namespace, name }));
      else this.#open.set(namespace, (this.#open.get(namespace) ?? new Set()).add(name));
    }
    this.named = new Set([...named].sort());
  }

  /** Whether nothing can be exported to the peer. */
  get isEmpty(): boolean {
    return this.named.size === 0 && this.#open.size === 0;
  }

  /** Whether a rule has a `*`. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  isExported(service: ServiceKey, isThere: boolean): boolean {
    return this.named.has(textOfService(service)) || (isThere && this.#isOpenTo(service));
  }

  #isOpenTo({ namespace, name }: ServiceKey): boolean {
    if (this.#open.size === 0) return false;
    return [namespace, everyOne].some((place) => {
      const names = this.#open.get(place);
      return names !== undefined && (names.has(everyOne) || names.has(name));
    });
  }
}

/** The peers and partitions that may use a service, in the order of their names. */
export interface Consumers {
  readonly peers: readonly string[];
  readonly partitions: readonly string[];
}

/** All exports of an entry, compiled for questions about every service. */
export class EntryExports {
  /** By namespace and name, `*` among them. */
  readonly #rules = new Map<string, ExportRule[]>();
  /** Services that rules name in full, as texts. */
  readonly named: ReadonlySet<string>;

  constructor(entry: ExportsEntry | undefined) {
    const rules = entry?.Services ?? [];
    for (const rule of rules) {
      const text = textOfService({ namespace: namespaceOf(rule), name: rule.Name });
      const known = this.#rules.get(text);
      if (known === undefined) this.#rules.set(text, [rule]);
      else known.push(rule);
    }
    this.named = new Set([...this.#rules].flatMap(([text, [of]]) => (namesOne(of!) ? [text] : [])));
  }

  /** Whether a rule has a `*`. */
  get isOpen(): boolean {
    return this.named.size < this.#rules.size;
  }

  consumersOf({ namespace, name }: ServiceKey, isThere: boolean): Consumers {
    const own = { namespace, name };
    const open = [
      { namespace, name: everyOne },
      { namespace: everyOne, name },
      { namespace: everyOne, name: everyOne },
    ];
    const rules = (isThere ? [own, ...open] : [own]).flatMap(
      (place) => this.#rules.get(textOfService(place)) ?? [],
    );
    const consumers = rules.flatMap(({ Consumers }) => Consumers ?? []);
    return {
      peers: namesIn(consumers.map(({ Peer = '' }) => Peer)),
      partitions: namesIn(consumers.map(({ Partition = '' }) => Partition)),
    };
  }
}

const namesIn = (names: readonly string[]): string[] =>
  [...new Set(names)].filter((name) => name !== '').sort();

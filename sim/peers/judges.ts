/** Checks the guarantees of peering, at rest and on every message between clusters. */
import type { ConfigEntry } from '../../src/model/config-entry/config-entry.ts';
import type { ServiceRegistration } from '../../src/model/service-registration/service-registration.ts';
import {
  configEntries,
  importedInstances,
  importedServices,
  peerings,
  serviceRegistrations,
} from '../../src/state/tables.ts';
import type { Snapshot } from '../../src/state/types.ts';
import { deletionGuarantee } from '../checkers/peerings.ts';
import type { Cluster } from '../cluster.ts';
import type { Pair } from './people.ts';
import type { Sent } from './wires.ts';

const guarantees = {
  exchange: 'a peer sees exactly the exported services',
  deletion: deletionGuarantee,
  secrets: 'the secret of a peering token is used once',
  strangers: 'a replayed handshake is refused',
} as const;

export class PeerJudges {
  readonly #clusters: ReadonlyMap<string, Cluster>;
  /** The token's secret that the dialer showed, and the stream secret that it proposed, by connection. */
  readonly #shown = new WeakMap<object, { readonly secret: string; readonly stream: string }>();
  /** The stream secret that each token's secret was exchanged for. */
  readonly #given = new Map<string, string>();

  constructor(clusters: readonly Cluster[]) {
    this.#clusters = new Map(clusters.map((cluster) => [cluster.name, cluster]));
  }

  /** A dialer may repeat its request with the same stream secret, since the answer may be lost. */
  sent({ on, byDialer, isReplay, text }: Sent): void {
    if (isReplay && !byDialer && text.includes('"accepted"')) {
      this.#reportAt(this.#first, guarantees.strangers, 'a replayed handshake was accepted');
    }
    if (!text.includes('"establish')) return;
    const frame = JSON.parse(text) as { type: string; secret: string; streamSecret: string };
    if (byDialer && frame.type === 'establish') {
      this.#shown.set(on, { secret: frame.secret, stream: frame.streamSecret });
    }
    const shown = this.#shown.get(on);
    if (byDialer || frame.type !== 'established' || shown === undefined) return;
    const before = this.#given.get(shown.secret);
    this.#given.set(shown.secret, shown.stream);
    if (before === undefined || before === shown.stream) return;
    this.#reportAt(
      this.#first,
      guarantees.secrets,
      'a secret was exchanged for two stream secrets',
    );
  }

  rested(peered: readonly Pair[], parted: readonly Pair[]): void {
    for (const { acceptor, dialer } of peered) {
      this.#compare(acceptor.name, dialer.name);
      this.#compare(dialer.name, acceptor.name);
    }
    for (const { acceptor, dialer } of parted) {
      this.#expectNothing(acceptor.name, dialer.name);
      this.#expectNothing(dialer.name, acceptor.name);
    }
  }

  /** Compares the exports of `from` with the imports of `to`. */
  #compare(from: string, to: string): void {
    const [source, target] = [this.#clusters.get(from)!, this.#clusters.get(to)!];
    const fault = (sentence: string) => this.#reportAt(target, guarantees.exchange, sentence);
    const [there, here] = [viewOf(source), viewOf(target)];
    if (there === undefined || here === undefined) {
      fault('a server does not run');
      return;
    }
    const seen = [...here.table(importedInstances).scan()].filter(({ Peer }) => Peer === from);
    const [expected, found] = [exportedTo(there, to).map(told), seen.map(told)];
    for (const one of without(expected, found)) fault(`${one} is exported by ${from} and not seen`);
    for (const one of without(found, expected)) fault(`${one} is seen and not exported by ${from}`);
  }

  #expectNothing(at: string, peer: string): void {
    const cluster = this.#clusters.get(at)!;
    const view = viewOf(cluster);
    if (view === undefined) return;
    const left = [
      ...[...view.table(peerings).scan()].filter(({ Name }) => Name === peer),
      ...[...view.table(importedServices).scan()].filter(({ Peer }) => Peer === peer),
      ...[...view.table(importedInstances).scan()].filter(({ Peer }) => Peer === peer),
    ];
    if (left.length === 0) return;
    this.#reportAt(cluster, guarantees.deletion, `${left.length} rows of ${peer} are left`);
  }

  get #first(): Cluster {
    return [...this.#clusters.values()][0]!;
  }

  #reportAt({ judges }: Cluster, guarantee: string, sentence: string): void {
    judges.report(guarantee, sentence);
  }
}

const viewOf = ({ server }: Cluster): Snapshot | undefined => server.running?.state.read();

interface ExportRule {
  readonly Name: string;
  readonly Namespace: string;
  readonly Consumers: readonly { readonly Peer?: string }[] | null;
}

/** The instances that the configuration entries export to the peer. */
function exportedTo(view: Snapshot, peer: string): readonly ServiceRegistration[] {
  const rules: ExportRule[] = [];
  for (const entry of view.table(configEntries).scan()) {
    if (entry.Kind !== 'exported-services') continue;
    rules.push(...((entry as ConfigEntry & { Services: ExportRule[] | null }).Services ?? []));
  }
  const names = rules
    .filter(({ Consumers }) => Consumers?.some(({ Peer }) => Peer === peer))
    .map(({ Name }) => Name);
  return [...view.table(serviceRegistrations).scan()].filter(
    ({ ServiceName }) => names.includes('*') || names.includes(ServiceName),
  );
}

/** An instance as both sides see it. */
const told = ({ ServiceName, Address, Port, Status, Tags }: ServiceRegistration): string =>
  `${ServiceName} at ${Address}:${Port} (${Status}, ${(Tags ?? []).join(' ')})`;

/** The texts that `all` has more often than `others`. */
function without(all: readonly string[], others: readonly string[]): readonly string[] {
  const rest = [...others];
  return all.filter((one) => {
    const place = rest.indexOf(one);
    if (place >= 0) rest.splice(place, 1);
    return place < 0;
  });
}

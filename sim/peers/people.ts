/**
 * Users who peer clusters, export services and delete peerings, over the simulated network. They also use
 * tokens twice and in the wrong cluster.
 */
import type { Random } from '../../src/base/ports.ts';
import type { Client } from '../client.ts';
import { serviceNames } from '../jobs.ts';

const pauseMaxMs = 60_000;

/** A cluster as its users see it. */
export interface Place {
  readonly name: string;
  readonly client: Client;
}

export interface PeopleOptions {
  readonly places: readonly Place[];
  readonly random: Random;
  /** Takes a line of the trace. */
  readonly note: (sentence: string) => void;
}

export interface Pair {
  readonly acceptor: Place;
  readonly dialer: Place;
}

export class People {
  readonly #options: PeopleOptions;
  /** The pairs that have no peering in the end. */
  readonly parted: readonly Pair[];
  readonly #pairs: readonly Pair[];
  #lastToken: { readonly by: Place; readonly token: string } | undefined;
  #isOver = false;

  constructor(options: PeopleOptions) {
    this.#options = options;
    const { places, random } = options;
    this.#pairs = places.flatMap((acceptor, number) =>
      places.slice(number + 1).map((dialer) => ({ acceptor, dialer })),
    );
    // The first pair always peers in the end.
    this.parted = this.#pairs.slice(1).filter(() => random.below(3) === 0);
  }

  /** The pairs that peer in the end. */
  get peered(): readonly Pair[] {
    return this.#pairs.filter((pair) => !this.parted.includes(pair));
  }

  start(): void {
    const { places, random } = this.#options;
    for (const { client } of places) {
      const again = () => {
        if (this.#isOver) return;
        const pause = () => client.after(random.below(pauseMaxMs), again);
        this.#actOnPair().then(pause, pause);
      };
      client.after(random.below(pauseMaxMs), again);
    }
  }

  /** Ends the random actions; `repair` goes on. */
  end(): void {
    this.#isOver = true;
  }

  /** Deletes the peerings of parted pairs, and renews the peerings of the others that are not active. */
  async repair(): Promise<void> {
    for (const pair of this.parted) await this.#part(pair);
    for (const pair of this.peered) {
      const states = await Promise.all([
        this.#stateOf(pair.acceptor, pair.dialer),
        this.#stateOf(pair.dialer, pair.acceptor),
      ]);
      if (states.every((state) => state === 'ACTIVE')) continue;
      this.#options.note(`${nameOf(pair)} are ${states.join(' and ')}: they are peered anew`);
      await this.#part(pair);
      await this.#awaitGone(pair.acceptor, pair.dialer);
      await this.#awaitGone(pair.dialer, pair.acceptor);
      await this.#peer(pair).catch(() => {});
    }
  }

  async #actOnPair(): Promise<unknown> {
    const { random, places } = this.#options;
    const dice = random.below(20);
    const pair = this.#oneOf(this.#pairs);
    if (dice < 7) return this.#peer(random.below(8) === 0 ? turned(pair) : pair);
    if (dice < 9) return this.#reuseToken();
    if (dice < 11) {
      const { acceptor, dialer } = random.below(2) === 0 ? turned(pair) : pair;
      this.#options.note(`${acceptor.name} deletes the peering with ${dialer.name}`);
      return acceptor.client.must('DELETE', `/v1/peering/${dialer.name}`);
    }
    if (dice < 12) return this.#oneOf(places).client.must('DELETE', exported);
    return this.#exportServices(this.#oneOf(places));
  }

  async #peer({ acceptor, dialer }: Pair): Promise<void> {
    this.#options.note(`${acceptor.name} makes a token for ${dialer.name}`);
    const body = { PeerName: dialer.name };
    const { status, json } = await acceptor.client.call('POST', '/v1/peering/token', body);
    if (status !== 200) return;
    const token = json.PeeringToken as string;
    this.#lastToken = { by: acceptor, token };
    await this.#establish(dialer, acceptor, token);
  }

  async #establish(dialer: Place, acceptor: Place, PeeringToken: string): Promise<void> {
    const body = { PeerName: acceptor.name, PeeringToken };
    const { status } = await dialer.client.call('POST', '/v1/peering/establish', body);
    this.#options.note(`${dialer.name} takes the token of ${acceptor.name}: ${status}`);
  }

  /** Uses the last token again, perhaps in the cluster that made it. */
  async #reuseToken(): Promise<void> {
    if (this.#lastToken === undefined) return;
    const { by, token } = this.#lastToken;
    await this.#establish(this.#oneOf(this.#options.places), by, token);
  }

  async #exportServices({ name, client }: Place): Promise<void> {
    const { random, places } = this.#options;
    const others = places.filter((place) => place.name !== name);
    const names = random.below(4) === 0 ? ['*'] : serviceNames.filter(() => random.below(2) === 0);
    const Services = names.map((Name) => {
      const peers = others.filter(() => random.below(3) > 0);
      const Consumers = (peers.length === 0 ? others : peers).map((peer) => ({ Peer: peer.name }));
      return { Name, Namespace: 'default', Consumers };
    });
    await client.must('PUT', '/v1/config', {
      Kind: 'exported-services',
      Name: 'default',
      Services,
    });
  }

  async #part({ acceptor, dialer }: Pair): Promise<void> {
    for (const [place, other] of [
      [acceptor, dialer],
      [dialer, acceptor],
    ] as const) {
      await place.client.surely('DELETE', `/v1/peering/${other.name}`);
    }
  }

  async #stateOf(place: Place, other: Place): Promise<string> {
    const { status, json } = await place.client.surely('GET', `/v1/peering/${other.name}`);
    return status === 200 ? json.State : 'not there';
  }

  async #awaitGone(place: Place, other: Place): Promise<void> {
    while ((await this.#stateOf(place, other)) !== 'not there') {
      await new Promise<void>((go) => place.client.after(1000, go));
    }
  }

  #oneOf<T>(things: readonly T[]): T {
    return things[this.#options.random.below(things.length)]!;
  }
}

const exported = '/v1/config/exported-services/default';
const turned = ({ acceptor, dialer }: Pair): Pair => ({ acceptor: dialer, dialer: acceptor });
const nameOf = ({ acceptor, dialer }: Pair): string => `${acceptor.name} and ${dialer.name}`;

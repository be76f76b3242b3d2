/** The kinds of faults, and where a fault of each kind strikes. */
import type { Choices } from '../support/random.ts';
import { type ChaosCluster, size } from './cluster.ts';
import type { Link } from './link.ts';

export interface Strike {
  /** Where it strikes, for people. */
  readonly at: string;
  /** Parts that no other fault strikes meanwhile. */
  readonly parts: readonly string[];
  readonly begin: () => unknown;
  readonly end: () => unknown;
  readonly shortestMs: number;
  readonly longestMs: number;
}

export interface Site {
  readonly cluster: ChaosCluster;
  readonly choices: Choices;
  /** The server that leads, as far as is known. */
  readonly leader: () => Promise<number | undefined>;
  /** Has the leader hand over. */
  readonly handOver: (leader: number) => Promise<unknown>;
}

/** Resolves with `undefined` if the kind cannot strike now. */
type Draw = (site: Site) => Promise<Strike | undefined>;

const otherNumbers = (number: number): number[] => [(number + 1) % size, (number + 2) % size];

/** The leader in half of all cases, otherwise any server. */
async function drawServer({ choices, leader }: Site): Promise<number> {
  const leading = choices.fraction() < 0.5 ? await leader() : undefined;
  return leading ?? choices.below(size);
}

const onServer =
  (
    [shortestMs, longestMs]: readonly [number, number],
    strike: (site: Site, number: number) => Pick<Strike, 'begin' | 'end'>,
  ): Draw =>
  async (site) => {
    const number = await drawServer(site);
    const parts = [`server ${number}`];
    return { at: `server ${number}`, parts, shortestMs, longestMs, ...strike(site, number) };
  };

const onMember =
  (
    [shortestMs, longestMs]: readonly [number, number],
    strike: (site: Site, number: number) => Pick<Strike, 'begin' | 'end'>,
    choose = ({ choices }: Site) => choices.below(size),
  ): Draw =>
  async (site) => {
    const number = choose(site);
    const what = strike(site, number);
    return { at: `member ${number}`, parts: ['members'], shortestMs, longestMs, ...what };
  };

/** Numbers of the members, beginning with the one that the server used last. */
const membersOf = ({ toMembers }: ChaosCluster, server: number): number[] => {
  const links = toMembers[server]!;
  return [...links.keys()].sort((left, right) => links[right]!.usedMs - links[left]!.usedMs);
};

const usedMember = ({ cluster, choices }: Site): number =>
  membersOf(cluster, choices.below(size))[0]!;

type Harm = (links: readonly Link[], choices: Choices) => void;

const cut: Harm = (links) => {
  for (const link of links) link.cut();
};
const hold: Harm = (links) => {
  for (const link of links) link.hold();
};
const delay: Harm = (links, choices) => {
  const lateMs = 10 + choices.below(500);
  for (const link of links) link.delay(lateMs);
};
/** Requests arrive after their sender has given up. */
const delayLong: Harm = (links, choices) => {
  const lateMs = 5500 + choices.below(2000);
  for (const link of links) link.delay(lateMs);
};
const mend = (links: readonly Link[]) => {
  for (const link of links) link.mend();
};

/** From a server to the member that it uses, or to all. */
const toMembers = (harm: Harm): Draw =>
  onLinks('etcd from', harm, (cluster, number, choices) => {
    const links = membersOf(cluster, number).map((member) => cluster.toMembers[number]![member]!);
    return choices.fraction() < 0.5 ? links.slice(0, 1) : links;
  });
const toServers = (harm: Harm): Draw =>
  onLinks('clients to', harm, ({ toServers: all }, number) => [all[number]!]);
const amongServers = (harm: Harm): Draw =>
  onLinks('servers to', harm, ({ amongServers: all }, number) => [all[number]!]);

function onLinks(
  name: string,
  harm: Harm,
  choose: (cluster: ChaosCluster, number: number, choices: Choices) => readonly Link[],
): Draw {
  return async (site) => {
    const number = await drawServer(site);
    const links = choose(site.cluster, number, site.choices);
    return {
      at: `${name} server ${number}${links.length > 1 ? ', all of it' : ''}`,
      parts: [`${name} ${number}`],
      begin: () => harm(links, site.choices),
      end: () => mend(links),
      shortestMs: 500,
      longestMs: 16_000,
    };
  };
}

const amongMembers = (harm: (link: Link, choices: Choices) => void): Draw =>
  onMember([500, 12_000], ({ cluster, choices }, number) => {
    const link = cluster.amongMembers[number]!;
    return { begin: () => harm(link, choices), end: () => link.mend() };
  });

/** Whether bytes begin a connection that this member opened. */
const openedBy = (id: string): RegExp => new RegExp(`X-Server-From: ${id}\\r`, 'i');

/** Neither hears the others, nor is heard by them. Servers that use it do not notice at once. */
const isolated = onMember(
  [2000, 16_000],
  ({ cluster }, number) => {
    const others = otherNumbers(number).map((other) => cluster.amongMembers[other]!);
    return {
      begin: async () => {
        const id = await memberId(cluster, number);
        cluster.amongMembers[number]!.cut();
        for (const link of others) link.shut(openedBy(id));
      },
      end: () => mend([cluster.amongMembers[number]!, ...others]),
    };
  },
  usedMember,
);

async function memberId({ etcd }: ChaosCluster, number: number): Promise<string> {
  const listed = (await persist(() => etcd.call('cluster/member/list', {}, number))) as {
    readonly members: readonly { readonly ID: string; readonly name: string }[];
  };
  const found = listed.members.find(({ name }) => name === `member-${number}`);
  return BigInt(found!.ID).toString(16);
}

/** A member finds its disk full: etcd takes no writes until an operator says that there is room again. */
const full = onMember([1000, 12_000], ({ cluster: { etcd } }, number) => {
  const again = async (flags?: Readonly<Record<string, string>>) => {
    await etcd.kill(number);
    etcd.run(number, flags);
  };
  const alarm = (body: object) =>
    persist(() => etcd.call('maintenance/alarm', body, otherNumbers(number)[0]));
  return {
    begin: () => again({ 'quota-backend-bytes': '1' }),
    end: async () => {
      await again();
      const { alarms = [] } = (await alarm({ action: 'GET' })) as {
        readonly alarms?: readonly object[];
      };
      for (const one of alarms) await alarm({ ...one, action: 'DEACTIVATE' });
    },
  };
});

const tries = 600;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 500));

/** Repeats a call of etcd, whose members may be electing. */
async function persist<T>(call: () => Promise<T>): Promise<T> {
  for (let left = tries; ; left--) {
    try {
      return await call();
    } catch (error) {
      if (left === 0) throw error;
      await pause();
    }
  }
}

const onMajority =
  (begin: (cluster: ChaosCluster, at: number) => unknown, end: typeof begin): Draw =>
  async ({ cluster, choices }) => {
    const left = choices.below(size);
    const each = (act: typeof begin) => () =>
      Promise.all(otherNumbers(left).map((number) => act(cluster, number)));
    return {
      at: `all members but ${left}`,
      parts: ['members'],
      begin: each(begin),
      end: each(end),
      shortestMs: 500,
      longestMs: 10_000,
    };
  };

const rollingRestart: Draw = async ({ cluster }) => ({
  at: 'all servers',
  parts: Array.from({ length: size }, (_, number) => `server ${number}`),
  begin: async () => {
    for (const server of cluster.servers) {
      await server.stop();
      server.start();
      for (let left = tries; left > 0 && !server.isReady; left--) await pause();
    }
  },
  end: () => {},
  shortestMs: 0,
  longestMs: 1,
});

const stepped: Draw = async (site) => {
  const number = await drawServer(site);
  const server = site.cluster.servers[number]!;
  const isBack = site.choices.fraction() < 0.5;
  const seconds = (isBack ? -1 : 1) * (1 + site.choices.below(60));
  if (server.clock === undefined || !('file' in server.clock)) return undefined;
  return {
    at: `server ${number}, ${seconds} s`,
    parts: [`clock ${number}`],
    begin: () => server.stepClock(seconds),
    end: () => server.stepClock(0),
    shortestMs: 2000,
    longestMs: 16_000,
  };
};

const handedOver: Draw = async ({ leader, handOver }) => {
  const leading = await leader();
  if (leading === undefined) return undefined;
  return {
    at: `server ${leading}`,
    parts: [],
    begin: () => handOver(leading),
    end: () => {},
    shortestMs: 0,
    longestMs: 1,
  };
};

export const faultKinds: Readonly<Record<string, Draw>> = {
  'server killed': onServer([200, 14_000], ({ cluster }, number) => ({
    begin: () => cluster.servers[number]!.kill(),
    end: () => cluster.servers[number]!.start(),
  })),
  'server frozen': onServer([500, 20_000], ({ cluster }, number) => ({
    begin: () => cluster.servers[number]!.pause(),
    end: () => cluster.servers[number]!.resume(),
  })),
  'server stopped': onServer([0, 6000], ({ cluster }, number) => ({
    begin: () => cluster.servers[number]!.stop(),
    end: () => cluster.servers[number]!.start(),
  })),
  'rolling restart': rollingRestart,
  'hand-over': handedOver,
  'clock stepped': stepped,
  'member killed': onMember([200, 12_000], ({ cluster: { etcd } }, number) => ({
    begin: () => etcd.kill(number),
    end: () => etcd.run(number),
  })),
  'member frozen': onMember([500, 12_000], ({ cluster: { etcd } }, number) => ({
    begin: () => etcd.signal(number, 'SIGSTOP'),
    end: () => etcd.signal(number, 'SIGCONT'),
  })),
  'members killed': onMajority(
    ({ etcd }, number) => etcd.kill(number),
    ({ etcd }, number) => etcd.run(number),
  ),
  'members frozen': onMajority(
    ({ etcd }, number) => etcd.signal(number, 'SIGSTOP'),
    ({ etcd }, number) => etcd.signal(number, 'SIGCONT'),
  ),
  'member isolated': isolated,
  'members held': amongMembers((link) => link.hold()),
  'members late': amongMembers((link, choices) => link.delay(20 + choices.below(2500))),
  'disk full': full,
  'etcd cut': toMembers(cut),
  'etcd held': toMembers(hold),
  'etcd late': toMembers(delay),
  'etcd too late': toMembers(delayLong),
  'clients cut': toServers(cut),
  'clients held': toServers(hold),
  'clients late': toServers(delay),
  'clients too late': toServers(delayLong),
  'servers cut': amongServers(cut),
  'servers held': amongServers(hold),
  'servers late': amongServers(delay),
  'servers too late': amongServers(delayLong),
};

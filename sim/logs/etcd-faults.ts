/** Faults of etcd and of the ways to it. */
import type { Random } from '../../src/base/ports.ts';
import type { Deliveries, Fate, ModelFaults } from '../../src/state/engine/etcd/model.ts';
import type { Fault } from '../faults.ts';
import type { EtcdLog, EtcdLogStorage } from './etcd-log.ts';

const oddFates: readonly Fate[] = ['lost', 'no answer', 'late', 'twice', 'again'];
/** One in four requests and events goes astray. */
const oddIn = 4;
const lateMaxMs = 20_000;
/** Half of all late requests arrive within this time, while their sender still settles their outcome. */
const soonMaxMs = 50;
/** Late requests arrive within this time while every second one is late: before the next term has begun. */
const justMaxMs = 20;

export const faultsOfEtcd = (log: EtcdLog, random: Random): readonly Fault[] => [
  ...faultsOfRequests(log, random),
  ...faultsOfEvents(log, random),
  ...faultsOfStore(log, random),
];

function faultsOfRequests(log: EtcdLog, random: Random): readonly Fault[] {
  const { faults } = log.etcd;
  const setFate = (fate: ModelFaults['fate']) => {
    faults.fate = fate;
    return () => {
      faults.fate = undefined;
    };
  };
  return [
    {
      name: 'etcd is slow',
      weight: 2,
      lastsMaxMs: 60_000,
      begin: () => {
        log.setDelay(5 + random.below(800));
        return () => log.setDelay();
      },
    },
    {
      name: 'writes to etcd go astray',
      weight: 3,
      lastsMaxMs: 60_000,
      begin: () => {
        faults.lateMs = () => random.below(random.below(2) === 0 ? soonMaxMs : lateMaxMs);
        return setFate(() =>
          random.below(oddIn) > 0 ? 'arrives' : oddFates[random.below(oddFates.length)]!,
        );
      },
    },
    {
      name: 'writes to etcd arrive just after they are given up',
      weight: 3,
      lastsMaxMs: 60_000,
      begin: () => {
        faults.lateMs = () => random.below(justMaxMs);
        return setFate(() => (random.below(2) === 0 ? 'arrives' : 'late'));
      },
    },
    {
      name: 'the answers of etcd to writes are lost',
      weight: 1,
      lastsMaxMs: 20_000,
      begin: () => setFate(() => 'no answer'),
    },
    {
      name: 'no write reaches etcd',
      weight: 1,
      lastsMaxMs: 40_000,
      begin: () => setFate(() => 'lost'),
    },
    {
      name: 'a server is cut off from etcd',
      weight: 3,
      lastsMaxMs: 60_000,
      begin: () => {
        const storage = anyStorage(log, random);
        storage.setCutOff(true);
        return () => storage.setCutOff(false);
      },
    },
  ];
}

const faultsOfEvents = (log: EtcdLog, random: Random): readonly Fault[] => [
  {
    name: 'a server receives batches late',
    weight: 3,
    lastsMaxMs: 120_000,
    begin: () => {
      const storage = anyStorage(log, random);
      storage.lateMs = random.below(8000);
      return () => {
        storage.lateMs = 0;
      };
    },
  },
  {
    name: 'events of etcd go astray',
    weight: 2,
    lastsMaxMs: 60_000,
    begin: () => {
      const odd = (delayMs: number): readonly Deliveries[] => [
        [],
        [delayMs, delayMs + 5, delayMs + 3000],
        [random.below(5000)],
      ];
      log.deliveries = (delayMs) =>
        random.below(oddIn) > 0 ? [delayMs] : odd(delayMs)[random.below(3)]!;
      return () => {
        log.deliveries = undefined;
      };
    },
  },
  {
    name: 'a member of etcd is behind',
    weight: 3,
    lastsMaxMs: 60_000,
    begin: () => {
      const storage = anyStorage(log, random);
      storage.stopMember();
      return () => storage.resumeMember();
    },
  },
  {
    name: 'a watch breaks',
    weight: 1,
    begin: () => {
      anyStorage(log, random).client?.breakWatches();
      return 'over at once';
    },
  },
  {
    name: 'old events of etcd come again',
    weight: 1,
    begin: () => {
      anyStorage(log, random).client?.backdate();
      return 'over at once';
    },
  },
];

const faultsOfStore = ({ etcd: { store } }: EtcdLog, random: Random): readonly Fault[] => [
  {
    name: 'leases live on',
    weight: 1,
    lastsMaxMs: 60_000,
    begin: () => {
      store.leaseExtraMs = random.below(30_000);
      return () => {
        store.leaseExtraMs = 0;
      };
    },
  },
  {
    name: 'etcd is compacted under its readers',
    weight: 1,
    begin: () => {
      if (store.revision <= store.compacted) return undefined;
      store.compact(store.revision);
      return 'over at once';
    },
  },
  {
    name: 'etcd is out of space',
    weight: 1,
    lastsMaxMs: 60_000,
    begin: () => {
      store.isOutOfSpace = true;
      return () => store.disarm();
    },
  },
];

/** A server that is told nothing of etcd's size does not know it, and goes on. */
export function faultsOfMaintenance(log: EtcdLog): readonly Fault[] {
  // Two such faults at once end with the later one.
  const strike = (name: 'isMaintenanceDenied' | 'isMaintenanceSilent') => {
    let [count, sinceMs] = [0, 0];
    return () => {
      if (count++ === 0) sinceMs = log.nowMs;
      log.etcd[name] = true;
      return () => {
        if (--count > 0) return;
        log.etcd[name] = false;
        log.judgeHealth(log.nowMs - sinceMs);
      };
    };
  };
  const lasting = { weight: 1, lastsMinMs: 40_000, lastsMaxMs: 120_000 };
  return [
    {
      ...lasting,
      name: 'etcd denies its size to the servers',
      begin: strike('isMaintenanceDenied'),
    },
    { ...lasting, name: 'etcd does not tell its size', begin: strike('isMaintenanceSilent') },
  ];
}

const anyStorage = ({ storages }: EtcdLog, random: Random): EtcdLogStorage =>
  storages[random.below(storages.length)]!;

/** Faults of the single server of a cluster, and of its disk. */
import type { Random } from '../src/base/ports.ts';
import type { CrashFate } from '../src/state/engine/memory.ts';
import type { Fault } from './faults.ts';
import { usualPace } from './processor.ts';
import type { SimulatedServer } from './server.ts';

interface Victim {
  readonly server: SimulatedServer;
  readonly random: Random;
  readonly crash: (fate: CrashFate) => void;
}

export function faultsOfServer(server: SimulatedServer, random: Random): readonly Fault[] {
  const crash = (fate: CrashFate): void => {
    server.crash(fate);
    server.startSoon();
  };
  const victim = { server, random, crash };
  return [...faultsOfDisk(victim), ...faultsOfProgram(victim)];
}

function faultsOfDisk({ server, random, crash }: Victim): readonly Fault[] {
  const { faults } = server.disk;
  const clear = (name: keyof typeof faults) => () => {
    faults[name] = undefined;
  };
  return [
    {
      name: 'the disk is slow',
      weight: 2,
      lastsMaxMs: 60_000,
      begin: () => {
        faults.appendDelayMs = 5 + random.below(800);
        return clear('appendDelayMs');
      },
    },
    {
      name: 'the disk fails',
      weight: 1,
      lastsMaxMs: 5000,
      begin: () => {
        faults.failAppend = () => new Error('input/output error');
        return () => {
          faults.failAppend = undefined;
          crash('lost');
        };
      },
    },
    {
      name: 'the disk is full',
      weight: 1,
      lastsMaxMs: 20_000,
      begin: () => {
        faults.capacityBytes = server.disk.usedBytes + random.below(20_000);
        return () => {
          faults.capacityBytes = undefined;
          crash('lost');
        };
      },
    },
    {
      name: 'snapshots fail',
      weight: 1,
      lastsMaxMs: 300_000,
      begin: () => {
        let parts = random.below(3);
        faults.failSnapshot = () => (parts-- > 0 ? undefined : new Error('input/output error'));
        return clear('failSnapshot');
      },
    },
  ];
}

function faultsOfProgram({ server, random, crash }: Victim): readonly Fault[] {
  /** The write under way is lost, becomes durable, or is half on the disk. */
  const fate = (): CrashFate => (['lost', 'kept', 'torn'] as const)[random.below(3)]!;
  const { faults } = server.disk;
  return [
    {
      name: 'the server crashes',
      weight: 2,
      begin: () => {
        crash(fate());
        return 'over at once';
      },
    },
    {
      name: 'the server crashes, and again when it starts',
      weight: 1,
      lastsMaxMs: 9000,
      begin: () => {
        server.disk.loadDelayMs = 200 + random.below(1000);
        faults.appendDelayMs = random.below(500);
        crash(fate());
        return () => {
          server.disk.loadDelayMs = 1;
          faults.appendDelayMs = undefined;
          crash(fate());
        };
      },
    },
    {
      name: 'the server freezes',
      weight: 1,
      lastsMaxMs: 60_000,
      begin: () => {
        const { process } = server;
        process?.freeze();
        return () => process?.thaw();
      },
    },
    {
      name: 'the server is short of processor',
      weight: 2,
      lastsMaxMs: 120_000,
      begin: () => {
        const { processor } = server;
        processor.pace = { workMs: 1, turnMaxMs: 50 + random.below(1000) };
        return () => {
          processor.pace = usualPace;
        };
      },
    },
    {
      name: "the server's clock jumps",
      weight: 1,
      begin: () => {
        server.clock.jump(random.below(240_000) - 120_000);
        return 'over at once';
      },
    },
  ];
}

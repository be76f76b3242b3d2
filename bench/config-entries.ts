/** Applying and listing configuration entries over HTTP. */
import { withAgent } from './agent.ts';
import { withBaseline } from './baseline.ts';
import { alternate, type Benchmark, type Figure, type Results, type Setting } from './benchmark.ts';
import { limits } from './limits.ts';
import { requestBytes } from './load.ts';
import { ask, call, type Target } from './target.ts';
import { costNote, load, loadFigures, numbered } from './wrk.ts';

export const configEntries: Benchmark = {
  name: 'config-entries',
  title: `Durable apply of configuration entries, ${limits.connections} connections`,
  baseline: 'bare `node:http` that parses the same body and answers `true`, but keeps nothing',
  takesGiven: false,
  usesWrk: true,
  isDurable: true,
  run: (setting) => withAgent(({ target }) => measure(setting, target)),
};

interface Kind {
  readonly name: string;
  readonly entry: (name: string) => object;
}

const Meta = { team: 'team-1' };

const kinds: readonly Kind[] = [
  {
    name: 'defaults',
    entry: (Name) => ({ Kind: 'service-defaults', Name, Protocol: 'http', Meta }),
  },
  {
    name: 'intentions',
    entry: (Name) => ({
      Kind: 'service-intentions',
      Name,
      Meta,
      Sources: [
        { Name: 'api', Action: 'allow', Description: 'the front' },
        { Name: '*', Permissions: [{ Action: 'allow', HTTP: { PathPrefix: '/open' } }] },
      ],
    }),
  },
  {
    name: 'outside',
    entry: (name) => ({
      Kind: 'service-defaults',
      Name: `outside-${name}`,
      Meta,
      Destination: { Addresses: ['10.0.0.1', 'db.example'], Port: 5432 },
    }),
  },
];

async function measure(setting: Setting, target: Target): Promise<Results> {
  const outcome = await withBaseline(likeApply, async (baseline) => {
    // Intentions with paths need services with the protocol HTTP.
    const all = { Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http' } };
    await call(target, 'PUT', '/v1/config', all);
    setting.progress('warm-up');
    for (const kind of kinds) {
      await apply(target, kind, 'warm');
      await apply(baseline.target, kind, 'warm');
    }
    const figures: Figure[] = [];
    const notes: string[] = [];
    for (const kind of kinds) {
      const loads = await alternate(
        { ...setting, progress: (text) => setting.progress(`${kind.name}: ${text}`) },
        (run) => apply(target, kind, String(run)),
        (run) => apply(baseline.target, kind, String(run)),
      );
      const goals = { perSecond: { of: 'median', is: 'at least', value: 2000 } } as const;
      figures.push(...loadFigures(kind.name, loads, goals));
      notes.push(`${kind.name}: ${costNote(loads.ours)}`);
    }
    return { figures, notes };
  });
  const listed: number[] = [];
  for (let run = 1; run <= setting.runs; run++) {
    const startMs = performance.now();
    await ask(target, 'GET', '/v1/config/service-intentions');
    listed.push(performance.now() - startMs);
  }
  return {
    figures: [...outcome.figures, { name: 'list of all intentions', unit: 'ms', ours: listed }],
    notes: [
      '“Defaults” of services, “intentions” of services with a permission about a path, and the ' +
        'defaults of services “outside” of the mesh. Each is checked against the others and durable ' +
        'when it is answered. The entries of earlier runs stay, and are in the list.',
      ...outcome.notes,
    ],
  };
}

const apply = (target: Target, { entry }: Kind, session: string) => {
  const body = JSON.stringify(entry(`run-${session}-${numbered}`));
  return load(target, requestBytes(target, 'PUT', '/v1/config', body));
};

const likeApply = { headers: { 'content-type': 'application/json' }, body: 'true' };

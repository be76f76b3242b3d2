/** Applying and listing configuration entries over HTTP. */
import { withAgent } from './agent.ts';
import { withBaseline } from './baseline.ts';
import { alternate, type Benchmark, type Results, type Setting } from './benchmark.ts';
import { limits } from './limits.ts';
import { drive, requestBytes, series } from './load.ts';
import { ask, type Target } from './target.ts';

const { entries: count } = limits.config;

export const configEntries: Benchmark = {
  name: 'config-entries',
  title: `Durable apply of ${count.toLocaleString('en')} configuration entries, ${limits.connections} connections`,
  baseline: 'bare `node:http` that parses the same body and answers `true`, but keeps nothing',
  takesGiven: false,
  run: (setting) => withAgent(({ target }) => measure(setting, target)),
};

function entryOf(session: string, number: number): object {
  const Name = `${session}-${Math.floor(number / 3)}`;
  const Meta = { team: `team-${number % 100}` };
  switch (number % 3) {
    case 0:
      return { Kind: 'service-defaults', Name, Protocol: 'http', Meta };
    case 1:
      return {
        Kind: 'service-intentions',
        Name,
        Meta,
        Sources: [
          { Name: 'api', Action: 'allow', Description: 'the front' },
          { Name: '*', Permissions: [{ Action: 'allow', HTTP: { PathPrefix: '/open' } }] },
        ],
      };
    default:
      return {
        Kind: 'service-defaults',
        Name: `${Name}-outside`,
        Meta,
        Destination: { Addresses: ['10.0.0.1', 'db.example'], Port: 5432 },
      };
  }
}

async function measure(setting: Setting, target: Target): Promise<Results> {
  const applied = async (of: Target, session: string, entries: number = count) => {
    // Intentions with paths need a service with the protocol HTTP.
    const parts = [0, 1, 2].map((kind) => (number: number) => entryOf(session, number * 3 + kind));
    const startMs = performance.now();
    let answers = 0;
    for (const part of parts) {
      const next = series(Math.floor(entries / 3), (number) =>
        requestBytes(of, 'PUT', '/v1/config', JSON.stringify(part(number))),
      );
      answers += (await drive(of, next)).answers;
    }
    return (answers / (performance.now() - startMs)) * 1000;
  };
  const listed: number[] = [];
  const ours = async (run: number) => {
    const perSecond = await applied(target, `run${run}`);
    const startMs = performance.now();
    await ask(target, 'GET', '/v1/config/service-defaults');
    listed.push(performance.now() - startMs);
    return perSecond;
  };
  const results = await withBaseline(likeApply, async (baseline) => {
    setting.progress('warm-up');
    await applied(target, 'warm', count / 4);
    await applied(baseline.target, 'warm', count / 4);
    return alternate(setting, ours, (run) => applied(baseline.target, `run${run}`));
  });
  return {
    figures: [
      {
        name: 'applied',
        unit: '/s',
        ...results,
        target: { of: 'median', is: 'at least', value: 2000 },
      },
      { name: 'list of all defaults', unit: 'ms', ours: listed },
    ],
    notes: [
      'A third each: defaults of a service, its intentions with a permission about a path, and the ' +
        'defaults of one outside of the mesh. Each is checked against the others and durable when it is ' +
        'answered. The entries of earlier runs stay, and are in the list.',
    ],
  };
}

const likeApply = { headers: { 'content-type': 'application/json' }, body: 'true' };

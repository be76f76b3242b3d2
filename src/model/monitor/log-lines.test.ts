import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { limits } from '../limits.ts';
import type { LogLevel } from './log-level.ts';
import { monitored } from './log-lines.ts';
import { monitor } from './monitor.ts';

const startMs = Date.UTC(2026, 0, 1);

function newLog() {
  const world = new SimulatedWorld(1, startMs);
  const log = monitored(silentLog, world.clock);
  const leave = new AbortController();
  const follow = (level: LogLevel, isJson = false) => {
    const request = { level, isJson, isPlain: true };
    return monitor(log.lines, request, { ...world, signal: leave.signal });
  };
  return { world, log, follow, leave };
}

type Parts = AsyncGenerator<Uint8Array, void>;
const next = async (parts: Parts) => Buffer.from((await parts.next()).value!).toString();

test.each<[LogLevel, string[]]>([
  ['debug', ['DEBUG', 'INFO', 'WARN', 'ERROR']],
  ['info', ['INFO', 'WARN', 'ERROR']],
  ['warn', ['WARN', 'ERROR']],
  ['error', ['ERROR']],
])(
  'a reader at the level %s gets its lines, though the log itself writes none',
  async (level, shown) => {
    const { log, follow } = newLog();
    const parts = await follow(level);
    for (const each of ['debug', 'info', 'warn', 'error'] as const) log[each]({}, 'it happened');
    expect(await next(parts)).toBe(
      shown.map((name) => `2026-01-01T00:00:00.000Z [${name}] it happened\n`).join(''),
    );
  },
);

test('fields are shown behind the sentence, and of an error its message', async () => {
  const { log, follow } = newLog();
  const parts = await follow('info');
  const error = new Error('it broke');
  log.warn({ server: 'a-1', reason: 'no way', afterMs: 1.23456, error }, 'it stops');
  expect(await next(parts)).toBe(
    '2026-01-01T00:00:00.000Z [WARN] it stops: server=a-1 reason="no way" afterMs=1.235 error="it broke"\n',
  );
});

test('secrets are removed as in the log', async () => {
  const { log, follow } = newLog();
  const parts = await follow('info', true);
  log.info({ token: 'planted', request: { headers: { authorization: 'planted' } } }, 'seen');
  const line = await next(parts);
  expect(line).not.toContain('planted');
  expect(JSON.parse(line)).toMatchObject({ level: 30, msg: 'seen', token: '[secret]' });
});

test('lines beyond the buffer of a slow reader are dropped, counted, and told at their place', async () => {
  const { log, follow } = newLog();
  const parts = await follow('info');
  for (let count = 0; count < limits.monitor.linesMax + 3; count++) log.info({ count }, 'line');
  const lines = (await next(parts)).trimEnd().split('\n');
  expect(lines).toHaveLength(limits.monitor.linesMax + 1);
  expect(lines.at(-2)).toContain(`count=${limits.monitor.linesMax - 1}`);
  expect(lines.at(-1)).toContain(
    '[WARN] lines were dropped, since they were read too slowly: dropped=3',
  );
  log.info({}, 'again');
  expect(await next(parts)).toContain('again');
});

test('a few very long lines fill the buffer as well', async () => {
  const { log, follow } = newLog();
  const parts = await follow('info');
  const text = 'x'.repeat(limits.monitor.waitingBytesMax / 2);
  for (let count = 0; count < 3; count++) log.info({ count }, text);
  expect(await next(parts)).toContain('dropped=2');
});

test('readers have a limit, and one that has left makes room', async () => {
  const { log, follow, leave } = newLog();
  const other = new AbortController();
  const { monitor: bounds } = limits;
  await monitor(
    log.lines,
    { level: 'info', isJson: false, isPlain: true },
    {
      ...new SimulatedWorld(1),
      signal: other.signal,
    },
  );
  for (let count = 1; count < bounds.readersMax; count++) await follow('info');
  await expect(follow('info')).rejects.toMatchObject({ code: 'too-many-monitors', status: 429 });
  other.abort();
  await follow('info');
  leave.abort();
});

test('only while somebody reads at the level debug, lines of that level are wanted', async () => {
  const { log, follow, leave } = newLog();
  const told: boolean[] = [];
  log.lines.onVerbose((isVerbose) => told.push(isVerbose));
  expect(log.isLevelEnabled?.('debug')).toBe(false);
  await follow('info');
  expect(told).toEqual([]);
  await follow('debug');
  expect(log.isLevelEnabled?.('debug')).toBe(true);
  leave.abort();
  expect([log.isLevelEnabled?.('debug'), told]).toEqual([false, [true, false]]);
});

test('a silent log sends an empty frame from time to time', async () => {
  const { world, log, leave } = newLog();
  const request = { level: 'info', isJson: false, isPlain: false } as const;
  const parts = await monitor(log.lines, request, { ...world, signal: leave.signal });
  expect(await next(parts)).toBe('{}\n');
  const silent = next(parts);
  await world.advance(limits.monitor.heartbeatMs);
  expect(await silent).toBe('{}\n');
  log.info({}, 'news');
  const { Data } = JSON.parse(await next(parts)) as { Data: string };
  expect(Buffer.from(Data, 'base64').toString()).toContain('[INFO] news\n');
});

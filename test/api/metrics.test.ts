import { expect, test } from 'vitest';
import { startApi } from '../support/api.ts';

interface Metric {
  readonly name: string;
  readonly values: readonly { readonly value: number }[];
}

/** The sampler of the event loop is disabled, so it has no figures. */
const ofSampler = /^nodejs_eventloop_lag_(min|max|mean|stddev|p\d+)_seconds$/;
const busy = 'nodejs_eventloop_active_seconds_total';

test('the process reports the activity of its event loop, and no unmeasured figures', async () => {
  const { call } = await startApi();
  const asked = async () => (await call('GET', '/v1/metrics')).json as Metric[];
  const metrics = await asked();
  expect(metrics.map(({ name }) => name).filter((name) => ofSampler.test(name))).toEqual([]);
  const isFigure = ({ value }: { value: number }) => Number.isFinite(value);
  expect(metrics.filter(({ values }) => !values.every(isFigure))).toEqual([]);
  const busyIn = (found: readonly Metric[]) => {
    return found.find(({ name }) => name === busy)!.values.map(({ value }) => value);
  };
  const [before] = busyIn(metrics);
  expect(before).toBeGreaterThan(0);
  // The count continues from before.
  const after = busyIn(await asked());
  expect([after.length, after[0]! >= before!]).toEqual([1, true]);
});

test('the same figures in the Prometheus format', async () => {
  const { call } = await startApi();
  const { text, headers } = await call('GET', '/v1/metrics?format=prometheus');
  expect(headers['content-type']).toContain('text/plain');
  const named = text.split('\n').filter((line) => !line.startsWith('#') && line !== '');
  expect(named.filter((line) => line.startsWith(`${busy} `))).toHaveLength(1);
  expect(text).toMatch(new RegExp(`^# TYPE ${busy} counter$`, 'm'));
  expect(named.filter((line) => ofSampler.test(line.split(/[ {]/)[0]!))).toEqual([]);
  expect(named.filter((line) => !Number.isFinite(Number(line.split(' ').at(-1))))).toEqual([]);
});

test('requests are counted by route, method and status, and their durations by route', async () => {
  const { call } = await startApi();
  for (const job of ['a', 'b', 'c']) await call('GET', `/v1/job/${job}`);
  await call('GET', '/v1/job/a', { token: null });
  const { text } = await call('GET', '/v1/metrics?format=prometheus');
  const route = 'route="/v1/job/:job_id+"';
  const figure = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')
        .at(-1),
    );
  const counted = (status: number) =>
    figure(`roster_http_requests_total{${route},method="GET",status="${status}"}`);
  expect([counted(404), counted(403)]).toEqual([3, 1]);
  const seconds = 'roster_http_request_seconds';
  expect(text).toMatch(new RegExp(`^# TYPE ${seconds} histogram$`, 'm'));
  const beyond = figure(`${seconds}_bucket{le="+Inf",${route}}`);
  expect([beyond, figure(`${seconds}_count{${route}}`)]).toEqual([4, 4]);
  // Each bucket holds those below it.
  const [within, all] = ['0.0005', '300'].map((le) =>
    figure(`${seconds}_bucket{le="${le}",${route}}`),
  );
  expect(within! <= all! && all === 4).toBe(true);
});

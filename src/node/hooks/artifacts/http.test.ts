/** Downloads from honest and malicious servers. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../eventually.test-helper.ts';
import {
  dataDirectory,
  failure,
  filesIn,
  running,
  serve,
  sources,
  start,
} from './harness.test-helper.ts';

const body = Buffer.from('what was asked for\n'.repeat(1000));
const digest = (algorithm: string) => createHash(algorithm).update(body).digest('hex');
const sizesBelow = (directories: readonly string[]) =>
  directories.flatMap((directory) =>
    filesIn(directory).map((name) => statSync(join(directory, name)).size),
  );
const give = (response: ServerResponse, bytes: Uint8Array = body) => void response.end(bytes);

test('a file is downloaded, with its headers and the rest of its query', async () => {
  let seen: string[] = [];
  const address = await serve(({ url, headers }, response) => {
    seen = [url ?? '', headers['x-token'] as string, headers.authorization ?? ''];
    give(response);
  });
  const { root, driver } = await running(
    await start([
      {
        GetterSource: `${address.replace('//', '//u:p%20w@')}/a/file.bin?version=2&archive=false`,
        GetterHeaders: { 'X-Token': 'for-${meta.colour}' },
      },
    ]),
  );
  expect(readFileSync(join(root, 'local/file.bin')).equals(body)).toBe(true);
  expect(seen).toEqual(['/a/file.bin?version=2', 'for-blue', `Basic ${btoa('u:p w')}`]);
  expect(driver.started).toHaveLength(1);
});

describe('checksums', () => {
  test.each(['md5', 'sha1', 'sha256', 'sha512'])('by %s are demanded', async (algorithm) => {
    const address = await serve((_request, response) => give(response));
    const right = digest(algorithm);
    const asked = (checksum: string) => ({
      GetterSource: `${address}/file`,
      GetterOptions: { checksum: `${algorithm}:${checksum}` },
    });
    await running(await start([asked(right.toUpperCase())]));
    const wrong = `${right.slice(1)}${right[0] === '0' ? '1' : '0'}`;
    const why = await failure(await start([asked(wrong)]));
    expect(why).toBe(
      `failed to fetch "${address}/file": its checksum is ${algorithm}:${right}, and ${algorithm}:${wrong} was asked for`,
    );
  });

  test('are of the downloaded file, and are checked before unpacking', async () => {
    const address = await serve((_request, response) => give(response, Buffer.from('no archive')));
    const checksum = `sha256:${'0'.repeat(64)}`;
    const GetterSource = `${address}/file.tgz?checksum=${checksum}`;
    expect(await failure(await start([{ GetterSource }]))).toMatch(/its checksum is/);
  });
});

describe('redirects', () => {
  test('are followed, and pass no header to another server', async () => {
    const seen: unknown[] = [];
    const other = await serve(({ headers }, response) => {
      seen.push(headers['x-token']);
      give(response);
    });
    const address = await serve((request, response) => {
      seen.push(request.headers['x-token']);
      const location = request.url === '/file' ? '/next' : `${other}/end`;
      response.writeHead(302, { location }).end();
    });
    const GetterHeaders = { 'x-token': 'secret' };
    const { root } = await running(
      await start([{ GetterSource: `${address}/file`, GetterHeaders }]),
    );
    expect(seen).toEqual(['secret', 'secret', undefined]);
    expect(filesIn(join(root, 'local'))).toEqual(['file']);
  });

  test.each([
    ['/again', /redirects more than 10 times/],
    ['file:///etc/passwd', /redirects from http: to file:/],
    ['', /redirects to nowhere/],
  ])('to %j come to an end', async (location, why) => {
    const address = await serve((_request, response) => {
      response.writeHead(307, location === '' ? {} : { location }).end();
    });
    expect(await failure(await start([{ GetterSource: `${address}/file` }]))).toMatch(why);
  });
});

describe('a failed download', () => {
  test.each([
    [404, 'Not Restarting'],
    [403, 'Not Restarting'],
    [503, 'Restarting'],
    [429, 'Restarting'],
  ])('with the answer %i is followed by %s', async (status, type) => {
    const address = await serve(
      (_request, response) => void response.writeHead(status).end('secret'),
    );
    const RestartPolicy = { Attempts: 1, Interval: 60e9, Delay: 60e9, Mode: 'fail' };
    const started = await start([{ GetterSource: `${address}/file?token=secret` }], {
      task: { RestartPolicy },
    });
    const sentence = `failed to fetch "${address}/file": the server answered ${status}`;
    expect(await failure(started)).toBe(sentence);
    expect(started.events().at(-1)!.Type).toBe(type);
    expect(JSON.stringify(started.runner.report)).not.toContain('secret');
  });

  test('is repeated by the restart policy, without fetching present artifacts again', async () => {
    const asked: string[] = [];
    const address = await serve(({ url }, response) => {
      asked.push(url!);
      if (url === '/bad' && asked.filter((one) => one === url).length === 1)
        response.writeHead(500);
      give(response);
    });
    const RestartPolicy = { Attempts: 2, Interval: 60e9, Delay: 0, Mode: 'fail' };
    const files = [{ GetterSource: `${address}/bad` }, { GetterSource: `${address}/good` }];
    const started = await start(files, {
      task: { RestartPolicy, Config: { run_for: '1ms', exit_code: 1 } },
    });
    await eventually(() => expect(started.state()).toMatchObject({ State: 'dead', Failed: true }));
    // The first attempt failed, the second became the first run, and the third the second run.
    expect(started.driver.started).toHaveLength(2);
    expect(asked.filter((one) => one === '/bad')).toHaveLength(2);
    expect(asked.length).toBeLessThanOrEqual(4);
  });

  test('a server that does not answer', async () => {
    const why = await failure(await start([{ GetterSource: 'http://127.0.0.1:1/file' }]));
    expect(why).toMatch(/broke off: .*ECONNREFUSED/);
  });
});

describe('a malicious server', () => {
  test('sends without end', async () => {
    const address = await serve((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(body));
      };
      response.on('drain', more);
      more();
    });
    const settings = { downloadBytesMax: 1 << 20 };
    const why = await failure(await start([{ GetterSource: `${address}/file` }], { settings }));
    expect(why).toMatch(/it is larger than 1048576 bytes/);
  });

  test('promises more than is allowed', async () => {
    const address = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 1e12 }).flushHeaders();
    });
    const why = await failure(await start([{ GetterSource: `${address}/file` }]));
    expect(why).toMatch(/it is larger than 100000000000 bytes/);
  });

  test('hangs, or sends very slowly', async () => {
    const settings = { httpTimeoutMs: 300 };
    const hanging = await serve(() => {});
    const dripping = await serve((_request, response) => {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    });
    for (const address of [hanging, dripping]) {
      const why = await failure(await start([{ GetterSource: `${address}/file` }], { settings }));
      expect(why).toMatch(/the download was not done within 0.3 s/);
    }
  });

  test('breaks off before the length that it promised', async () => {
    const address = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': body.length }).write(body.subarray(0, 100));
      setImmediate(() => response.destroy());
    });
    const why = await failure(await start([{ GetterSource: `${address}/file` }]));
    expect(why).toMatch(/the download broke off/);
  });

  test('a stopped task does not wait for a download, and nothing is left', async () => {
    const address = await serve((_request, response) => {
      response.write(body);
    });
    const started = await start([{ GetterSource: `${address}/file` }]);
    await eventually(() => expect(started.staged()).toHaveLength(1));
    await started.runner.stop();
    expect(started.state()).toMatchObject({ State: 'dead', Failed: false });
    await eventually(() => expect(started.staged()).toEqual([]));
    expect(filesIn(join(started.root, 'local'))).toEqual([]);
  });
});

test('a broken download goes on at the same place, if the file is the same', async () => {
  const ranges: (string | undefined)[] = [];
  let breakOff = () => {};
  const address = await serve(({ headers }, response) => {
    ranges.push(headers.range);
    const from = Number(/bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
    const rest = body.subarray(from);
    const head = { etag: '"v1"', 'content-length': rest.length };
    if (from > 0) {
      expect(headers['if-range']).toBe('"v1"');
      const range = `bytes ${from}-${body.length - 1}/${body.length}`;
      response.writeHead(206, { ...head, 'content-range': range }).end(rest);
      return;
    }
    response.writeHead(200, head).write(rest.subarray(0, 5000));
    breakOff = () => response.destroy();
  });
  const checksum = `sha256:${digest('sha256')}`;
  const started = await start([{ GetterSource: `${address}/file`, GetterOptions: { checksum } }]);
  // Before that, bytes that arrive together with the end may be lost.
  await eventually(() => expect(sizesBelow(started.staging())).toContain(5000));
  breakOff();
  const { root } = await running(started);
  expect(readFileSync(join(root, 'local/file')).equals(body)).toBe(true);
  expect(ranges).toEqual([undefined, 'bytes=5000-']);
});

test('only artifacts in directories that may be in memory are fetched again for the next agent', async () => {
  const asked: string[] = [];
  const address = await serve(({ url }, response) => {
    asked.push(url!);
    give(response);
  });
  const files = [
    { GetterSource: `${address}/key`, RelativeDest: 'secrets/' },
    { GetterSource: `${address}/deep`, RelativeDest: '${ROSTER_SECRETS_DIR}/in/here/' },
    { GetterSource: `${address}/own`, RelativeDest: 'private/' },
    { GetterSource: `${address}/local`, RelativeDest: 'local/secrets/' },
  ];
  const RestartPolicy = { Attempts: 1, Interval: 60e9, Delay: 0, Mode: 'fail' };
  const wanted = {
    directory: mkdtempSync(join(dataDirectory, 'kept-')),
    task: { RestartPolicy, Config: { run_for: '1ms', exit_code: 1 } },
  };
  const first = await start(files, wanted);
  await eventually(() => expect(first.state()).toMatchObject({ State: 'dead', Failed: true }));
  expect(first.driver.started).toHaveLength(2);
  expect(asked.splice(0).sort()).toEqual(['/deep', '/key', '/local', '/own']);
  await first.runner.leave();
  for (const name of ['secrets', 'private']) {
    rmSync(join(first.root, name), { recursive: true });
  }
  const next = await running(await start(files, { directory: wanted.directory }));
  expect(next.root).toBe(first.root);
  expect(asked.sort()).toEqual(['/deep', '/key', '/own']);
  expect(filesIn(join(next.root, 'secrets'))).toEqual(['in/', 'in/here/', 'in/here/deep', 'key']);
});

test('kinds of sources that the operator does not allow are not fetched', async () => {
  writeFileSync(join(sources, 'a'), 'a');
  const why = await failure(
    await start([{ GetterSource: join(sources, 'a') }], { settings: { sources: ['https'] } }),
  );
  expect(why).toMatch(/this node fetches nothing by "file"/);
});

test('no more than four downloads of a node run at once', async () => {
  let now = 0;
  let most = 0;
  let asked = 0;
  const waiting: ServerResponse[] = [];
  const address = await serve((_request, response) => {
    most = Math.max(most, ++now);
    waiting.push(response);
    // Downloads are released together once the allowed number, or all the rest, have arrived.
    if (++asked < 10 && waiting.length < 4) return;
    setTimeout(() => {
      for (const one of waiting.splice(0)) {
        now--;
        give(one);
      }
    }, 30);
  });
  const files = Array.from({ length: 10 }, (_, index) => ({
    GetterSource: `${address}/f${index}`,
  }));
  const { root } = await running(await start(files));
  expect(filesIn(join(root, 'local'))).toHaveLength(10);
  expect(most).toBe(4);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { realWorld } from '../../../base/ports-real.ts';
import { eventually } from '../../eventually.test-helper.ts';
import { ImageRegistry } from './image-registry.test-helper.ts';
import { Images } from './images.ts';
import { Podman } from './podman.test-helper.ts';
import { Runtime } from './runtime.ts';

let podman: Podman;
let registry: ImageRegistry;
let address: string;
let runtime: Runtime;
beforeAll(async () => {
  podman = new Podman();
  registry = new ImageRegistry(readFileSync(join(podman.directory, 'image.tar')));
  address = await registry.listen();
  podman.useRegistry(address);
  await podman.start();
  runtime = new Runtime({ socket: podman.socket, environment: {}, userId: 0 }, realWorld);
});
afterAll(async () => {
  runtime.close();
  registry.close();
  await podman.close();
});

let told: string[];
beforeEach(() => {
  told = [];
  registry.asked.length = 0;
  registry.wanted = '';
  podman.run('rmi', '-f', '-i', `${address}/tiny:1`, `${address}/tiny:latest`);
});

const wish = (image: string, fields: object = {}) => ({
  image: `${address}/${image}`,
  isForced: false,
  auth: undefined,
  timeoutMs: 20_000,
  tell: (sentence: string) => told.push(sentence),
  ...fields,
});
const newImages = (delayMs?: number) => new Images(runtime, realWorld, delayMs);
const isHere = (image: string) => podman.run('images', '-q', `${address}/${image}`) !== '';
const manifests = () => registry.asked.filter((path) => path.includes('manifests/1')).length;

test('tasks that want the same image share one download, and the next needs none', async () => {
  const images = newImages();
  const { promise, resolve } = Promise.withResolvers<void>();
  registry.held = promise;
  const both = Promise.all([images.ensure(wish('tiny:1')), images.ensure(wish('tiny:1'))]);
  await eventually(() => expect(told).toHaveLength(2));
  resolve();
  await both;
  expect(told).toEqual(Array(2).fill(`Downloading image ${address}/tiny:1`));
  expect([isHere('tiny:1'), manifests()]).toEqual([true, 1]);
  await images.ensure(wish('tiny:1'));
  expect(manifests()).toBe(1);
  await images.ensure(wish('tiny:1', { isForced: true }));
  expect(manifests()).toBe(2);
});

test('an image that does not exist fails finally', async () => {
  await expect(newImages().ensure(wish('tiny:2'))).rejects.toMatchObject({
    message: expect.stringMatching(/tiny:2 could not be downloaded: .*manifest unknown/),
    recoverable: false,
  });
});

test('an image that this user may not pull fails finally, and another user may pull it', async () => {
  registry.wanted = 'ann:s3cret';
  const auth = { username: 'ann', password: 'wr0ng', serveraddress: '' };
  const failure = await newImages()
    .ensure(wish('tiny:1', { auth }))
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ recoverable: false });
  expect(String(failure)).not.toContain('wr0ng');
  await newImages().ensure(wish('tiny:1', { auth: { ...auth, password: 's3cret' } }));
  expect(isHere('tiny:1')).toBe(true);
});

test('a moving tag is pulled again, and the present image is used when the registry does not answer', async () => {
  const images = newImages();
  await images.ensure(wish('tiny'));
  registry.wanted = 'nobody:knows';
  await images.ensure(wish('tiny'));
  expect(told.at(-1)).toMatch(/could not be downloaded: .*; the one that is here is used$/);
  await expect(images.ensure(wish('tiny', { isForced: true }))).rejects.toThrow('could not');
});

test('an image is removed after a while only if it was pulled here and is unused', async () => {
  const images = newImages(50);
  const image = `${address}/tiny:1`;
  await images.ensure(wish('tiny:1'));
  images.use(image);
  images.use(image);
  images.release(image);
  images.release(image);
  await eventually(() => expect(isHere('tiny:1')).toBe(false));
  images.use('localhost/tiny:1');
  images.release('localhost/tiny:1');
  expect(podman.run('images', '-q', 'localhost/tiny:1')).not.toBe('');
});

test('a download that takes too long is given up, and can be repeated', async () => {
  await expect(newImages().ensure(wish('tiny:1', { timeoutMs: 0 }))).rejects.toMatchObject({
    message: `the image ${address}/tiny:1 was not downloaded within 0 ms`,
    recoverable: true,
  });
});

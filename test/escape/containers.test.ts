import { afterAll } from 'vitest';
import { Podman, testImage } from '../../src/node/testing/podman.ts';
import { escapes } from './escapes.ts';

let podman: Podman | undefined;
afterAll(() => podman?.close());

escapes({ driver: 'docker', agent: 'root' }, async () => {
  podman = new Podman(['perl', 'ln', 'cp', 'mv']);
  await podman.start();
  return { container: { socket: podman.socket, image: testImage } };
});

/** The table in containers, with a runtime of the agent's user. */
import { afterAll } from 'vitest';
import { Podman, testImage } from '../../src/node/drivers/docker/podman.test-helper.ts';
import type { SystemUser } from '../../src/node/system-user.ts';
import type { AgentUser } from './attempt.ts';
import { escapes } from './escapes.ts';

export function inPodman(agent: AgentUser, user?: SystemUser): void {
  let podman: Podman | undefined;
  afterAll(() => podman?.close());
  escapes({ driver: 'docker', agent }, async () => {
    podman = new Podman(['perl', 'ln', 'cp', 'mv'], user);
    await podman.start();
    return { container: { socket: podman.socket, image: testImage } };
  });
}

import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { startApi, type TestApi } from './api.ts';

/**
 * Ends the server as a crash does, with what is on its disk, and starts another one there. What is
 * under way is lost; `meanwhile` is while none runs.
 */
export async function restartServer(
  { server, world, disk }: TestApi,
  meanwhile: (world: SimulatedWorld) => Promise<void> = async () => {},
): Promise<TestApi> {
  server.stop();
  await meanwhile(world);
  return startApi({ world, disk });
}

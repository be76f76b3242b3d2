import type { SimulatedWorld } from '../../src/base/ports-simulated.ts';
import { startApi, type TestApi } from './api.ts';

/**
 * Ends the server as a crash does, and starts another on the same disk. Work under way is lost. `meanwhile`
 * runs while no server does.
 */
export async function restartServer(
  { server, world, disk }: TestApi,
  meanwhile: (world: SimulatedWorld) => Promise<void> = async () => {},
): Promise<TestApi> {
  server.stop();
  await meanwhile(world);
  return startApi({ world, disk });
}

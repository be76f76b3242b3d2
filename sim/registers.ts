/** Users of registers on machines of their own. */
import type { Random } from '../src/base/ports.ts';
import type { SimulatedWorld } from '../src/base/ports-simulated.ts';
import type { Network } from './network.ts';
import { Process } from './process.ts';
import { RegisterUsers } from './register-users.ts';
import { rootToken } from './server.ts';

const patienceMs = 20_000;

export interface RegistersOptions {
  readonly world: SimulatedWorld;
  readonly network: Network;
  readonly random: Random;
  readonly fault: (sentence: string) => void;
}

export function simulatedRegisters(options: RegistersOptions): RegisterUsers {
  const { world, network, random, fault } = options;
  const process = new Process(world);
  return new RegisterUsers({
    users: 3,
    registers: ['one', 'two'],
    pauseMaxMs: 4000,
    random,
    fault,
    after: (delayMs, run) => void process.world.timers.after(delayMs, run),
    ask: async (user, request) => {
      const call = { ...request, token: rootToken, patienceMs };
      try {
        return await network.call(process, `user ${user} of registers`, call);
      } catch {
        return undefined;
      }
    },
  });
}

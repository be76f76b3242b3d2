/** The settings of a node's operator. */
import { capabilitiesIn } from '../../src/node/drivers/isolation/capabilities.ts';
import type { Operator } from './attempt.ts';
import type { Surroundings } from './camp.ts';
import type { NodeInput } from './node-main.ts';

type Settings = Pick<NodeInput, 'isolation' | 'docker' | 'drivers'>;

const lenient = { allowsRoot: true, allowsHostPid: true, allowsHostIpc: true };
const allCapabilities = capabilitiesIn('ffffffffffffffff');

export function settingsOf(operator: Operator, { container }: Surroundings): Settings {
  const socket = container === undefined ? {} : { socket: container.socket };
  const settings: Readonly<Record<Operator, Settings>> = {
    strict: { isolation: {}, docker: {}, drivers: {} },
    lenient: { isolation: lenient, docker: {}, drivers: {} },
    reckless: {
      isolation: { ...lenient, allowedCapabilities: allCapabilities },
      docker: { allowVolumes: true, allowPrivileged: true, allowedCapabilities: ['all'] },
      drivers: { allow: ['docker', 'exec', 'raw_exec'] },
    },
  };
  const { isolation, docker, drivers } = settings[operator];
  return { isolation, drivers, docker: { ...docker, ...socket } };
}

/** What the operator of a node allows. */
import { capabilitiesIn } from '../../src/node/drivers/isolation/capabilities.ts';
import type { Operator } from './attempt.ts';
import type { Surroundings } from './camp.ts';
import type { NodeInput } from './node-main.ts';

type Settings = Pick<NodeInput, 'isolation' | 'docker'>;

const lenient = { allowsRoot: true, allowsHostPid: true, allowsHostIpc: true };
const allCapabilities = capabilitiesIn('ffffffffffffffff');

export function settingsOf(operator: Operator, { container }: Surroundings): Settings {
  const socket = container === undefined ? {} : { socket: container.socket };
  const settings: Readonly<Record<Operator, Settings>> = {
    strict: { isolation: {}, docker: {} },
    lenient: { isolation: lenient, docker: {} },
    reckless: {
      isolation: { ...lenient, allowedCapabilities: allCapabilities },
      docker: { allowVolumes: true, allowPrivileged: true, allowedCapabilities: ['all'] },
    },
  };
  const { isolation, docker } = settings[operator];
  return { isolation, docker: { ...docker, ...socket } };
}

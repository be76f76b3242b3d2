/** Devices for the brute-force scheduler: tries every way to give out pieces. */
import type { AllocatedResources } from '../../model/allocation/allocated-resources.ts';
import type { Node } from '../../model/node/node.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { compileDeviceRule } from '../fitting/device-values.ts';

export const piecesIn = ({ Tasks }: AllocatedResources): readonly string[] =>
  Object.values(Tasks).flatMap((task) =>
    (task.Devices ?? []).flatMap(({ Vendor, Type, Name, DeviceIDs }) =>
      DeviceIDs.map((id) => `${Vendor}/${Type}/${Name} ${id}`),
    ),
  );

const requestsOf = (group: TaskGroup) =>
  group.Tasks.flatMap((task) => task.Resources.Devices ?? []);

export const hasDeviceAffinities = (group: TaskGroup): boolean =>
  requestsOf(group).some((request) => (request.Affinities ?? []).length > 0);

/**
 * The greatest share of the affinities' weight that can be matched; `undefined`: too few pieces.
 */
export function bestDevices(
  { NodeResources }: Node,
  group: TaskGroup,
  busy: ReadonlySet<string>,
): number | undefined {
  const requests = requestsOf(group);
  const pieces = NodeResources.Devices.flatMap((device) =>
    device.Instances.filter(({ Healthy }) => Healthy)
      .map(({ ID }) => ({ device, id: ID, ids: device.Instances.map((one) => one.ID) }))
      .filter(({ id }) => !busy.has(`${device.Vendor}/${device.Type}/${device.Name} ${id}`)),
  );
  type Piece = (typeof pieces)[number];
  type Rule = Parameters<typeof compileDeviceRule>[0];
  const holds = (rule: Rule, { device, id, ids }: Piece): boolean => {
    const test = compileDeviceRule(rule);
    if (rule.LTarget !== '${device.ids}') return test(device, []);
    if (!rule.Operand.startsWith('set_')) return test(device, [id]);
    return test(device, ids) && rule.RTarget.split(',').includes(id);
  };
  const worth = requests.map(({ Name, Constraints, Affinities }) =>
    pieces.map((piece) => {
      const { Vendor, Type, Name: model } = piece.device;
      if (![Type, `${Vendor}/${Type}`, `${Vendor}/${Type}/${model}`].includes(Name))
        return undefined;
      if (!(Constraints ?? []).every((rule) => holds(rule, piece))) return undefined;
      const matched = (Affinities ?? []).filter((rule) => holds(rule, piece));
      return matched.reduce((sum, { Weight }) => sum + Weight, 0);
    }),
  );
  const whole = requests
    .flatMap(({ Affinities }) => Affinities ?? [])
    .reduce((sum, { Weight }) => sum + Math.abs(Weight), 0);
  /** Tries piece by piece for each request, keeping the pieces of a request in order. */
  const best = (request: number, given: readonly number[], used: readonly number[]): number => {
    if (request === requests.length) return 0;
    const { Count } = requests[request]!;
    if (given.length === Count) {
      const sum = given.reduce((total, piece) => total + worth[request]![piece]!, 0);
      return sum / Count + best(request + 1, [], used);
    }
    let most = Number.NEGATIVE_INFINITY;
    for (let piece = (given.at(-1) ?? -1) + 1; piece < pieces.length; piece++) {
      if (used.includes(piece) || worth[request]![piece] === undefined) continue;
      most = Math.max(most, best(request, [...given, piece], [...used, piece]));
    }
    return most;
  };
  const most = best(0, [], []);
  return most === Number.NEGATIVE_INFINITY ? undefined : whole === 0 ? 0 : most / whole;
}

/**
 * The devices of a node: the pieces of hardware that suit a group's tasks, their holders, and the
 * choice for an allocation.
 * Source: docs/behaviour/job-specification.md#resources.
 *
 * 1. Two allocations never share a piece, and only healthy pieces are given.
 * 2. A request gets exactly as many pieces as it asks for, of one or several suitable makes.
 * 3. All requests of a group are served together, by the assignment with the greatest weight of
 *    matching affinities of all that serve every request.
 */
import type {
  AllocatedDevice,
  AllocatedResources,
} from '../../model/allocation/allocated-resources.ts';
import { deviceKey, type NodeDevice } from '../../model/node/device.ts';
import type { Node } from '../../model/node/node.ts';
import type { DeviceRequest } from '../../model/task/resources.ts';
import type { TaskGroup } from '../../model/task-group/task-group.ts';
import { type Asker, deal, worthOf } from './device-match.ts';
import { compileDeviceRule, type DeviceRule, deviceTarget } from './device-values.ts';

/** A task's device request. */
export interface DeviceAsk {
  readonly task: string;
  readonly name: string;
  readonly count: number;
  /** Sum of the absolute affinity weights; 0: there are none. */
  readonly weight: number;
  /** Whether a make suits, by the attributes that all nodes of a computed class share. */
  readonly suits: (device: NodeDevice) => boolean;
  /** Gives the worth of a piece by its id; `undefined`: the make does not suit. */
  readonly pieceWorth: (device: NodeDevice) => ((id: string) => number | undefined) | undefined;
}

export const deviceAsks = (group: TaskGroup): readonly DeviceAsk[] =>
  group.Tasks.flatMap((task) =>
    (task.Resources.Devices ?? []).map((request) => askOf(task.Name, request)),
  );

function askOf(task: string, request: DeviceRequest): DeviceAsk {
  const { Name, Count } = request;
  const constraints = request.Constraints ?? [];
  const affinities = request.Affinities ?? [];
  const isNamed = nameTest(Name);
  const shared = constraints.filter((rule) => !isOfPieces(rule) && !isUnique(rule)).map(makeTest);
  const unique = constraints.filter((rule) => !isOfPieces(rule) && isUnique(rule)).map(makeTest);
  const ofPieces = constraints.filter(isOfPieces).map(pieceTest);
  const weights = affinities.map((rule) => ({
    weight: rule.Weight,
    test: isOfPieces(rule) ? pieceTest(rule) : makeTest(rule),
  }));
  const suits = (device: NodeDevice) =>
    isNamed(device) && shared.every((holds) => holds(device, ''));
  return {
    task,
    name: Name,
    count: Count,
    suits,
    weight: affinities.reduce((sum, { Weight }) => sum + Math.abs(Weight), 0),
    pieceWorth: (device) => {
      if (!suits(device) || !unique.every((holds) => holds(device, ''))) return undefined;
      return (id) =>
        ofPieces.every((holds) => holds(device, id))
          ? weights.reduce((sum, { weight, test }) => sum + (test(device, id) ? weight : 0), 0)
          : undefined;
    },
  };
}

/** `type`, `vendor/type` or `vendor/type/name`. */
function nameTest(name: string): (device: NodeDevice) => boolean {
  const parts = name.split('/');
  if (parts.length === 1) return ({ Type }) => Type === name;
  const [vendor, type, ...model] = parts;
  const isModel = (Name: string) => model.length === 0 || Name === model.join('/');
  return ({ Vendor, Type, Name }) => Vendor === vendor && Type === type && isModel(Name);
}

type Test = (device: NodeDevice, id: string) => boolean;

/** Whether the rule is about single pieces. */
const isOfPieces = ({ LTarget, RTarget }: DeviceRule): boolean =>
  deviceTarget(LTarget) === 'ids' || deviceTarget(RTarget) === 'ids';

/** Whether nodes of one computed class may differ in the rule's attributes. */
const isUnique = ({ LTarget, RTarget }: DeviceRule): boolean =>
  [LTarget, RTarget].some((target) => deviceTarget(target)?.startsWith('attr.unique.') === true);

function makeTest(rule: DeviceRule): Test {
  const holds = compileDeviceRule(rule);
  return (device) => holds(device, []);
}

const setOperands = new Set(['set_contains', 'set_contains_all', 'set_contains_any']);

/**
 * A set operand names the pieces allowed, and fails unless the make has them; any other operand is
 * applied to the id of each piece.
 */
function pieceTest(rule: DeviceRule): Test {
  const holds = compileDeviceRule(rule);
  if (!setOperands.has(rule.Operand) || deviceTarget(rule.LTarget) !== 'ids') {
    return (device, id) => holds(device, [id]);
  }
  const named = new Set(rule.RTarget.split(',').map((id) => id.trim()));
  return (device, id) =>
    named.has(id) &&
    holds(
      device,
      device.Instances.map(({ ID }) => ID),
    );
}

/** Pieces of a make that have the same worth for every request. */
interface Pool {
  readonly device: NodeDevice;
  readonly worth: readonly (number | undefined)[];
  readonly ids: string[];
}

export interface AssignedDevices {
  /** By task. */
  readonly tasks: ReadonlyMap<string, readonly AllocatedDevice[]>;
  /** The matched share of the affinity weights; `undefined`: there are no affinities. */
  readonly score: number | undefined;
}

/** Chooses pieces for all requests without taking them, or names a request that cannot be served. */
export function assignDevices(
  node: Node,
  asks: readonly DeviceAsk[],
  isFree: (piece: string) => boolean,
): AssignedDevices | string {
  const pools = poolsOf(node, asks, isFree);
  const sizes = pools.map(({ ids }) => ids.length);
  const askers = asks.map(({ count }, position): Asker => {
    const worth = pools.map((pool) => pool.worth[position]);
    return { count, worth: worth.map((one) => (one === undefined ? one : one / count)) };
  });
  const dealt = deal(askers, sizes);
  if (dealt === undefined) return shortOf(asks, askers, sizes);
  const tasks = new Map<string, AllocatedDevice[]>();
  const given = pools.map(() => 0);
  let matched = 0;
  for (const [position, { task, count }] of asks.entries()) {
    const worth = pools.map((pool) => pool.worth[position]);
    matched += worthOf({ count, worth }, dealt[position]!) / count;
    const devices = tasks.get(task) ?? [];
    tasks.set(task, devices);
    for (const [pool, pieces] of dealt[position]!.entries()) {
      if (pieces === 0) continue;
      const { device, ids } = pools[pool]!;
      const DeviceIDs = ids.slice(given[pool], given[pool]! + pieces);
      given[pool]! += pieces;
      devices.push({ Vendor: device.Vendor, Type: device.Type, Name: device.Name, DeviceIDs });
    }
  }
  const whole = asks.reduce((sum, { weight }) => sum + weight, 0);
  return { tasks, score: whole === 0 ? undefined : matched / whole };
}

/** The first request that cannot be served together with the requests before it. */
function shortOf(asks: readonly DeviceAsk[], askers: readonly Asker[], sizes: readonly number[]) {
  for (const [position, { name }] of asks.entries()) {
    if (deal(askers.slice(0, position + 1), sizes) === undefined) return name;
  }
  return '';
}

function poolsOf(
  { NodeResources }: Node,
  asks: readonly DeviceAsk[],
  isFree: (piece: string) => boolean,
): readonly Pool[] {
  const pools: Pool[] = [];
  for (const device of NodeResources.Devices) {
    const worths = asks.map((ask) => ask.pieceWorth(device));
    if (worths.every((worthOfPiece) => worthOfPiece === undefined)) continue;
    const ofDevice = new Map<string, Pool>();
    for (const { ID, Healthy } of device.Instances) {
      if (!Healthy || !isFree(pieceOf(device, ID))) continue;
      const worth = worths.map((worthOfPiece) => worthOfPiece?.(ID));
      const key = worth.join();
      const pool = ofDevice.get(key) ?? { device, worth, ids: [] };
      ofDevice.set(key, pool);
      pool.ids.push(ID);
    }
    pools.push(...ofDevice.values());
  }
  return pools;
}

const pieceOf = (device: Pick<NodeDevice, 'Vendor' | 'Type' | 'Name'>, id: string): string =>
  `${deviceKey(device)}\0${id}`;

/** All device pieces of an allocation. */
export function piecesOf({ Tasks }: AllocatedResources): readonly string[] {
  const pieces: string[] = [];
  for (const { Devices } of Object.values(Tasks)) {
    for (const device of Devices ?? []) {
      for (const id of device.DeviceIDs) pieces.push(pieceOf(device, id));
    }
  }
  return pieces;
}

/** The pieces that suit some request, whether held or free. */
export const suitablePieces = (
  { NodeResources }: Node,
  asks: readonly DeviceAsk[],
): ReadonlySet<string> =>
  new Set(
    NodeResources.Devices.flatMap((device) => {
      const worths = asks.flatMap((ask) => ask.pieceWorth(device) ?? []);
      return device.Instances.flatMap(({ ID, Healthy }) =>
        Healthy && worths.some((worthOfPiece) => worthOfPiece(ID) !== undefined)
          ? [pieceOf(device, ID)]
          : [],
      );
    }),
  );

/** All healthy pieces of the node. */
export const healthyPieces = ({ NodeResources }: Node): ReadonlySet<string> =>
  new Set(
    NodeResources.Devices.flatMap((device) =>
      device.Instances.flatMap(({ ID, Healthy }) => (Healthy ? [pieceOf(device, ID)] : [])),
    ),
  );

/** A request that no make on the node suits, by the attributes that its computed class shares. */
export const unsuitableDevice = (
  { NodeResources }: Node,
  asks: readonly DeviceAsk[],
): string | undefined => asks.find((ask) => !NodeResources.Devices.some(ask.suits))?.name;

/** A request for which the node has too few pieces even when all are free. */
export function scarceDevice(node: Node, asks: readonly DeviceAsk[]): string | undefined {
  const assigned = assignDevices(node, asks, () => true);
  return typeof assigned === 'string' ? assigned : undefined;
}

/** The template with its devices. */
export function withDevices(
  template: AllocatedResources,
  { tasks }: AssignedDevices,
): AllocatedResources {
  const Tasks = Object.entries(template.Tasks).map(([name, task]) => {
    const Devices = tasks.get(name);
    return [name, Devices === undefined ? task : { ...task, Devices }] as const;
  });
  return { ...template, Tasks: Object.fromEntries(Tasks) };
}

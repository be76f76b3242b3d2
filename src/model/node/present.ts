import { instantText } from '../../base/instant.ts';
import { FullList, FullMapOf, type Model, Moment, Type } from '../schema.ts';
import { DriverInfoSchema, type Node, NodeEventSchema, NodeSchema } from './node.ts';

const { SecretHash: _, ...shown } = NodeSchema.properties;

/** A node as it is shown. */
export const PresentedNodeSchema = Type.Object({
  ...shown,
  Drivers: FullMapOf(
    Type.Object({
      ...DriverInfoSchema.properties,
      UpdateTime: Moment('The time of the last change of status.'),
    }),
  ),
  Events: FullList(
    Type.Object({ ...NodeEventSchema.properties, Timestamp: Moment('The time of the event.') }),
  ),
});
export interface PresentedNode extends Model<typeof PresentedNodeSchema> {}

export function presentNode(node: Node): PresentedNode {
  const { SecretHash: _, ...presented } = node;
  return {
    ...presented,
    Drivers: presentDrivers(node),
    Events: node.Events.map((event) => ({ ...event, Timestamp: instantText(event.Timestamp) })),
  };
}

export const presentDrivers = ({ Drivers }: Pick<Node, 'Drivers'>): PresentedNode['Drivers'] =>
  Object.fromEntries(
    Object.entries(Drivers).map(([name, driver]) => [
      name,
      { ...driver, UpdateTime: instantText(driver.UpdateTime) },
    ]),
  );

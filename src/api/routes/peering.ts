import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import {
  type EstablishRequest,
  EstablishRequestSchema,
  PeeringSchema,
  PeeringTokenAnswerSchema,
  type PeeringTokenRequest,
  PeeringTokenRequestSchema,
  type StoredPeering,
} from '../../model/peering/peering.ts';
import { type Access, type Permission, resourceAccess } from '../../model/permission/permission.ts';
import { type Input as Given, Type } from '../../model/schema.ts';
import { peeringNamed } from '../../server/peering/context.ts';
import type { Server } from '../../server/server.ts';
import { peerings } from '../../state/tables.ts';
import { type Input, listRoute, type Route, readRoute, writeRoute } from '../route.ts';

const [family, noun] = ['registry', 'peering'] as const;
const path = '/v1/peering/:name';

const may =
  (access: Access) =>
  ({ partition }: Pick<Input, 'partition'>): Permission =>
    resourceAccess('peering', access, { partition });

/** Names are lower case; a path may be written in any. */
const nameIn = ({ parameters }: Pick<Input, 'parameters'>): string =>
  parameters.name!.toLowerCase();

/** Source: docs/contract/peering.md#endpoints. */
export function peeringRoutes({ peerings: service }: Server): Route[] {
  return [
    writeRoute({
      ...{ method: 'POST', path: '/v1/peering/token', noun, family },
      summary: 'Make a token with which another cluster can peer with this one',
      body: { schema: PeeringTokenRequestSchema, unknown: 'refuse', faults: 'later' },
      answer: PeeringTokenAnswerSchema,
      permission: may('write'),
      handle: async (input: Input<never, Given<PeeringTokenRequest>>) => {
        const { partition, body, bodyFaults } = input;
        const { index, value } = await service.generateToken(partition, body, bodyFaults);
        const { Name: peering, ID: id } = value.peering;
        return { index, value: { PeeringToken: value.token }, made: { peering, id } };
      },
    }),
    writeRoute({
      ...{ method: 'POST', path: '/v1/peering/establish', noun, family },
      summary: 'Peer with the cluster that made the token',
      body: {
        schema: EstablishRequestSchema,
        unknown: 'refuse',
        faults: 'later',
        bytesMax: 2 * limits.peering.tokenLengthMax,
      },
      answer: Type.Object({}),
      permission: may('write'),
      handle: async (input: Input<never, Given<EstablishRequest>>) => {
        const { partition, body, bodyFaults } = input;
        const { index, value } = await service.establish(partition, body, bodyFaults);
        return { index, value: {}, made: { peering: value.Name, id: value.ID } };
      },
    }),
    readRoute({
      ...{ method: 'GET', path, noun, family, answer: PeeringSchema },
      summary: 'Read a peering',
      blocking: true,
      permission: may('read'),
      handle: (input) => {
        const name = nameIn(input);
        const found = peeringNamed(input.snapshot, input.partition, name);
        if (found === undefined) throw refusal('peering-not-found', { name });
        return service.present(input.snapshot, found);
      },
    }),
    writeRoute({
      ...{ method: 'DELETE', path, noun, family },
      summary: 'Mark a peering for deletion',
      permission: may('write'),
      handle: async (input) => {
        const { index } = await service.delete(input.partition, nameIn(input));
        return { index, value: undefined };
      },
    }),
    listRoute({
      ...{ method: 'GET', path: '/v1/peerings', noun, family },
      summary: 'List the peerings of a partition',
      blocking: true,
      answer: PeeringSchema,
      filterSchema: PeeringSchema,
      permission: may('read'),
      rows: ({ partition, snapshot }, { from, reverse }) =>
        snapshot.table(peerings).scan({ prefix: [partition], ...(from && { from }), reverse }),
      keyOf: ({ Partition, Name }: StoredPeering) => [Partition, Name],
      record: (peering, { snapshot }) => service.present(snapshot, peering),
      present: (peering, { snapshot }) => service.present(snapshot, peering),
    }),
  ];
}

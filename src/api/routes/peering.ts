import { peeringEndpoints as contract } from '../../contract/peering.ts';
import { refusal } from '../../model/errors.ts';
import type { StoredPeering } from '../../model/peering/peering.ts';
import { peeringNamed } from '../../server/peering/context.ts';
import type { Server } from '../../server/server.ts';
import { peerings } from '../../state/tables.ts';
import type { Input, Route } from '../route.ts';
import { serveList, serveRead, serveWrite } from '../serve.ts';

/** Names are in lower case; paths may contain any case. */
const nameIn = ({ parameters }: Pick<Input, 'parameters'>): string =>
  parameters.name!.toLowerCase();

/** Source: docs/contract/peering.md#endpoints. */
export function peeringRoutes(server: Server): Route[] {
  return [
    ...serveWrite(contract.generateToken, async (input) => {
      const { partition, body, bodyFaults } = input;
      const { index, value } = await server.peerings.generateToken(partition, body, bodyFaults);
      const { Name: peering, ID: id } = value.peering;
      return { index, value: { PeeringToken: value.token }, made: { peering, id } };
    }),
    ...serveWrite(contract.establish, async (input) => {
      const { partition, body, bodyFaults } = input;
      const { index, value } = await server.peerings.establish(partition, body, bodyFaults);
      return { index, value: {}, made: { peering: value.Name, id: value.ID } };
    }),
    ...serveRead(contract.read, (input) => {
      const name = nameIn(input);
      const found = peeringNamed(input.snapshot, input.partition, name);
      if (found === undefined) throw refusal('peering-not-found', { name });
      return server.peerings.present(input.snapshot, found);
    }),
    ...serveWrite(contract.delete, async (input) => {
      const { index } = await server.peerings.delete(input.partition, nameIn(input));
      return { index, value: undefined };
    }),
    ...serveList(contract.list, {
      rows: ({ partition, snapshot }, { from, reverse }) =>
        snapshot.table(peerings).scan({ prefix: [partition], ...(from && { from }), reverse }),
      keyOf: ({ Partition, Name }: StoredPeering) => [Partition, Name],
      record: (peering, { snapshot }) => server.peerings.present(snapshot, peering),
      present: (peering, { snapshot }) => server.peerings.present(snapshot, peering),
    }),
  ];
}

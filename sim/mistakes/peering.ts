/** Mistakes of peering. */
import type { Mistake } from './mistake.ts';

export const ofPeering: readonly Mistake[] = [
  {
    name: 'imported instances stay when the peer stops exporting them',
    places: [
      {
        file: 'src/server/peering/exchange/imports.ts',
        right: 'for (const service of change.removedServices) await this.#removeService(service);',
        wrong: '',
      },
    ],
    guarantee: 'a peer sees exactly the exported services',
    life: { seed: 52, nodes: 3, hours: 0.2, clusters: 3 },
  },
  {
    name: 'imported instances stay when a full update leaves them out',
    places: [
      {
        file: 'src/server/peering/exchange/receiver.ts',
        right: 'await this.#imports.sweep(told);',
        wrong: '',
      },
    ],
    guarantee: 'a peer sees exactly the exported services',
    life: { seed: 53, nodes: 3, hours: 0.2, clusters: 3 },
  },
  {
    name: 'imported services stay when the peering is deleted',
    places: [
      {
        file: 'src/server/peering/delete.ts',
        right: 'await before;\n  await forgetEventually(context, peering, signal);',
        wrong: 'await before;',
      },
    ],
    guarantee: 'a deleted peering leaves nothing behind',
    life: { seed: 51, nodes: 3, hours: 0.2, clusters: 3 },
  },
  {
    name: 'secrets stay when the peering is deleted',
    places: [
      {
        file: 'src/server/peering/delete.ts',
        right: 'else transaction.table(peeringSecrets).delete(id);',
        wrong: '',
      },
    ],
    guarantee: 'a deleted peering leaves nothing behind',
    life: { seed: 51, nodes: 3, hours: 0.2, clusters: 3 },
  },
  {
    name: 'a peering token is accepted twice',
    places: [
      {
        file: 'src/server/peering/acceptor.ts',
        right: "const taken = { Establishment: '', Exchanged: shown, Pending };",
        wrong: 'const taken = { Exchanged: shown, Pending };',
      },
    ],
    guarantee: 'the secret of a peering token is used once',
    life: { seed: 51, nodes: 3, hours: 0.2, clusters: 3 },
  },
  {
    name: 'a stream is accepted without a proof of the secret',
    places: [
      {
        file: 'src/server/peering/acceptor.ts',
        right: "world.secrets.equal(proofOf(secret, 'dialer', handshake, self), proof),",
        wrong: 'true,',
      },
    ],
    guarantee: 'a replayed handshake is refused',
    life: { seed: 52, nodes: 3, hours: 0.2, clusters: 3 },
  },
];

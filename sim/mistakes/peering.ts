/** Mistakes between clusters that peer. */
import type { Mistake } from './mistake.ts';

export const ofPeering: readonly Mistake[] = [
  {
    name: 'instances that a peer exports no more stay',
    places: [
      {
        file: 'src/server/peering/exchange/imports.ts',
        right: 'for (const service of change.removedServices) await this.#removeService(service);',
        wrong: '',
      },
    ],
    guarantee: 'what is exported is what is seen at the peer',
    life: { seed: 52, nodes: 3, hours: 0.2, clusters: 3 },
  },
  {
    name: 'what a peer did not tell again stays',
    places: [
      {
        file: 'src/server/peering/exchange/receiver.ts',
        right: 'await this.#imports.sweep(told);',
        wrong: '',
      },
    ],
    guarantee: 'what is exported is what is seen at the peer',
    life: { seed: 53, nodes: 3, hours: 0.2, clusters: 3 },
  },
  {
    name: 'a peering goes and what came from the peer stays',
    places: [
      {
        file: 'src/server/peering/delete.ts',
        right: 'await before;\n  await forgetEventually(context, peering, signal);',
        wrong: 'await before;',
      },
    ],
    guarantee: 'a deleted peering leaves nothing',
    life: { seed: 51, nodes: 3, hours: 0.2, clusters: 3 },
  },
  {
    name: 'the secrets of a peering stay when it goes',
    places: [
      {
        file: 'src/server/peering/delete.ts',
        right: 'else transaction.table(peeringSecrets).delete(id);',
        wrong: '',
      },
    ],
    guarantee: 'a deleted peering leaves nothing',
    life: { seed: 51, nodes: 3, hours: 0.2, clusters: 3 },
  },
  {
    name: 'the secret of a token is taken a second time',
    places: [
      {
        file: 'src/server/peering/acceptor.ts',
        right: "const taken = { Establishment: '', Exchanged: shown, Pending };",
        wrong: 'const taken = { Exchanged: shown, Pending };',
      },
    ],
    guarantee: 'the secret of a token is used once',
    life: { seed: 51, nodes: 3, hours: 0.2, clusters: 3 },
  },
  {
    name: 'who opens a stream need not show the secret',
    places: [
      {
        file: 'src/server/peering/acceptor.ts',
        right: "world.secrets.equal(proofOf(secret, 'dialer', handshake, self), proof),",
        wrong: 'true,',
      },
    ],
    guarantee: 'who repeats what others said is not let in',
    life: { seed: 52, nodes: 3, hours: 0.2, clusters: 3 },
  },
];

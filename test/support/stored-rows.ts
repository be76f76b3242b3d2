import type { StoredPeering } from '../../src/model/peering/peering.ts';
import type { ServiceRegistration } from '../../src/model/service-registration/service-registration.ts';
import type { Unstamped } from '../../src/state/types.ts';

/** The row of a peering that has not been open yet. */
export const newPeering = (Name: string): Unstamped<StoredPeering> => ({
  ID: `id-${Name}`,
  Name,
  Partition: 'default',
  State: 'ESTABLISHING',
  IsDialer: false,
  PeerID: '',
  PeerServerName: '',
  PeerServerAddresses: null,
  ManualServerAddresses: null,
  MustForget: false,
  Epoch: 0,
  PeerCAPems: null,
  Meta: null,
  Remote: { Partition: '', Datacenter: '' },
  DeletedAt: 0,
});

/** The row of a healthy instance of a service. */
export const newRegistration = (
  Namespace: string,
  ServiceName: string,
  ID: string,
): Unstamped<ServiceRegistration> => ({
  ID,
  ServiceName,
  Namespace,
  Status: 'passing',
  Address: '10.0.0.1',
  Port: 80,
  TaskName: '',
  Tags: null,
  Meta: null,
  TaggedAddresses: null,
  Weights: null,
  NodeID: 'n1',
  Datacenter: 'dc1',
  JobID: 'web',
  AllocID: 'a1',
});

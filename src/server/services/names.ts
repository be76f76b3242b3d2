import type { ServiceRegistration } from '../../model/service-registration/service-registration.ts';
import { inNamespace, serviceRegistrations } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';

/** An instance of each service of the namespace, however many it has. `prefix`: the beginning of the names. */
export function* servicesIn(
  snapshot: Snapshot,
  namespace: string,
  prefix = '',
): Iterable<ServiceRegistration> {
  const table = snapshot.table(serviceRegistrations);
  const range = { prefix: inNamespace(namespace), ...(prefix !== '' && { text: prefix }) };
  let next = table.scan(range).next();
  while (!next.done) {
    yield next.value;
    // The next service begins after the last instance of this one.
    const from = inNamespace(namespace, next.value.ServiceName, '\uffff');
    next = table.scan({ ...range, from }).next();
  }
}

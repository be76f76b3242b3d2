/** The permissions that endpoints of access control need, in the place that the request means. */
import { listing, resource, underAccessControl } from './needs.ts';

const place = { namespace: 'from-request', partition: 'from-request' } as const;
const reads = resource('acl', 'read', place);

export const aclRead = underAccessControl(reads);
export const aclWrite = underAccessControl(resource('acl', 'write', place));

/** With `ns=*` everyone sees what each namespace lets them see. */
export const aclList = underAccessControl(listing(reads));

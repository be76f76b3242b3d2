/** The permissions of access control endpoints, in the namespace and partition of the request. */
import { listing, resource, underAccessControl } from './needs.ts';

const place = { namespace: 'from-request', partition: 'from-request' } as const;
const reads = resource('acl', 'read', place);

export const aclRead = underAccessControl(reads);
export const aclWrite = underAccessControl(resource('acl', 'write', place));

export const aclList = underAccessControl(listing(reads));

/** The leases of reservations. */
/** The start of the lease at a time. The leases of all processes begin at the same times. */
export const leaseAt = (at: number, lease: number): number => Math.floor(at / lease) * lease

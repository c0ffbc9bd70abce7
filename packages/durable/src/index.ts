/** Durable runs, on Effect's own workflow engine, and what keeps snapshots of other runs safe. */
export * as Durable from "./Durable.ts"
export * as SnapshotClaims from "./SnapshotClaims.ts"
export * as SnapshotKeys from "./SnapshotKeys.ts"

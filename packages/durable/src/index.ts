/** Durable runs on Effect's workflow engine, and the keys, claims and stores for snapshots of other runs. */
export * as Conversations from "./Conversations.ts"
export * as Durable from "./Durable.ts"
export * as RateLimits from "./RateLimits.ts"
export * as ReplyCache from "./ReplyCache.ts"
export * as ResultStores from "./ResultStores.ts"
export * as SharedBudget from "./SharedBudget.ts"
export * as SnapshotClaims from "./SnapshotClaims.ts"
export * as SnapshotKeys from "./SnapshotKeys.ts"
